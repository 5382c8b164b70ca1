# SPDX-License-Identifier: Apache-2.0
"""The time threshold of QUIC: a loss that only time, and no later packets, can show."""

from __future__ import annotations

import polars as pl

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._follows import OF_A_LOSS
from quiclab.why.mechanisms._timeouts import timeouts
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.LOSS_TIMER) & ~timeouts(trial)
    if not edges.any():
        return Claim(edges)
    losses = trial.evidence.table("losses").filter(
        pl.col("vantage") == trial.evidence.sender, ~pl.col("estimate"), pl.col("rule") == "time_threshold"
    )
    facts = (Fact("waits", trial.waits(edges), ""),)
    return Claim(edges, (*facts, Fact("losses_by_time", losses.height, "packets")) if trial.evidence.quic else facts)


LOSS_TIMER = Mechanism(
    "loss_timer",
    "loss detection by timer",
    Family.RECOVERY,
    "Too few packets behind the lost one were acknowledged to show the loss. The sender waited for a time threshold: "
    "in QUIC 9/8 of a round trip after the packet was sent, in TCP that of RACK.",
    "Waits that end when the sender's log declares a loss by its time threshold; of TCP those that end with a repeat "
    "that no packet prompts, long before a retransmission timeout.",
    Level.E0,
    "RFC 9002 section 6.1.2, RFC 8985 section 6.2",
    _claim,
    (
        Rival("loss_detection_delay", "an acknowledgment of three later packets shows the loss"),
        Rival("retransmission_timeout", "the sender heard nothing for 190 ms or more"),
        Rival("tail_probe", "no later packet was acknowledged at all: a probe comes first"),
    ),
    (
        Setting("path", "loss", "none", "Nothing is lost.", ("all other losses go too",)),
        Setting(
            "sender",
            "time_threshold",
            1.0,
            "A lost packet is given up earlier.",
            ("reordering is more often taken for loss",),
            (2.0, 1.5, 1.125, 1.0),
        ),
        Setting(
            "path",
            "queue",
            "4 bdp",
            "A longer queue does not drop the end of a burst.",
            ("packets wait longer",),
            ("0.5 bdp", "1 bdp", "2 bdp", "4 bdp"),
        ),
    ),
    follows=OF_A_LOSS,
    reasons=(Why.LOSS_TIMER,),
)
