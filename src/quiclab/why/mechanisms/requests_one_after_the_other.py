# SPDX-License-Identifier: Apache-2.0
"""Requests one after the other: the client asks for the next when it has the last."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.LATER_REQUEST)
    return Claim(edges, (Fact("pauses", trial.waits(edges), ""),) if edges.any() else ())


REQUESTS_ONE_AFTER_THE_OTHER = Mechanism(
    "requests_one_after_the_other",
    "requests one after the other",
    Family.CREDIT,
    "The client asks for so many objects at a time, and for the next when one is complete: the path is idle for a "
    "round trip after each group.",
    "Time in which all that was asked for is sent and the client asks for the next object later, though the server "
    "allows more.",
    Level.E0,
    "RFC 9113 section 5.1.2, RFC 9114 section 6.1",
    _claim,
    (Rival("stream_limit", "the server's limit on streams was reached"),),
    reasons=(Why.LATER_REQUEST,),
)
