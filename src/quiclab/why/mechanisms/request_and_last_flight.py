# SPDX-License-Identifier: Apache-2.0
"""Propagation of the request and of the last packet: the distance, once each way."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Family, Mechanism, Rival
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    return Claim(trial.why(Why.REQUEST, Why.LAST_FLIGHT))


REQUEST_AND_LAST_FLIGHT = Mechanism(
    "request_and_last_flight",
    "request and final propagation",
    Family.SET_UP,
    "The request crosses the path once, and the last packet crosses it back: no transfer takes less.",
    "From the first packet that can carry the request until the response begins, and from the end of service of the "
    "completing packet to its arrival.",
    Level.E1,
    "RFC 9114 section 4.1, RFC 9113 section 8.1",
    _claim,
    (Rival("origin", "a proxy waits for its origin before it answers"),),
    reasons=(Why.REQUEST, Why.LAST_FLIGHT),
)
