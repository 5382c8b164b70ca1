# SPDX-License-Identifier: Apache-2.0
"""A response to early data that stops at three times what the client had sent."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Transport
from quiclab.why.mechanisms._handshake_packets import amplification, before_validation
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = amplification(trial) & trial.after_the_answer
    if not edges.any():
        return Claim(edges)
    came, sent = before_validation(trial, edges)
    return Claim(edges, (Fact("received", came, "bytes"), Fact("sent", sent, "bytes")))


EARLY_DATA_AMPLIFICATION_LIMIT = Mechanism(
    "early_data_amplification_limit",
    "anti-amplification limit on the response to early data",
    Family.SET_UP,
    "The request came with the client's first packets, before the server knew the client's address. The server may "
    "send three times what came, and the rest of the response waits a round trip: early data then gains next to "
    "nothing for all but the smallest responses.",
    "A wait in the response at whose beginning the server had sent three times what had come, and no packet had shown "
    "it the client's address.",
    Level.E0,
    "RFC 9000 sections 8.1 and 8.1.3, RFC 9001 section 4.6",
    _claim,
    (
        Rival("slow_start", "the window is full, and less than three times what came had been sent"),
        Rival("amplification_limit", "the handshake waits, not the response"),
    ),
    transports=frozenset({Transport.QUIC}),
    reasons=(Why.AMPLIFICATION_LIMIT,),
)
