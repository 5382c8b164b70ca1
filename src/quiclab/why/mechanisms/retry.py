# SPDX-License-Identifier: Apache-2.0
"""Retry or Version Negotiation: the server makes the client begin anew."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Counted, Each, Fact, Family, Mechanism, Rival, Setting, Transport
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.RETRY)
    return Claim(edges, (Fact("round_trips", trial.waits(edges), ""),) if edges.any() else ())


_GAIN = "Without a Retry the server answers the client's first packet."
_RISK = ("the server works for a client before that has shown its address",)
RETRY = Mechanism(
    "retry",
    "QUIC Retry or Version Negotiation",
    Family.SET_UP,
    "The server wants proof of the client's address before it does anything (Retry), or speaks another version: the "
    "client begins anew, which costs a round trip.",
    "A handshake round trip that the server answers with Retry or Version Negotiation.",
    Level.E1,
    "RFC 9000 sections 6 and 8.1.2",
    _claim,
    (Rival("handshake_packet_lost", "the client sends the same Initial again by a timer"),),
    settings=tuple(
        Setting(table, "retry", value=False, gain=_GAIN, also_changes=_RISK) for table in ("server", "proxy")
    ),
    reasons=(Why.RETRY,),
    transports=frozenset({Transport.QUIC}),
    counted=Counted("round_trips", Each.ROUND_TRIP),
)
