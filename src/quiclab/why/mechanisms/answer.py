# SPDX-License-Identifier: Apache-2.0
"""The server's answer to an upload: from its last byte to the answer."""

from __future__ import annotations

from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.ANSWER)
    at_server = trial.ms(edges & trial.what(What.SERVER))
    return Claim(edges, (Fact("at_the_server", at_server, "ms"),) if edges.any() else ())


ANSWER = Mechanism(
    "answer",
    "server's answer to an upload",
    Family.PROGRAMS,
    "The upload has arrived, and the client waits for the server's answer.",
    "From the arrival of the last body's last byte to that of the server's answer.",
    Level.E1,
    "RFC 9110 section 9.3.4",
    _claim,
    (Rival("request_and_last_flight", "the body itself is still on its way"),),
    reasons=(Why.ANSWER,),
)
