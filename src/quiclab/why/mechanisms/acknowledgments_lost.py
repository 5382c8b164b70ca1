# SPDX-License-Identifier: Apache-2.0
"""Lost acknowledgments: the data had arrived, but nothing that said so came back."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._silence import silenced
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    waits = trial.why(Why.LOSS_TIMER, Why.PROBE_TIMER)
    if not waits.any() or trial.drops(trial.back).is_empty():
        return Claim(trial.none())
    begin, end = trial.account["from_ns"], trial.account["until_ns"]
    edges = trial.keep_runs(waits, lambda first, after: silenced(trial, begin[first], end[after - 1]))
    lost = trial.drops(trial.back).height
    return Claim(edges, (Fact("waits", len(trial.times(edges)), ""), Fact("lost_acknowledgments", lost, "packets")))


ACKNOWLEDGMENTS_LOST = Mechanism(
    "acknowledgments_lost",
    "lost ACKs",
    Family.RECOVERY,
    "What the sender had sent last had arrived, but all acknowledgments of it were lost on the way back, so that the "
    "sender waited for a timer and repeated what was there.",
    "Waits for a timer within which the receiver sent acknowledgments, a link dropped every one of them, and nothing "
    "was dropped of what the sender had sent last.",
    Level.E0,
    "RFC 9002 section 6.2, RFC 6298; Balakrishnan et al., RFC 3449",
    _claim,
    (
        Rival("retransmission_timeout", "the packets themselves were dropped"),
        Rival("tail_probe", "the last packets themselves were dropped"),
    ),
    (
        Setting("path", "loss", "none", "Nothing is lost, on the way back either.", ("all other losses go too",)),
        Setting(
            "receiver",
            "ack_frequency",
            1,
            "More acknowledgments: the loss of one matters less.",
            ("more packets on the way back",),
            (10, 2, 1),
        ),
    ),
    reasons=(Why.LOSS_TIMER, Why.PROBE_TIMER),
)
