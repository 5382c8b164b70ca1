# SPDX-License-Identifier: Apache-2.0
"""A congestion window at its minimum: two packets, or one after a timeout."""

from __future__ import annotations

import polars as pl

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting, settings_of_both_transports
from quiclab.why.mechanisms._follows import OF_A_LOSS
from quiclab.why.mechanisms._trial import Trial
from quiclab.why.mechanisms._window_course import LEAST_PACKETS, before_each_end


def _claim(trial: Trial) -> Claim:
    at_least = (before_each_end(trial) <= LEAST_PACKETS).fill_null(value=False)
    edges = trial.why(Why.WINDOW_AFTER_LOSS, Why.WINDOW) & at_least
    if not edges.any():
        return Claim(edges)
    lost = trial.drops(trial.way).height
    window_waits = trial.ms(trial.why(Why.WINDOW_AFTER_LOSS, Why.WINDOW))
    return Claim(
        edges,
        (
            Fact("share_of_the_waits_for_the_window", 100 * trial.ms(edges) / window_waits, "%"),
            Fact("lost_packets", lost, ""),
            Fact("persistent_congestion", _persistent(trial), ""),
        ),
    )


def _persistent(trial: Trial) -> int:
    """Number of times that the sender's log says that congestion was persistent (RFC 9002 section 7.6)."""
    states = trial.evidence.table("cc_states").filter(pl.col("vantage") == trial.evidence.sender, ~pl.col("estimate"))
    return states.filter(pl.col("new_state") == "persistent_congestion").height


MINIMUM_WINDOW = Mechanism(
    "minimum_window",
    "minimum congestion window",
    Family.WINDOW,
    "Losses or timeouts had reduced the window to the least that the sender allows, one or two packets: it sends "
    "these, waits a round trip, and cannot see a further loss by later packets.",
    "Waits for a full window of two full packets or less, by the sender's log or kernel.",
    Level.E0,
    "RFC 9002 sections 7.2 and 7.6, RFC 5681 section 3.1",
    _claim,
    (
        Rival("loss_on_the_path", "the window is larger than two packets while the sender waits"),
        Rival("retransmission_timeout", "a timer ends the wait, no packet of the receiver does"),
    ),
    (
        Setting(
            "path",
            "loss",
            "none",
            "Without losses the window does not shrink.",
            ("retransmissions and timers of the same losses go too",),
        ),
        *settings_of_both_transports(
            "congestion_control",
            "bbr",
            "A congestion control that does not reduce its window at every loss.",
            ("slow start, pacing and the queue are other ones",),
        ),
    ),
    follows=OF_A_LOSS,
    reasons=(Why.WINDOW_AFTER_LOSS, Why.WINDOW),
)
