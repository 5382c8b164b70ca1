# SPDX-License-Identifier: Apache-2.0
"""A congestion window at a bound of the sender's own, which it reaches and never exceeds."""

from __future__ import annotations

import polars as pl

from quiclab.model.cause import Why
from quiclab.why.account.captured_window import AT_A_BOUND
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._trial import Trial
from quiclab.why.mechanisms._window_course import before_each_end, full_bytes, windows

_FULL = (Why.SLOW_START, Why.WINDOW_AFTER_LOSS, Why.WINDOW_AFTER_EXIT, Why.WINDOW)
_TRIPS = 2
"""Round trips, with the longest queue, for which a window that nothing reduced must stay the same although it is full:
slow start would have made it four times as large."""
_LAST_STEP = 0.9
"""Share of the largest window from which the last step of its growth leads there."""
_NEAR = 0.001
"""Relative distance from the largest value up to which a window is at it."""


def _claim(trial: Trial) -> Claim:
    told = windows(trial)["packets"]
    if told.is_empty():
        return _by_captures(trial)
    full, window = trial.why(*_FULL), before_each_end(trial)
    if not full.any():
        return Claim(trial.none())
    most = float(told.max())  # type: ignore[arg-type]
    at_most = (window >= most * (1 - _NEAR)).fill_null(value=False)
    edges = full & at_most
    if not edges.any() or not (_flat(trial, edges) or _reached_again(told, most)):
        return Claim(trial.none())
    return Claim(edges, (Fact("window", most, "packets"), Fact("window_bytes", most * _packet(trial), "bytes")))


def _by_captures(trial: Trial) -> Claim:
    """Waits for a window that was never reduced and did not grow, by the bytes in flight."""
    edges = trial.why(Why.SLOW_START) & (trial.account["evidence"] == AT_A_BOUND)
    rows = trial.evidence.table("transport_metrics").filter(
        pl.col("vantage") == trial.evidence.sender, pl.col("estimate")
    )
    most = rows["bytes_in_flight"].max()
    facts = (Fact("most_in_flight", float(most), "bytes"),) if isinstance(most, int) and edges.any() else ()
    return Claim(edges, facts)


def _flat(trial: Trial, edges: pl.Series) -> bool:
    """True if a window that nothing had reduced stayed the same for some round trips in which it was full."""
    spans, trip_ns = trial.times(edges & trial.why(Why.SLOW_START)), trial.round_trip_ns
    return bool(spans and trip_ns) and spans[-1][1] - spans[0][0] >= _TRIPS * (trip_ns + trial.longest_queue_ns)


def _reached_again(told: pl.Series, most: float) -> bool:
    """True if it grew to just this value again after it had been reduced.

    A reduction that the sender takes back leads there in one step, which is no growth.
    """
    at = told >= most * (1 - _NEAR)
    before = told.shift(1)
    arrived = at & (before < most * (1 - _NEAR)) & (before >= most * _LAST_STEP)
    return int(arrived.sum()) > 1


def _packet(trial: Trial) -> int:
    if trial.evidence.quic:
        return full_bytes(trial)
    sizes = trial.evidence.packets(trial.evidence.sender, trial.way)["payload_bytes"].drop_nulls()
    return int(sizes.max() or 0) if sizes.len() else 0  # type: ignore[arg-type]


LARGEST_WINDOW = Mechanism(
    "largest_window",
    "sender's maximum congestion window",
    Family.WINDOW,
    "The sender lets its congestion window grow no further than a fixed bound, which is less than the path holds.",
    "Waits for a full window at its largest value, which stays the same for two round trips of slow start, or which "
    "it comes back to exactly after it was reduced. Without a log, over QUIC, flights of whole packets that are not "
    "larger in ten further round trips.",
    Level.E0,
    "Kakhki et al., IMC 2017, section 5.4 (maximum allowed congestion window)",
    _claim,
    (
        Rival("slow_start", "the window grows with each round trip in which it is full"),
        Rival("stream_flow_control_limited", "the highest offset sent equals the limit of the receiver"),
        Rival(
            "send_buffer_limited",
            "no congestion window is full; unacknowledged bytes of a stream stay at a round number",
        ),
    ),
    (
        Setting(
            "sender",
            "max_window",
            "25 MB",
            "A larger bound lets the window grow to what the path holds.",
            (),
            ("64 KB", "256 KB", "1 MB", "25 MB"),
        ),
    ),
    reasons=(Why.SLOW_START, Why.WINDOW_AFTER_LOSS, Why.WINDOW_AFTER_EXIT, Why.WINDOW),
)
