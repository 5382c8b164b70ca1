# SPDX-License-Identifier: Apache-2.0
"""The server's time before it answers: the request is there, and the program has no response yet."""

from __future__ import annotations

from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    if trial.way == "up":
        return Claim(trial.none())
    edges = trial.why(Why.REQUEST) & trial.what(What.SERVER)
    return Claim(edges, (Fact("server_answers_after", trial.ms(edges), "ms"),) if edges.any() else ())


TIME_TO_ANSWER = Mechanism(
    "time_to_answer",
    "server think time",
    Family.PROGRAMS,
    "The request has come to the server, and its program takes time before the response begins: it looks the answer "
    "up, makes it, or waits for something that no packet of this connection shows.",
    "Time at the server between the arrival of the request and the first packet of the response.",
    Level.E1,
    "RFC 9110 section 3.7; Server-Timing (W3C)",
    _claim,
    (
        Rival("origin", "a proxy waits for its origin before it answers"),
        Rival("server_without_processor", "a thread of the server waited for a processor meanwhile"),
        Rival("application", "the response has begun, and its body stops"),
    ),
    reasons=(Why.REQUEST,),
)
