# SPDX-License-Identifier: Apache-2.0
"""Bytes of the handshake: the time for which the bottleneck serves certificates and the like."""

from __future__ import annotations

import polars as pl

from quiclab.model.activity import What
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Counted, Each, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.what(What.HANDSHAKE)
    if not edges.any():
        return Claim(edges)
    told = trial.evidence.table("handshake").filter(pl.col("step") == "certificate", pl.col("direction") == "down")
    chain = told["length_bytes"].max()
    size = (Fact("certificate", float(chain), "bytes"),) if isinstance(chain, int) else ()
    return Claim(edges, (Fact("bytes_served", trial.bytes(edges), "bytes"), *size))


HANDSHAKE_BYTES = Mechanism(
    "handshake_bytes",
    "handshake bytes",
    Family.BYTES,
    "The bottleneck serves handshake packets, mostly the server's chain of certificates; QUIC pads its first "
    "packets to 1,200 bytes.",
    "Edges on which the bottleneck serves handshake packets.",
    Level.E1,
    "RFC 9000 section 14.1, RFC 8879 (certificate compression)",
    _claim,
    (Rival("handshake_round_trips", "the packets are on their way, not in service"),),
    (
        Setting(
            "certificate",
            "intermediates",
            0,
            "A shorter chain has fewer bytes.",
            ("over QUIC it also fits into the amplification limit",),
            (4, 2, 1, 0),
        ),
        Setting(
            "certificate",
            "key",
            "ecdsa-p256",
            "Smaller keys and signatures have fewer bytes.",
            ("signing and verifying take other times",),
        ),
        Setting("client", "session", "resumed", "A resumed session needs no certificate.", ("nothing is verified",)),
    ),
    counted=Counted("bytes_served", Each.BYTE, "bytes"),
    activities=(What.HANDSHAKE,),
)
