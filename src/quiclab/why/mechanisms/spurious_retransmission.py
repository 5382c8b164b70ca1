# SPDX-License-Identifier: Apache-2.0
"""Needless repeats: the bottleneck serves again what an earlier copy had brought."""

from __future__ import annotations

from quiclab.model.activity import What
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.what(What.NEEDLESS)
    return Claim(edges, (Fact("bytes_served", trial.bytes(edges), "bytes"),) if edges.any() else ())


SPURIOUS_RETRANSMISSION = Mechanism(
    "spurious_retransmission",
    "spurious retransmission",
    Family.RECOVERY,
    "The sender sent bytes again although an earlier copy of them arrived: after a probe that was not needed, a timer "
    "that was too short, or reordering taken for loss. The bottleneck was busy with them.",
    "Edges on which the bottleneck serves bytes that an earlier copy brought.",
    Level.E0,
    "RFC 9002 section 6.2.4, RFC 3522",
    _claim,
    (
        Rival("repeats", "no earlier copy of the bytes arrived whole"),
        Rival("bytes_on_the_wire", "the bytes are served for the first time"),
    ),
    (
        Setting(
            "sender",
            "packet_threshold",
            100,
            "Packets that are only late are not sent again.",
            ("real losses are found later",),
            (3, 10, 30, 100),
        ),
        Setting(
            "sender",
            "initial_rtt",
            "333 ms",
            "The first timers are long enough for the path.",
            ("a real loss in the handshake takes longer to repeat",),
            ("50 ms", "100 ms", "333 ms"),
        ),
        Setting(
            "tcp",
            "reordering",
            100,
            "Segments that are only late are not sent again.",
            ("real losses are found later",),
            (3, 10, 30, 100),
        ),
    ),
    activities=(What.NEEDLESS,),
)
