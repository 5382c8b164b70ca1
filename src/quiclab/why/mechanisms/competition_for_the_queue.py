# SPDX-License-Identifier: Apache-2.0
"""Competition for the queue: others' packets had filled it when it dropped one."""

from __future__ import annotations

import polars as pl

from quiclab.model.cause import Why
from quiclab.model.tables.drop_reasons import DropKind
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._queue import filled_by_others
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.WINDOW_AFTER_LOSS) & trial.dropped_by(DropKind.QUEUE, DropKind.AQM)
    others = filled_by_others(trial) if edges.any() else frozenset()
    edges &= pl.Series([packet in others for packet in trial.account["event_packet"]], dtype=pl.Boolean)
    return Claim(edges, (Fact("reductions", trial.events(edges), ""),) if edges.any() else ())


COMPETITION_FOR_THE_QUEUE = Mechanism(
    "competition_for_the_queue",
    "congestion window after queue overflow by cross traffic",
    Family.WINDOW,
    "Other flows' packets had filled the queue when it dropped a packet of this one, which then reduced its window: "
    "it had to make way.",
    "Waits for a full window whose last reduction names a packet that the queue dropped while mostly others' packets "
    "stood in it.",
    Level.E0,
    "RFC 5681 section 3.1; Kakhki et al., IMC 2017, section 5.1 (fairness)",
    _claim,
    (
        Rival("overshoot", "mostly this flow's own packets stood in the queue that dropped it"),
        Rival("competing_flow", "nothing was dropped: others' packets were only served first"),
    ),
    (
        Setting(
            "path",
            "aqm",
            "fq_codel",
            "A queue for each flow keeps the others' packets apart.",
            ("packets are dropped before a queue is full", "flows take turns"),
        ),
    ),
    reasons=(Why.WINDOW_AFTER_LOSS,),
    needs="dropped_by_queues",
)
