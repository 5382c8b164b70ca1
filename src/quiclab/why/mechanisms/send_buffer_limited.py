# SPDX-License-Identifier: Apache-2.0
"""The send buffer: so many bytes may be unacknowledged, whatever the windows allow."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._trial import Trial

_LEAST_TRIP_NS = 1_000_000
"""Round trip from which on a bound of the rate says something: on shorter paths programs take longer."""


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.SEND_BUFFER)
    if not edges.any():
        return Claim(edges)
    most = trial.unacknowledged["unacknowledged_bytes"].max()
    trip_ns = trial.round_trip_ns
    facts = []
    if isinstance(most, int):
        facts.append(Fact("most_unacknowledged", float(most), "bytes"))
        if trip_ns >= _LEAST_TRIP_NS:
            facts.append(Fact("bound_of_the_rate", 8 * most / (trip_ns / 1e9) / 1e6, "Mbit/s"))
    return Claim(edges, tuple(facts))


SEND_BUFFER_LIMITED = Mechanism(
    "send_buffer_limited",
    "send buffer",
    Family.CREDIT,
    "The sender keeps what is not acknowledged in a buffer of fixed size, and takes no more from its program until "
    "there is room: at most one buffer per round trip, whatever congestion window and credit allow.",
    "Over TCP the time that the kernel counts as limited by the send buffer, or in which its samples show that full; "
    "over QUIC, and without the kernel's samples, waits with a number of unacknowledged bytes that is round or that a "
    "packet is cut for, reached three times or more and never exceeded, from which acknowledgments let it go on; where "
    "the sender's log shows room in its window, with any such number.",
    Level.E0,
    "nginx issue 1712 (http3_stream_buffer_size), openssl issue 22569, s2n-quic issue 700; Linux, tcp_wmem",
    _claim,
    (
        Rival("stream_flow_control_limited", "the highest offset sent equals a limit that the receiver gave"),
        Rival("slow_start", "what is unacknowledged grows from round trip to round trip"),
        Rival("largest_window", "the sender's log shows the congestion window full"),
    ),
    (
        Setting(
            "sender",
            "stream_window",
            "1 MB",
            "A larger buffer for each stream keeps the path full (nginx: http3_stream_buffer_size).",
            ("more memory for each stream",),
            ("64 KB", "128 KB", "256 KB", "1 MB"),
        ),
        Setting(
            "tcp",
            "send_buffer",
            ("4096 B", "1 MiB", "16 MiB"),
            "A larger send buffer keeps the path full.",
            ("more memory for each connection", "the program may be further ahead of the network"),
        ),
    ),
    reasons=(Why.SEND_BUFFER,),
)
