# SPDX-License-Identifier: Apache-2.0
"""Accounts of a user's own client, held against packets that were written by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from quiclab.tables import TABLES
from quiclab.verify.account import account_contradiction
from quiclab.verify.responses import CAPTURE

URL = "https://server.test/object"
MS = 1_000_000
REQUEST: dict[str, Any] = {
    "url": URL,
    "body_bytes": 3000,
    "start_ns": 0,
    "first_byte_ns": 60 * MS,
    "last_byte_ns": 80 * MS,
}
PROOF: dict[str, Any] = {
    "alpn_offered": ["h2"],
    "http_responses": "unproven",
    "unproven_because": {"http_responses": "the client left no TLS keys"},
}
PACKETS = [
    *[(1, "up", "tcp", 443, 0), (20, "down", "tcp", 443, 0), (21, "up", "tcp", 443, 300)],
    *[(40, "down", "tcp", 443, 1000), (59, "down", "tcp", 443, 1000), (79, "down", "tcp", 443, 1000)],
]
"""Milliseconds, direction, transport, the server's port and payload bytes."""


def _contradiction(
    request: dict[str, Any] | None = None, packets: list[tuple[Any, ...]] = PACKETS, **proof: Any
) -> str | None:
    rows = [
        {
            "source": CAPTURE,
            "time_ns": ms * MS,
            "direction": way,
            "protocol": protocol,
            "payload_bytes": size,
            "dst_port" if way == "up" else "src_port": port,
            "src_port" if way == "up" else "dst_port": 5000,
        }
        for ms, way, protocol, port, size in packets
    ]
    document = {
        "own_client": True,
        "protocol": "h2",
        "server_port": 443,
        "content": "random",
        "expected": {"name": "object", "body_bytes": 3000, "sha256": "abc", "direction": "download"},
        "client": {"requests": [REQUEST | (request or {})]},
    }
    tables = {"ip_packets": pl.DataFrame(rows, schema=TABLES["ip_packets"].schema())}
    return account_contradiction(document, PROOF | proof, tables)


def test_an_account_that_the_packets_allow() -> None:
    """It begins before the first packet and ends when all bytes had come."""
    assert _contradiction() is None


@pytest.mark.parametrize(("protocol", "port"), [("udp", 443), ("tcp", 8080)])
def test_only_bytes_of_the_arms_transport_from_the_servers_port_count(protocol: str, port: int) -> None:
    """A body that came another way did not come, nor sooner."""
    other = [(59, "down", protocol, port, 5000), *(each for each in PACKETS if each[0] != 59)]
    assert _contradiction(packets=other) == "the client says that it got 3000 bytes, but only 2000 came to it"
    soon = [(30, "down", protocol, port, 5000), *PACKETS]
    told = _contradiction({"first_byte_ns": 42 * MS, "last_byte_ns": 50 * MS}, packets=soon)
    assert told == "the client says that it had all bytes 29.0 ms before so many had come"
