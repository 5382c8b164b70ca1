# SPDX-License-Identifier: Apache-2.0
"""What the flows of a competition prove: that each ran to the end, over the transport that it should, and got bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from quiclab.verify._ip import TCP, parse_headers
from quiclab.verify._pcapng import CaptureError, read_captured
from quiclab.verify.handshake import read_handshake

_LEAST_BYTES = 10_000
"""From the server of a download: more than a handshake takes."""
_SPOKEN = {"h2": "tcp", "h3": "quic"}


def prove_competition(capture: Path, competition: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Label → transport, what arrived of its server, and the TLS version of a download; by the client's capture."""
    flows = {flow["server_port"]: flow for flow in competition["flows"]}
    sent = _sent(capture, set(flows))
    proof = {}
    for port, flow in flows.items():
        seen = {protocol: count for (of, protocol), count in sent.items() if of == port and count}
        found: dict[str, Any] = {"transport": _name(max(seen, key=lambda protocol: seen[protocol])) if seen else "none"}
        found["payload_bytes_down"] = sum(seen.values())
        if flow["protocol"] in _SPOKEN:
            handshake = read_handshake(capture, port)
            if handshake.transport != "none":
                found["transport"] = handshake.transport
            found |= {"tls_version": handshake.tls_version, "alpn_offered": list(handshake.alpn_offered)}
        proof[flow["label"]] = found
    return proof


def _sent(capture: Path, ports: set[int]) -> Counter[tuple[int, int]]:
    """(Server's port, IP protocol) → payload of TCP or UDP from there."""
    sent: Counter[tuple[int, int]] = Counter()
    try:
        with capture.open("rb") as file:
            for kept, _ in read_captured(file):
                headers = parse_headers(kept)
                if headers is not None and headers.source_port in ports:
                    sent[headers.source_port, headers.protocol] += headers.payload_bytes
    except (OSError, CaptureError):
        pass  # what is missing then is not proven
    return sent


def _name(protocol: int) -> str:
    return "tcp" if protocol == TCP else "udp"


def broken_wire(document: Mapping[str, Any]) -> str | None:
    """What the laboratory lost outside the link."""
    lost = (document.get("competition") or {}).get("lost_in_hubs")
    return f"{lost} packets were lost between the link and its clients and servers" if lost else None


def competition_problem(document: Mapping[str, Any]) -> str | None:
    """The first flow that did not take part as it should."""
    competition = document.get("competition")
    if competition is None:
        return None
    proof = document["proof"]["competition"]
    problems = (_problem(flow, proof[flow["label"]]) for flow in competition["flows"])
    return next((problem for problem in problems if problem), None)


def _problem(flow: Mapping[str, Any], proof: Mapping[str, Any]) -> str | None:
    label, wanted = flow["label"], _SPOKEN.get(flow["protocol"], flow["protocol"])
    if flow["started_ns"] is None:
        return f"{label} never competed: the measured client had ended before"
    if flow.get("ended", "running") != "running":
        return f"{label} did not compete to the end: {flow['ended']}"
    least = _LEAST_BYTES if flow["protocol"] in _SPOKEN else 1
    if proof["payload_bytes_down"] < least:
        return f"{label} did not compete: its server sent {proof['payload_bytes_down']} bytes"
    # Without a handshake in the capture (cut to headers) QUIC is UDP with payload.
    if proof["transport"] != wanted and (proof["transport"], wanted) != ("udp", "quic"):
        return f"{label} was to run over {wanted}, but the packets were {proof['transport']}"
    asked, got = flow.get("tcp_congestion_control_asked"), flow.get("tcp_congestion_control")
    if got is not None and got != asked:
        return f"{label} was to have TCP congestion control {asked}, but its server's socket had {got}"
    return None
