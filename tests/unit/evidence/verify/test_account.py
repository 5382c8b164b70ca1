# SPDX-License-Identifier: Apache-2.0
"""Accounts of a user's own client, held against packets that were written by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from trial_records import record

from quiclab.evidence.verify.http_responses import CAPTURE
from quiclab.evidence.verify.proof import account_contradiction
from quiclab.model.tables import TABLES

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
            "src_port" if way == "up" else "dst_port": own[0] if own else 5000,
        }
        for ms, way, protocol, port, size, *own in packets
    ]
    document = {
        "own_client": True,
        "protocol": "h2",
        "server_port": 443,
        "content": "random",
        "expected": {"name": "object", "body_bytes": 3000, "sha256": "abc", "direction": "download"},
        "client": {"requests": [REQUEST | (request or {})]},
    }
    heads = [{"source": CAPTURE, "headers_ns": 50 * MS}] if proof.get("http_responses") else []
    tables = {
        "ip_packets": pl.DataFrame(rows, schema=TABLES["ip_packets"].schema()),
        "http_requests": pl.DataFrame(heads, schema=TABLES["http_requests"].schema()),
    }
    return account_contradiction(record(document | {"proof": PROOF | proof}), tables)


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


OPENED: dict[str, Any] = {"http_responses": [{"url": URL}], "unproven_because": {}}
NOT_SEEN = "no request for {} of the client's account is among its packets"


@pytest.mark.parametrize(
    ("url", "proof", "told"),
    [
        (URL, OPENED, None),
        ("https://SERVER.test:443/object", OPENED, None),
        (URL, {"http_responses": [{"url": None}], "unproven_because": {}}, None),
        ("https://elsewhere.test/object", {}, None),
        ("https://elsewhere.test/object", OPENED, NOT_SEEN.format("https://elsewhere.test/object")),
        (URL + "?2", OPENED, NOT_SEEN.format(URL + "?2")),
        ("https://server.test/x", {}, "the client's account is of https://server.test/x, and not of object"),
        ("https://server.test/\ud800", {}, "the client's account is of https://server.test/\\ud800, and not of object"),
    ],
)
def test_an_account_is_of_what_was_asked_for(url: str, proof: dict[str, Any], told: str | None) -> None:
    """By its path without keys, by the whole URL with them; what stayed closed in 0-RTT packets may be any."""
    assert _contradiction({"url": url}, **proof) == told


def test_no_byte_is_there_before_http() -> None:
    """With keys the head of the response came at 50 ms, without any the first payload of the server at 40 ms."""
    early = "the client says that it had a first byte {} ms before {} had come"
    assert _contradiction({"first_byte_ns": 41 * MS}) is None
    assert _contradiction({"first_byte_ns": 38 * MS}) == early.format("2.0", "any payload")
    assert _contradiction({"first_byte_ns": 41 * MS}, **OPENED) == early.format("9.0", "the head of a response")
    assert _contradiction({"first_byte_ns": 50 * MS}, **OPENED) is None
    assert _contradiction({"first_byte_ns": None}, **OPENED) is None


SPLIT = [(ms, way, protocol, port, size // 2, 5000 + n) for ms, way, protocol, port, size in PACKETS for n in (0, 1)]
"""Two connections that have every byte between them, but neither has them all."""
LATER = [(90, "down", "tcp", 443, 1500, 5000)]


def test_one_connection_must_have_had_all_bytes_by_then() -> None:
    """Bytes of other connections end nothing sooner, whether they can be read or not."""
    told = "the client says that it had all bytes 10.0 ms before so many had come on one connection"
    assert _contradiction(packets=SPLIT + LATER) == told
    assert _contradiction(packets=SPLIT + LATER, connections="unproven") == told
    assert _contradiction({"last_byte_ns": 91 * MS}, packets=SPLIT + LATER) is None


def test_one_connection_may_have_several_sockets() -> None:
    """A connection has moved where packets show that there was no other."""
    assert _contradiction(packets=SPLIT + LATER, connections=1) is None
