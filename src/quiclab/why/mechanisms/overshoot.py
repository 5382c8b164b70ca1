# SPDX-License-Identifier: Apache-2.0
"""Overshoot: the flow's own packets had filled the queue, which dropped one; the window was reduced."""

from __future__ import annotations

import polars as pl

from quiclab.model.cause import Why
from quiclab.model.tables.drop_reasons import DropKind, reasons_of
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting, settings_of_both_transports
from quiclab.why.mechanisms._follows import OF_A_FULL_QUEUE
from quiclab.why.mechanisms._queue import filled_by_others
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.WINDOW_AFTER_LOSS) & trial.dropped_by(DropKind.QUEUE)
    if not edges.any():
        return Claim(edges)
    others = filled_by_others(trial)
    if others:
        edges &= pl.Series([packet not in others for packet in trial.account["event_packet"]], dtype=pl.Boolean)
    drops = trial.drops(trial.way)
    full = drops.filter(drops["reason"].is_in(reasons_of(DropKind.QUEUE)))
    return Claim(
        edges,
        (
            Fact("dropped_by_the_queue", full.height, "packets"),
            Fact("largest_queue", float(full["queue_bytes"].max() or 0) if full.height else 0.0, "bytes"),  # type: ignore[arg-type]
            Fact("reductions", trial.events(edges), ""),
        ),
    )


OVERSHOOT = Mechanism(
    "overshoot",
    "congestion window after self-induced queue overflow",
    Family.WINDOW,
    "The sender's window had grown beyond what path and queue hold, mostly at the end of slow start. The full queue "
    "dropped its packets, the window was reduced, and the link ran idle afterwards.",
    "Waits for a full window whose last reduction names a packet that a full queue dropped while mostly this flow's "
    "packets stood in it.",
    Level.E0,
    "RFC 5681 section 3.1, RFC 9002 section 7.3; RFC 9406 section 1",
    _claim,
    (
        Rival("loss_on_the_path", "the packet was lost at random or by a list, whatever stood in the queue"),
        Rival("competition_for_the_queue", "mostly other flows' packets stood in the queue that dropped it"),
    ),
    (
        Setting(
            "path",
            "queue",
            "4 bdp",
            "A longer queue holds the overshoot.",
            ("packets wait longer", "round-trip times grow"),
            ("0.5 bdp", "1 bdp", "2 bdp", "4 bdp"),
        ),
        Setting(
            "sender",
            "hystart",
            value=True,
            gain="Slow start ends when round trips grow, before the queue is full.",
            also_changes=("slow start may end too early",),
        ),
        *settings_of_both_transports(
            "congestion_control",
            "bbr",
            "A congestion control that keeps the queue short.",
            ("slow start, pacing and the reaction to losses are other ones",),
        ),
        *settings_of_both_transports(
            "pacing",
            value=True,
            gain="Packets spread over the round trip need less of the queue.",
            also_changes=("the beginning takes longer",),
        ),
    ),
    follows=OF_A_FULL_QUEUE,
    reasons=(Why.WINDOW_AFTER_LOSS,),
    needs="dropped_by_queues",
)
