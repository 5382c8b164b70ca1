# SPDX-License-Identifier: Apache-2.0
"""Bytes on the wire: the time for which the bottleneck serves the object and what is wrapped around it."""

from __future__ import annotations

from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Counted, Each, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._trial import Trial

_OTHERS = (What.OTHER_FLOW, What.NEEDLESS, What.ABANDONED)
"""Content that the bottleneck serves and that no transfer of the object needs."""


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.LINK_BUSY) & ~trial.what(*_OTHERS)
    whole = edges & ~trial.what(What.HEADERS)  # a run of packets has its payload and its headers on two edges
    total = trial.bytes(edges)
    if not total:
        return Claim(edges)
    shares = (("header_share", What.HEADERS), ("other_objects_share", What.OTHER_OBJECT))
    facts = [(name, 100 * trial.bytes(edges & trial.what(what)) / total) for name, what in shares]
    return Claim(
        edges,
        (
            Fact("bytes_served", total, "bytes"),
            Fact("packets_served", float(trial.account["packets"].filter(whole).fill_null(0).sum()), "packets"),
            *(Fact(name, share, "%") for name, share in facts if share),
        ),
    )


BYTES_ON_THE_WIRE = Mechanism(
    "bytes_on_the_wire",
    "wire overhead",
    Family.BYTES,
    "The bottleneck serves the object, and with it headers, tags and frames: more bytes or smaller packets take "
    "longer, whatever the sender's windows allow.",
    "Edges on which the bottleneck is busy, and which no other mechanism claims: spurious retransmissions and other "
    "flows' packets have their own.",
    Level.E1,
    "RFC 9000 section 12 (packets), RFC 9293 section 3.1 (headers)",
    _claim,
    (Rival("spurious_retransmission", "an earlier copy of the repeated bytes had been delivered"),),
    (
        Setting(
            "sender",
            "max_payload",
            1452,
            "Larger packets share one header among more bytes.",
            ("fewer packets, acknowledgments and system calls",),
            levels=True,
        ),
    ),
    counted=Counted("bytes_served", Each.BYTE, "bytes"),
    reasons=(Why.LINK_BUSY,),
)
