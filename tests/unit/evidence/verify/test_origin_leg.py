# SPDX-License-Identifier: Apache-2.0
"""A proxy's leg to its origin: what its packets prove, and when a trial fails for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from decoders import writers
from trial_records import record

from quiclab.evidence.verify.origin_leg import control_problem, origin_leg, relay_problem

LINKS = [
    {"name": "access", "leg": "client", "capture_client": "client.pcapng"},
    {"name": "core", "leg": "origin", "capture_client": "link-2-client.pcapng"},
]
PROXY = {"place": "node-1", "origin_protocol": "h1", "origin_port": 443, "compresses": False}


def document(body: int, **changes: Any) -> dict[str, Any]:
    """Of a proxied trial."""
    return {"proxy": PROXY | changes, "links": LINKS, "expected": {"body_bytes": body}, "proof": {}, "host": {}}


def upload(body: int) -> dict[str, Any]:
    """Of a proxied trial in which the client sends."""
    trial = document(body, origin_protocol="h3")
    trial["expected"]["direction"] = "upload"
    return trial


def judged(folder: Path, trial: dict[str, Any]) -> str | None:
    """What the packets behind the proxy say against the trial: 60 bytes from the origin over UDP."""
    capture = writers.Capture("client")
    capture.add("up", 1, writers.udp("up", 30))
    capture.add("down", 2, writers.udp("down", 60))
    (folder / "raw").mkdir()
    (folder / "raw" / "link-2-client.pcapng").write_bytes(capture.bytes())
    trial["proof"]["origin_leg"] = origin_leg(folder, record(trial))
    return relay_problem(record(trial))


def test_what_came_from_the_origin_is_counted(tmp_path: Path) -> None:
    """Enough of it, over the transport that was asked for, is a proxy that relayed."""
    trial = document(60, origin_protocol="h3")
    assert judged(tmp_path, trial) is None
    assert trial["proof"]["origin_leg"] == {
        "transports": ["quic"],
        "connections": 1,
        "bytes_from_origin": 60,
        "bytes_to_origin": 30,
    }


@pytest.mark.parametrize(
    ("trial", "says"),
    [
        (document(61, origin_protocol="h3"), "the proxy did not relay: 60 bytes came from the origin for 61"),
        (document(60), "asked for tcp between proxy and origin, but the packets were quic"),
        (document(0, origin_protocol="h3", origin_port=9), "the proxy did not relay: 0 bytes"),
        (document(61, origin_protocol="h3", compresses=True), None),
        (upload(30), None),
        (upload(31), "the proxy did not relay: 30 bytes went to the origin for 31"),
    ],
)
def test_a_proxy_that_did_not_relay(tmp_path: Path, trial: dict[str, Any], says: str | None) -> None:
    """Too few bytes, another transport, or no connection at all; compressed bodies have no least size."""
    problem = judged(tmp_path, trial)
    assert problem is None if says is None else problem is not None and says in problem


def test_without_a_link_behind_the_proxy_nothing_is_proven(tmp_path: Path) -> None:
    """Beside the server it speaks over the loopback, which nobody captures."""
    trial = document(60) | {"links": LINKS[:1]}
    assert origin_leg(tmp_path, record(trial)) is None
    trial["proof"]["origin_leg"] = "unproven"
    assert relay_problem(record(trial)) is None


@pytest.mark.parametrize("content", [None, b"", b"no capture"])
def test_a_capture_that_cannot_be_read_proves_nothing(tmp_path: Path, content: bytes | None) -> None:
    """It is the laboratory's file."""
    (tmp_path / "raw").mkdir()
    if content is not None:
        (tmp_path / "raw" / "link-2-client.pcapng").write_bytes(content)
    assert origin_leg(tmp_path, record(document(60))) is None


def test_every_sockets_congestion_control_is_held_to_the_spec() -> None:
    """By the role whose end it is; what was not seen is not held against a trial."""
    trial: dict[str, Any] = {
        "tcp_congestion_controls_asked": {"client": "cubic", "proxy": "bbr", "server": "reno"},
        "host": {"tcp_congestion_controls": {"client": "cubic", "proxy_to_origin": "bbr"}},
    }
    assert control_problem(record(trial)) is None
    trial["host"]["tcp_congestion_controls"]["proxy_to_origin"] = "cubic"
    assert control_problem(record(trial)) == "asked for TCP congestion control bbr, the socket of the proxy had cubic"
