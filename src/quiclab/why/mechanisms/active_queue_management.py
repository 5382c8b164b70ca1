# SPDX-License-Identifier: Apache-2.0
"""AQM: a queue that drops or marks packets before it is full, and the window that it reduces."""

from __future__ import annotations

from bisect import bisect_left

import polars as pl

from quiclab.model.cause import Why
from quiclab.model.tables.drop_reasons import DropKind, reasons_of
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._queue import filled_by_others
from quiclab.why.mechanisms._trial import Trial

_SINCE_NS = 50_000_000
"""Time in addition to three round trips before a reduction in which a mark counts as its cause."""


def _claim(trial: Trial) -> Claim:
    dropped = trial.why(Why.WINDOW_AFTER_LOSS) & trial.dropped_by(DropKind.AQM)
    if dropped.any():
        others = filled_by_others(trial)
        dropped &= pl.Series([packet not in others for packet in trial.account["event_packet"]], dtype=pl.Boolean)
    marks = trial.ahead.filter(pl.col("ecn_ce"))
    edges = dropped | _marked(trial, marks)
    drops = trial.drops(trial.way)
    facts = (
        Fact("dropped_by_the_queue", drops.filter(drops["reason"].is_in(reasons_of(DropKind.AQM))).height, "packets"),
        Fact("marked", marks.height, "packets"),
        Fact("reductions", trial.events(edges), ""),
    )
    return Claim(edges, facts if edges.any() else ())


def _marked(trial: Trial, marks: pl.DataFrame) -> pl.Series:
    """Waits for a window that something else than a loss reduced shortly after a packet was marked."""
    if marks.is_empty():
        return trial.none()
    at_ns: list[int] = marks["arrival_ns"].sort().to_list()
    reach_ns = 3 * trial.round_trip_ns + _SINCE_NS
    events = trial.account["event_ns"].filter(trial.why(Why.WINDOW)).drop_nulls().unique()
    after_a_mark = [each for each in events if bisect_left(at_ns, each - reach_ns) < bisect_left(at_ns, each)]
    return trial.why(Why.WINDOW) & trial.account["event_ns"].is_in(after_a_mark).fill_null(value=False)


ACTIVE_QUEUE_MANAGEMENT = Mechanism(
    "active_queue_management",
    "congestion window reduced by AQM",
    Family.WINDOW,
    "An active queue management (CoDel, a threshold) dropped or marked packets before the queue was full, to keep it "
    "short. The sender reduced its window, more than the queue asked for if the link ran idle afterwards.",
    "Waits for a full window whose last reduction names a packet that the queue's management dropped, or that follows "
    "a mark (Congestion Experienced) without a loss.",
    Level.E0,
    "RFC 8289 (CoDel), RFC 8290 (FQ-CoDel), RFC 3168, RFC 9002 section 7.1",
    _claim,
    (
        Rival("overshoot", "the packet was dropped because the queue was full"),
        Rival("loss_on_the_path", "the packet was lost at random or by a list"),
    ),
    (
        Setting("path", "aqm", "none", "A plain queue drops only what it cannot hold.", ("packets wait longer",)),
        Setting("path", "queue", "4 bdp", "A longer queue, where the management allows it.", ("packets wait longer",)),
    ),
    reasons=(Why.WINDOW_AFTER_LOSS, Why.WINDOW),
)
