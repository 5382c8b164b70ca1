# SPDX-License-Identifier: Apache-2.0
"""Scheduling: the sender says that another stream has its turn."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.SCHEDULING)
    return Claim(edges, (Fact("waits", trial.waits(edges), ""),) if edges.any() else ())


SCHEDULING = Mechanism(
    "scheduling",
    "stream scheduling",
    Family.PROGRAMS,
    "The sender's scheduler had given the turn to another stream, which had nothing that could be sent.",
    "Waits of which the sender's log says that another stream has its turn.",
    Level.E0,
    "RFC 9218, RFC 9000 section 2.3; qlog's `scheduling`",
    _claim,
    (Rival("bytes_on_the_wire", "the bottleneck is busy, with whatever object"),),
    (Setting("sender", "scheduler", "round_robin", "All responses take turns.", ("each object takes longer",)),),
    reasons=(Why.SCHEDULING,),
)
