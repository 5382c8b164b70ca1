# SPDX-License-Identifier: Apache-2.0
"""Facts of TCP and of QUIC that mean the same."""

from __future__ import annotations

import pytest

from quiclab.lab.endpoints import ENDPOINTS, Endpoint
from quiclab.lab.endpoints.equal_facts import POINTS, same_fact
from quiclab.lab.endpoints.senders import declared_packets
from quiclab.model.study import Program, Tcp


@pytest.mark.parametrize(
    ("point", "over_tcp", "over_quic", "same"),
    [
        ("congestion_control", "Linux cubic", "nginx CUBIC with beta 0.7 (of what is in flight)", True),
        ("congestion_control", "Linux cubic", "New Reno with beta 0.7", False),
        ("initial_window", "10 packets", "10 packets of 1200 bytes (as of quinn 0.11)", True),
        ("initial_window", "10 packets", "32 packets", False),
        ("packet_size", "TCP payload 1448 bytes", "UDP payload 1472 bytes", True),
        ("packet_size", "TCP payload 1448 bytes", "UDP payload 1200 to 1452 bytes (path MTU discovery)", False),
        ("packet_size", "TCP payload 1448 bytes", "UDP payload 1200 bytes, growing by path MTU discovery", False),
        ("pacing", "paced", "paced in bursts of 2 ms, at least 10 packets; timers of 1 ms", True),
        ("pacing", "not paced", "paced", False),
        ("pacing", "not paced", "", False),
        ("pacing", "", "", False),
        (
            "receive_window",
            "HTTP/2 stream window 6 MiB, connection window 15 MiB, TCP buffer up to 6 MiB",
            "QUIC stream window 6 MiB, connection window 15 MiB",
            True,
        ),
        (
            "receive_window",
            "HTTP/2 stream and connection window 12 MiB, TCP buffer up to 6 MiB",
            "QUIC stream window 12 MiB, connection window 24 MiB at first",
            False,
        ),
        (
            "receive_window",
            "HTTP/2 stream window 64 KiB growing, TCP buffer up to 6 MiB (as of curl 8.21)",
            "QUIC stream window 64 KiB growing to 6 MiB, connection window 768 KiB growing to 15 MiB",
            True,
        ),
        ("receive_window", "HTTP/2 stream window 64 KiB growing", "QUIC stream window 32 KiB growing", False),
    ],
)
def test_facts_are_compared_by_what_they_mean(point: str, over_tcp: str, over_quic: str, same: bool) -> None:
    """The words differ in any case."""
    assert same_fact(point, over_tcp, over_quic) is same


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda each: f"{each.role} {each.name}")
def test_each_fact_of_a_known_version_can_be_compared(endpoint: Endpoint) -> None:
    """A fact is the same as itself; only windows without a number of packets, and what differs between versions, are
    not."""
    for protocol in endpoint.protocols - {"h1"}:
        facts = endpoint.traits(Program(endpoint.name), protocol, Tcp(congestion_control="cubic"))
        for point, fact in facts.items():
            if point not in POINTS or "; from " in fact or "not known" in fact:
                continue
            if point != "initial_window" or declared_packets(fact) is not None:
                assert same_fact(point, fact, fact), (point, fact)
