# SPDX-License-Identifier: Apache-2.0
"""Metrics of the time that the laboratory itself added to a trial (`disturbance` of trial.json)."""

from __future__ import annotations

from quiclab.evidence.metrics._api import Metric
from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.model.trial_record import RecordedDisturbance


def disturbance_ms(evidence: Evidence) -> float:
    """Estimate of it."""
    return _found(evidence).cost_ns / 1e6


def disturbance_most_ms(evidence: Evidence) -> float:
    """Upper bound of it."""
    return _found(evidence).most_ns / 1e6


def _found(evidence: Evidence) -> RecordedDisturbance:
    disturbance = evidence.trial.disturbance
    if disturbance is None:
        raise Unknown("the trial was judged without it")
    if disturbance.by != "account":
        raise Unknown("the trial has no account of its time, so that its critical path is not known")
    if not 0 <= disturbance.cost_ns <= disturbance.most_ns <= disturbance.time_ns:
        raise Unknown("trial.json tells times of it that contradict each other")
    return disturbance


DISTURBANCE = (
    Metric(
        "disturbance_ms",
        "time that the laboratory added",
        "ms",
        "none",
        "Estimated time that the laboratory itself added to the trial on its critical path: packets that left the link "
        "late, and waits of client, server and proxy for a processor. It is part of the measured time.",
        disturbance_ms,
    ),
    Metric(
        "disturbance_most_ms",
        "most time that the laboratory may have added",
        "ms",
        "none",
        "Upper bound of `disturbance_ms`: what was held up may have waited for something else meanwhile.",
        disturbance_most_ms,
    ),
)
