# SPDX-License-Identifier: Apache-2.0
"""A congestion window that begins anew after a time in which nothing was sent."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import polars as pl

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._trial import Trial
from quiclab.why.mechanisms._window_course import before_each_end, kernel_samples, windows

_WHYS = (Why.SLOW_START, Why.WINDOW_AFTER_EXIT, Why.WINDOW_AFTER_LOSS, Why.WINDOW)
_IDLE_NS = 200_000_000
"""Least time without data after which a window counts as idle: the least retransmission timeout of Linux."""
_SMALLER = 0.9
"""Share of the window below which it has become smaller."""
_CLOCK_NS = 100_000
"""Distance of a capture's time of a packet from that of its arrival at the link."""
_SAMPLED_NS = 50_000_000
"""Time beyond a round trip in which the kernel is sampled, or a log tells of the window, after the sender goes on."""


@dataclass(frozen=True)
class _Restart:
    """A window that was smaller after an idle time."""

    at_ns: int
    idle_ns: int
    before: float
    """Window before it, in packets."""
    after: float


def _claim(trial: Trial) -> Claim:
    edges = trial.why(*_WHYS)
    restarts = _restarts(trial) if edges.any() else []
    if not restarts:
        return Claim(trial.none())
    held, ends = before_each_end(trial), trial.account["until_ns"]
    grows = (held < _thresholds(trial)).fill_null(value=True)
    smaller = trial.none()
    for each in restarts:
        later = (trial.account["event_ns"] > each.at_ns).fill_null(value=False)
        smaller |= (ends > each.at_ns) & (held < each.before).fill_null(value=False) & ~later & _until_back(trial, each)
    return Claim(
        edges & grows & smaller,
        (
            Fact("restarts", len(restarts), ""),
            Fact("longest_idle_time", max(each.idle_ns for each in restarts) / 1e6, "ms"),
            Fact("window_before", restarts[0].before, "packets"),
            Fact("window_after", restarts[0].after, "packets"),
        ),
    )


def _thresholds(trial: Trial) -> pl.Series:
    """The slow-start threshold of TCP just before the end of each edge, in packets; null where nothing tells."""
    rows = kernel_samples(trial).sort("time_ns").select("time_ns", "snd_ssthresh")
    ends = trial.account.select(pl.col("until_ns") - 1)
    return ends.join_asof(rows, left_on="until_ns", right_on="time_ns", strategy="backward")["snd_ssthresh"]


def _until_back(trial: Trial, restart: _Restart) -> pl.Series:
    """True for each edge that ends before the window is as large again as before the idle time."""
    rows = windows(trial)
    back = rows.filter(pl.col("time_ns") > restart.at_ns + trial.round_trip_ns, pl.col("packets") >= restart.before)
    back_ns = back["time_ns"].min()
    ends = trial.account["until_ns"]
    return ends <= back_ns if isinstance(back_ns, int) else ends == ends


def _restarts(trial: Trial) -> list[_Restart]:
    """Falls of the window at the end of times without data, in which nothing was found to be lost.

    None of a sender with a model of the path, which looks for its round trip with a small window, and none of a
    connection that changes its address, whose window begins anew for that (RFC 9000 section 9.4).
    """
    if trial.modelled or trial.evidence.trial.address_change is not None:
        return []
    rows = windows(trial)
    at_ns, held = rows["time_ns"].to_list(), rows["packets"].to_list()
    found = []
    for begin_ns, end_ns in _idle_times(trial):
        last = bisect_left(at_ns, end_ns) - 1
        first, end = last + 1, bisect_left(at_ns, end_ns + trial.round_trip_ns + _SAMPLED_NS)
        fell = next((at for at in range(first, end) if last >= 0 and held[at] < _SMALLER * held[last]), None)
        if fell is not None and not _lost(trial, begin_ns, end_ns, at_ns[fell]):
            found.append(_Restart(end_ns, end_ns - begin_ns, held[last], held[fell]))
    return found


def _idle_times(trial: Trial) -> list[tuple[int, int]]:
    """Times in which the sender sent no data, longer than a round trip and than the least timeout."""
    times = trial.data_packets["time_ns"].sort()
    rows = pl.DataFrame({"end": times, "begin": times.shift(1)}).drop_nulls()
    rows = rows.filter(pl.col("end") - pl.col("begin") >= max(_IDLE_NS, trial.round_trip_ns))
    return list(rows.select("begin", "end").iter_rows())


def _lost(trial: Trial, begin_ns: int, end_ns: int, until_ns: int) -> bool:
    """True if the sender found a packet lost, or sent it again, from the begin of an idle time until an instant, or if
    what it had sent last was dropped: a timer ended that time."""
    losses = trial.evidence.table("losses").filter(pl.col("vantage") == trial.evidence.sender)
    dropped = trial.drops(trial.way)["arrival_ns"].is_between(begin_ns - _CLOCK_NS, end_ns - _CLOCK_NS).any()
    return bool(dropped) or bool(losses["time_ns"].is_between(begin_ns, until_ns).any())


SLOW_START_AFTER_IDLE = Mechanism(
    "slow_start_after_idle",
    "slow start after idle",
    Family.WINDOW,
    "The sender had sent nothing for longer than a retransmission timeout. It took what its window had learned of the "
    "path for outdated, began anew with a small one, and left the link idle until that had grown back.",
    "Waits for a full window smaller than before a time without data, at whose end it fell, though nothing was lost.",
    Level.E0,
    "RFC 5681 section 4.1, RFC 2861; Linux, tcp_slow_start_after_idle",
    _claim,
    (
        Rival("application", "the wait itself, in which the program has nothing to send"),
        Rival("slow_start", "the window was never as large before"),
        Rival("loss_on_the_path", "a packet was lost before the window became smaller"),
        Rival("slow_start_left_without_loss", "the window had not become smaller when slow start ended"),
    ),
    (
        Setting(
            "tcp",
            "slow_start_after_idle",
            value=False,
            gain="The window stays as it is while nothing is sent.",
            also_changes=("a whole window may leave at once after a pause",),
        ),
    ),
    reasons=_WHYS,
)
