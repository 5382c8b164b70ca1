# SPDX-License-Identifier: Apache-2.0
"""HelloRetryRequest: the server wants a key exchange that the client has not begun."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Counted, Each, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.HELLO_RETRY_REQUEST)
    return Claim(edges, (Fact("round_trips", trial.waits(edges), ""),) if edges.any() else ())


HELLO_RETRY_REQUEST = Mechanism(
    "hello_retry_request",
    "HelloRetryRequest",
    Family.SET_UP,
    "The client sent a key share of a group that the server does not take. The server asks for another one, which "
    "costs a round trip.",
    "A handshake round trip that the server answers with a HelloRetryRequest.",
    Level.E1,
    "RFC 8446 section 4.1.4; Yu and Benson, IMC 2021, section 7 (the mismatch of groups)",
    _claim,
    (Rival("handshake_round_trips", "the server answers the first ClientHello with a ServerHello"),),
    (
        Setting(
            "client",
            "groups",
            ("x25519",),
            "The client begins with a group that the server takes.",
            ("post-quantum groups are not used, which makes the ClientHello smaller",),
        ),
        Setting(
            "sender",
            "groups",
            ("x25519",),
            "The server takes the group with which the client begins.",
            ("the key exchange is another one",),
        ),
    ),
    reasons=(Why.HELLO_RETRY_REQUEST,),
    counted=Counted("round_trips", Each.ROUND_TRIP),
)
