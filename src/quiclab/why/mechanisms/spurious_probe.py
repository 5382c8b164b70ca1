# SPDX-License-Identifier: Apache-2.0
"""A spurious probe: a timer ended though nothing was lost."""

from __future__ import annotations

import polars as pl

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._silence import unharmed
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    waits = trial.why(Why.PROBE_TIMER)
    if not waits.any():
        return Claim(waits)
    begin, end = trial.account["from_ns"], trial.account["until_ns"]
    edges = trial.keep_runs(waits, lambda first, after: unharmed(trial, begin[first], end[after - 1]))
    losses = trial.evidence.table("losses").filter(
        pl.col("vantage") == trial.evidence.sender, pl.col("rule") == "pto_expired"
    )
    undone = losses.filter(pl.col("spurious").fill_null(value=False)).height
    facts = (Fact("probes", len(trial.times(edges)), ""), Fact("acknowledged_after_all", undone, "packets"))
    return Claim(edges, facts if edges.any() else ())


SPURIOUS_PROBE = Mechanism(
    "spurious_probe",
    "spurious probe",
    Family.RECOVERY,
    "A probe timer ended although nothing was lost in either direction: the timer was too short for the path, its "
    "queue, or the time for which the receiver holds acknowledgments.",
    "Waits for a probe timer within which, and a round trip with the longest queue before, no link dropped a packet in "
    "either direction.",
    Level.E0,
    "RFC 9002 section 6.2.1",
    _claim,
    (
        Rival("tail_probe", "a packet of the tail was dropped"),
        Rival("acknowledgments_lost", "the acknowledgments of the tail were dropped"),
    ),
    (
        Setting(
            "sender",
            "initial_rtt",
            "333 ms",
            "The timer begins long enough for the path.",
            ("a real loss in the handshake takes longer to repeat",),
            ("50 ms", "100 ms", "333 ms"),
        ),
        Setting(
            "receiver",
            "ack_delay",
            "0 ms",
            "Acknowledgments are not held back.",
            ("more packets on the way back",),
            ("100 ms", "25 ms", "0 ms"),
        ),
    ),
    reasons=(Why.PROBE_TIMER,),
)
