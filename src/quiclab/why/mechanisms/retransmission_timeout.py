# SPDX-License-Identifier: Apache-2.0
"""TCP's retransmission timeout: nothing showed the loss, so that a long timer had to."""

from __future__ import annotations

import polars as pl

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting, Transport
from quiclab.why.mechanisms._follows import OF_A_LOSS
from quiclab.why.mechanisms._silence import silenced
from quiclab.why.mechanisms._timeouts import timeouts
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = timeouts(trial)
    if not edges.any():
        return Claim(edges)
    times = trial.times(edges)
    sent_again = trial.evidence.table("packets").filter(
        pl.col("vantage") == trial.evidence.sender, pl.col("direction") == trial.way, pl.col("retransmission")
    )["packet_index"]
    lost_again = sum(1 for index in sent_again.drop_nulls() if trial.fate.get(index))
    return Claim(
        edges,
        (
            Fact("timeouts", len(times), ""),
            Fact("longest_wait", max(end - begin for begin, end in times) / 1e6, "ms"),
            Fact("with_all_acknowledgments_lost", sum(1 for wait in times if silenced(trial, *wait)), ""),
            Fact("lost_retransmissions", lost_again, "packets"),
        ),
    )


RETRANSMISSION_TIMEOUT = Mechanism(
    "retransmission_timeout",
    "TCP retransmission timeout",
    Family.RECOVERY,
    "No acknowledgment showed the loss: the last packets were lost, a retransmission, or all acknowledgments. TCP "
    "waited for its timer, 200 ms or more, which doubles with each timeout in a row, and begins again with one packet.",
    "Waits that end with a retransmission timeout by the sender's capture, or with a repeat 190 ms or more after the "
    "last packet came to the sender.",
    Level.E0,
    "RFC 6298, RFC 8985 section 7 (tail loss probe)",
    _claim,
    (
        Rival("tail_probe", "the first repeat is a probe, after about two round trips"),
        Rival("acknowledgments_lost", "the data had arrived, and every acknowledgment of it was dropped"),
        Rival("loss_timer", "RACK's timer ends the wait, long before 190 ms"),
        Rival("minimum_window", "an acknowledgment ends the wait, no timer does"),
    ),
    (
        Setting("path", "loss", "none", "Nothing is lost.", ("all other losses go too",)),
        Setting(
            "tcp",
            "sack",
            value=True,
            gain="Selective acknowledgments show more losses without a timer.",
            also_changes=("acknowledgments are longer",),
        ),
        Setting(
            "tcp",
            "rack",
            value=True,
            gain="Losses are found by time, lost retransmissions too.",
            also_changes=("reordering is taken for loss in other cases",),
        ),
    ),
    follows=OF_A_LOSS,
    transports=frozenset({Transport.TCP}),
    reasons=(Why.LOSS_TIMER,),
)
