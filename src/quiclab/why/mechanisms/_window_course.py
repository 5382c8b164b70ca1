# SPDX-License-Identifier: Apache-2.0
"""The congestion window of the bodies' sender over time, in packets, as its log or its kernel tells it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor
from statistics import median

import polars as pl

from quiclab.why.account.kernel import sender_samples
from quiclab.why.mechanisms._api import Fact
from quiclab.why.mechanisms._trial import Trial

_NEAR_NS = 5_000_000
"""Distance in time of a log's word of a loss and that of the smaller window."""
_WIDEST = 0.2
"""Widest range of a share that is told: ten points either way."""
LEAST_PACKETS = 2.5
"""Window up to which it counts as the least: two full packets (RFC 9002 section 7.2), with what rounding adds."""
_FULL_BYTES = 1200
"""Least size of a datagram that can be full (RFC 9000 section 14.1)."""
_Logged = tuple[int, int, int | None, int | None]
"""Instant, window, bytes in flight and threshold of a log, in bytes; None where it does not tell."""


def windows(trial: Trial) -> pl.DataFrame:
    """Instants (`time_ns`) and the window from each on, in full packets (`packets`); no row where nothing tells."""
    evidence = trial.evidence
    if not evidence.quic:
        rows = kernel_samples(trial)
        # In recovery the kernel keeps it at what is in flight, on its way to the threshold (RFC 6937).
        aim = pl.when(pl.col("ca_state") == "recovery").then(pl.max_horizontal("snd_cwnd", "snd_ssthresh"))
        packets = aim.otherwise("snd_cwnd").cast(pl.Float64).alias("packets")
        return rows.sort("time_ns").select("time_ns", packets)
    rows = _logged(trial).drop_nulls("cwnd_bytes")
    return rows.select("time_ns", (pl.col("cwnd_bytes") / full_bytes(trial)).alias("packets"))


def kernel_samples(trial: Trial) -> pl.DataFrame:
    """Samples of the kernel with a window: of several connections of that which sends the bodies."""
    rows = sender_samples(trial.evidence).drop_nulls("snd_cwnd")
    if rows.height:
        sent = rows.group_by("connection").agg(pl.col("data_segs_out").max()).sort("data_segs_out", "connection")
        rows = rows.filter(pl.col("connection") == sent["connection"][-1])
    return rows


def _logged(trial: Trial) -> pl.DataFrame:
    """Window of a QUIC sender over time by its own log, in bytes."""
    rows = trial.evidence.table("transport_metrics").filter(
        pl.col("vantage") == trial.evidence.sender, ~pl.col("estimate"), pl.col("transport") == "quic"
    )
    return rows.sort("time_ns").select("time_ns", "cwnd_bytes", "bytes_in_flight", "ssthresh_bytes")


def full_bytes(trial: Trial) -> int:
    """The size that most of a QUIC sender's full datagrams have."""
    sizes = trial.evidence.packets(trial.evidence.sender, trial.way, ("udp",))["payload_bytes"].drop_nulls()
    full = sizes.filter(sizes >= _FULL_BYTES).value_counts().sort("count", "payload_bytes")
    return int(full["payload_bytes"][-1]) if full.height else _FULL_BYTES


@lru_cache(maxsize=1)
def before_each_end(trial: Trial) -> pl.Series:
    """The window just before the end of each edge, in packets; null where nothing tells."""
    ends = trial.account.select(pl.col("until_ns") - 1)
    return ends.join_asof(windows(trial), left_on="until_ns", right_on="time_ns", strategy="backward")["packets"]


@dataclass(frozen=True)
class Left:
    """Share of a window that a reduction leaves, as far as it is known."""

    least: float
    most: float

    def share_facts(self, name: str) -> tuple[Fact, ...]:
        """Facts of that name, in whole percents where it is not exact; none where it is not known to ten points."""
        if self.least == self.most:
            return (Fact(name, 100 * self.least, "%"),)
        if self.most - self.least > _WIDEST:
            return ()
        bounds = floor(100 * self.least), ceil(100 * self.most)
        return tuple(Fact(name + end, bound, "%") for end, bound in zip(("_at_least", "_at_most"), bounds, strict=True))


@dataclass(frozen=True)
class Reduction:
    """One reduction of the window after a loss."""

    event_ns: int
    """Instant of the loss, as the account's edges have it."""
    before: float
    """Window before it in packets, as the records last show it: it may have grown since."""
    left: Left
    to_least: bool
    """True if it left no more than the least window, as a timeout or persistent congestion does."""


def reductions(trial: Trial, edges: pl.Series) -> list[Reduction]:
    """The reductions that some edges name, as far as the records tell them.

    A QUIC log has every step, but what one acknowledgment brings may let the window grow and reduce it in one. Of TCP
    there are samples, between which it may have grown.
    """
    events = trial.account["event_ns"].filter(edges).drop_nulls().unique().sort().to_list()
    return _reductions_by_log(trial, events) if trial.evidence.quic else _reductions_by_samples(trial, events)


def left_by_reductions(trial: Trial, edges: pl.Series) -> Left | None:
    """Share of the window that the reductions which some edges name leave, by their median; None where nothing tells.

    Reductions whose share is exact go before others.
    """
    shares = [each.left for each in reductions(trial, edges)]
    shares = [each for each in shares if each.least == each.most] or shares
    if not shares:
        return None
    return Left(median(each.least for each in shares), median(each.most for each in shares))


def _reductions_by_log(trial: Trial, events: Sequence[int]) -> list[Reduction]:
    """Reductions of QUIC's window: each leaves the least in the round trip from the step down on, of the window before
    that.

    In slow start the window may have grown since the log last told of it, by what was acknowledged since then: by no
    more than what is in flight less, with what was sent meanwhile. After that it grows by a part of a packet, which
    does not count.
    """
    logged = _logged(trial).with_columns(pl.col("bytes_in_flight", "ssthresh_bytes").forward_fill())
    rows: list[_Logged] = logged.drop_nulls("cwnd_bytes").rows()
    at_ns, held = [row[0] for row in rows], [row[1] for row in rows]
    trip_ns = max(trial.round_trip_ns, _NEAR_NS)
    steps_down = [at for at in range(1, len(rows)) if held[at] < held[at - 1]]
    full = full_bytes(trial)
    found = []
    for event_ns in events:
        # A log may tell of the new window a little before it tells of the loss.
        first, end = bisect_left(at_ns, event_ns - _NEAR_NS), bisect_right(at_ns, event_ns + trip_ns)
        step = next((at for at in steps_down if first <= at < end), None)
        if step is None:
            continue
        before, after = held[step - 1], min(held[step:end])
        threshold = rows[step - 1][3]
        slow_start = step == steps_down[0] if threshold is None else before < threshold
        grown = _acknowledged_at_most(trial, rows[step - 1], rows[step]) if slow_start else 0
        left = Left(after / (before + grown), after / before)
        found.append(Reduction(event_ns, before / full, left, after <= LEAST_PACKETS * full))
    return found


def _acknowledged_at_most(trial: Trial, before: _Logged, then: _Logged) -> int:
    """Bytes that may have been acknowledged between two rows of a log; as many as the window where it does not tell."""
    if before[2] is None or then[2] is None:
        return before[1]
    sent = trial.evidence.packets(trial.evidence.sender, trial.way, ("udp",))
    meanwhile = sent.filter(pl.col("time_ns").is_between(before[0], then[0], closed="right"))
    return max(0, before[2] - then[2] + int(meanwhile["payload_bytes"].sum() or 0))


def _reductions_by_samples(trial: Trial, events: Sequence[int]) -> list[Reduction]:
    """Reductions of TCP's window: each leaves the threshold that the kernel reduces it to, of the window before.

    That is the last sample's, and at most as much larger as what was delivered since then lets it grow: by a segment
    for each in slow start, for every second one by CUBIC after it, and for a window of them by Reno. A timeout leaves
    what the kernel says.
    """
    rows = sender_samples(trial.evidence)
    columns = ("time_ns", "snd_cwnd", "snd_ssthresh", "delivered", "ca_state", "congestion_control")
    samples = list(rows.drop_nulls(columns[:4]).sort("time_ns").select(columns).iter_rows())
    at_ns = [sample[0] for sample in samples]
    trip_ns = max(trial.round_trip_ns, _NEAR_NS)
    found = []
    for event_ns in events:
        first, end = bisect_left(at_ns, event_ns - _NEAR_NS), bisect_right(at_ns, event_ns + trip_ns)
        changed = (at for at in range(max(1, first), end) if samples[at][2] < samples[at - 1][1])
        at = next((at for at in changed if samples[at][2] != samples[at - 1][2]), None)
        if at is None:
            continue
        (_, window, threshold, delivered, _, control), (_, now, reduced, by_now, state, _) = samples[at - 1 : at + 1]
        grown = max(0, by_now - delivered)
        if window >= threshold:
            grown = ceil(grown / {"cubic": 2, "reno": window}.get(control or "", 1))
        left = now if state == "loss" else reduced
        share = Left(left / (window + grown), left / window)
        found.append(Reduction(event_ns, window, share, state == "loss" or left <= LEAST_PACKETS))
    return found


def taken_back(trial: Trial) -> int:
    """Number of times that the window came back, in one step, to just what it was before a reduction.

    Some senders undo a reduction when they find the loss to have been a small or a spurious one. Only QUIC's logs tell
    each step.
    """
    if not trial.evidence.quic:
        return 0
    held = windows(trial)["packets"].to_list()
    before: list[float] = []
    count = 0
    for last, now in pairwise(held):
        if now < last - 1:
            before.append(last)
        elif now > last + 1 and now in before:
            count += 1
            before.clear()
    return count
