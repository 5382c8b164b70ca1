# SPDX-License-Identifier: Apache-2.0
"""A certificate longer than three times what the client had sent: the server has to wait."""

from __future__ import annotations

import polars as pl

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting, Transport
from quiclab.why.mechanisms._handshake_packets import amplification, before_validation
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = amplification(trial) & ~trial.after_the_answer
    if not edges.any():
        return Claim(edges)
    came, sent = before_validation(trial, edges)
    told = trial.evidence.table("handshake").filter(pl.col("step") == "certificate", pl.col("direction") == "down")
    chain = told["length_bytes"].max()
    size = (Fact("certificate", float(chain), "bytes"),) if isinstance(chain, int) else ()
    return Claim(edges, (Fact("received", came, "bytes"), Fact("sent", sent, "bytes"), *size))


AMPLIFICATION_LIMIT = Mechanism(
    "amplification_limit",
    "anti-amplification limit",
    Family.SET_UP,
    "Before it knows the client's address a QUIC server may send three times what came. A longer chain of "
    "certificates waits for the client's next packet, which costs a round trip.",
    "A handshake round trip at whose beginning the server had sent three times what had come, and after which it "
    "goes on with its handshake.",
    Level.E0,
    "RFC 9000 section 8.1; Nawrocki et al., On the interplay between TLS certificates and QUIC performance, "
    "CoNEXT 2022",
    _claim,
    (
        Rival("handshake_packet_lost", "the server repeats what it had sent already"),
        Rival("early_data_amplification_limit", "the response to early data waits, not the handshake"),
    ),
    (
        Setting(
            "certificate",
            "intermediates",
            0,
            "A shorter chain fits into what the server may send.",
            ("fewer bytes of the handshake",),
            (4, 2, 1, 0),
        ),
        Setting(
            "certificate",
            "key",
            "ecdsa-p256",
            "Smaller keys and signatures fit into what the server may send.",
            ("signing and verifying take other times",),
        ),
        Setting("client", "session", "resumed", "A resumed session needs no certificate.", ("nothing is verified",)),
    ),
    transports=frozenset({Transport.QUIC}),
    reasons=(Why.AMPLIFICATION_LIMIT,),
)
