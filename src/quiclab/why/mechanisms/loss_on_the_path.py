# SPDX-License-Identifier: Apache-2.0
"""Loss on the path: a window that was reduced, and grows back, after the path had lost a packet."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.model.tables.drop_reasons import reasons_of
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting, settings_of_both_transports
from quiclab.why.mechanisms._follows import OF_A_LOSS_ON_THE_PATH
from quiclab.why.mechanisms._trial import OF_THE_PATH, Trial
from quiclab.why.mechanisms._window_course import left_by_reductions, taken_back


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.WINDOW_AFTER_LOSS) & trial.dropped_by(*OF_THE_PATH)
    if not edges.any():
        return Claim(edges)
    drops = trial.drops(trial.way)
    lost = drops.filter(drops["reason"].is_in(reasons_of(*OF_THE_PATH))).height
    left = left_by_reductions(trial, edges)
    return Claim(
        edges,
        (
            Fact("lost_packets", lost, ""),
            Fact("sent_packets", len(trial.own), ""),
            Fact("reductions", trial.events(edges), ""),
            *(left.share_facts("window_left_by_a_reduction") if left is not None else ()),
            *((Fact("reductions_taken_back", undone, ""),) if (undone := taken_back(trial)) else ()),
        ),
    )


LOSS_ON_THE_PATH = Mechanism(
    "loss_on_the_path",
    "congestion window after loss on the path",
    Family.WINDOW,
    "The path lost a packet, whatever the sender did. The sender took that for congestion, reduced its window, and "
    "left the link idle until the window had grown back.",
    "Waits for a full window whose last reduction names a packet that the link dropped at random or by a list.",
    Level.E0,
    "RFC 9002 section 7.3.2, RFC 5681 section 3.1; Mathis et al., CCR 27(3), 1997",
    _claim,
    (
        Rival("overshoot", "the packet was dropped for want of room in the queue, which the flow itself had filled"),
        Rival("reordering_taken_for_loss", "the packet was delivered, only later than others"),
    ),
    (
        Setting(
            "path",
            "loss",
            "none",
            "Without the loss the window is not reduced.",
            ("retransmissions and timers of the same losses go too",),
        ),
        *settings_of_both_transports(
            "congestion_control",
            "bbr",
            "A congestion control that does not reduce its window at every loss.",
            ("slow start, pacing and the queue are other ones",),
        ),
    ),
    follows=OF_A_LOSS_ON_THE_PATH,
    reasons=(Why.WINDOW_AFTER_LOSS,),
    needs="lost_on_the_path",
)
