# SPDX-License-Identifier: Apache-2.0
"""Proof of a trial: facts from its packets first, then from its programs. The rest is `unproven`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from quiclab.evidence.metrics.measured_flow import measured_tables
from quiclab.evidence.verify.account import account_contradiction
from quiclab.evidence.verify.captured import capture_problem
from quiclab.evidence.verify.competing_flows import prove_competition
from quiclab.evidence.verify.connections import Connection, captured, connections
from quiclab.evidence.verify.decrypted import ClosedError, opened_facts
from quiclab.evidence.verify.early_data_log import early_data_bytes_by_log
from quiclab.evidence.verify.handshake import Handshake, read_handshake
from quiclab.evidence.verify.http_responses import closed_because, is_captured, responses
from quiclab.evidence.verify.origin_leg import origin_leg
from quiclab.evidence.verify.wire import Sender, Wire, read_wire

UNPROVEN = "unproven"
_NEEDS_KEYS = (
    "connections",
    "http_version_seen",
    "alpn",
    "handshake_round_trips",
    "early_data",
    "early_data_bytes",
    "early_data_bytes_by",
    "quic_parameters_server",
    "http_settings_client",
    "http_settings_server",
    "alt_svc",
    "address_changed",
    "path_challenges",
    "path_responses",
    "path_validated_by",
    "new_connection_id",
    "migrated",
    "new_path",
    "answers",
)
_ECN_SIDES: tuple[tuple[str, Sender, str], ...] = (("up", "client", "sent"), ("down", "server", "arrived"))
"""Name, sender and place of ECN counts in the client's capture: before the link for packets up, after it for down."""
_NO_KEYS = "the client left no TLS keys (raw/keys.log)"
DECODER = "quiclab's decoders"
"""Name of what opened the packets."""


def prove(folder: Path, document: dict[str, Any], tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Transport, versions, TLS, HTTP, ECN and congestion control as they were, each a value or `unproven`.

    `tables` are those of `decoders.decode_trial`.
    """
    own = measured_tables(tables, document)
    rows = captured(own)
    found, wire = connections(rows), read_wire(rows["ip_packets"], document["server_port"])
    seen = is_captured(own)
    proof = {
        **_hellos(read_handshake(wire, found) if seen else None),
        **_on_the_wire(wire if seen else None, document),
        **_other_facts(folder, document),
    }
    if document.get("competition") is not None:
        proof["competition"] = prove_competition(tables, document)
    proof |= {**dict.fromkeys(_NEEDS_KEYS, UNPROVEN), "decrypted_by": UNPROVEN}
    proof["unproven_because"] = _because(proof["transport"], document.get("probe"))
    proof["http_responses"], closed = responses(own), closed_because(own, competes="competition" in proof)
    if closed is not None:
        proof["unproven_because"]["http_responses"] = closed
    _add_opened(folder, document, proof, found, closed)
    _ask_the_log(own, proof)
    proof["account_contradicted"] = account_contradiction(document, proof, own)
    proof["capture_contradicted"] = capture_problem(document, tables)
    return proof


def _hellos(handshake: Handshake | None) -> dict[str, Any]:
    """Facts of the handshake that can be read without keys; `handshake` is None where there is no capture."""
    return {
        "transport": handshake.transport if handshake else UNPROVEN,
        "tls_version": _known(handshake and handshake.tls_version),
        "tls_cipher": _known(handshake and handshake.cipher_suite),
        "tls_group": _known(handshake and handshake.group),
        "hello_retry_request": _known(handshake and handshake.hello_retry_request),
        "resumed": _known(handshake and handshake.resumed),
        "early_data_offered": _known(handshake and handshake.early_data_offered),
        "early_data_packets": _known(handshake and handshake.early_data_packets),
        "quic_version": _known(handshake and handshake.quic_version),
        "quic_retry": _known(handshake and handshake.quic_retry),
        "quic_version_negotiation": _known(handshake and handshake.quic_version_negotiation),
        "quic_parameters_client": handshake.quic_parameters_client if handshake else UNPROVEN,
        "alpn_offered": list(handshake.alpn_offered) if handshake else UNPROVEN,
        "handshake_problems": list(handshake.problems) if handshake else [],
    }


def _other_facts(folder: Path, document: dict[str, Any]) -> dict[str, Any]:
    """Facts from elsewhere than the measured capture: the programs, the kernel and the capture of another leg."""
    requests = (document["client"] or {}).get("requests") or [{}]
    host = document["host"]
    return {
        "http_version": requests[0].get("http_version", UNPROVEN),
        "tcp_congestion_control_asked": document["tcp_congestion_control_asked"],
        "tcp_congestion_control": _tcp_sender(host),
        "tcp_congestion_controls": host.get("tcp_congestion_controls") or UNPROVEN,
        "origin_leg": _known(origin_leg(folder, document)),
        "quic_congestion_control_asked": (document.get("asked") or {}).get("congestion_control") or UNPROVEN,
        "quic_congestion_control": UNPROVEN,
        "versions": (document["client"] or {}).get("versions", {}),
    }


def _add_opened(
    folder: Path, document: dict[str, Any], proof: dict[str, Any], connections: Sequence[Connection], closed: str | None
) -> None:
    """Adds what only opened packets tell; what they do not tell gets its reason."""
    keys = folder / "raw" / "keys.log"
    try:
        found, why = opened_facts(connections, closed, document)
    except ClosedError as error:
        left_keys = keys.is_file() and keys.stat().st_size
        proof["unproven_because"]["decrypted_by"] = str(error) if left_keys else _NO_KEYS
        return
    for replaced in ("resumed", "tls_group"):  # the hellos tell these, except in TLS 1.2
        if proof[replaced] != UNPROVEN:
            del found[replaced]
    proof |= {name: _known(value) for name, value in found.items()}
    if proof["alt_svc_use"] == UNPROVEN and found["alt_svc"] not in (None, "none"):
        proof["alt_svc_use"] = "used" if found["http_version_seen"] != "HTTP/3" else UNPROVEN
    proof["decrypted_by"] = DECODER
    proof["unproven_because"] |= why


def _ask_the_log(tables: Mapping[str, pl.DataFrame], proof: dict[str, Any]) -> None:
    """Fill in from the client's qlog how much was sent in 0-RTT packets that stayed closed."""
    if proof["decrypted_by"] == UNPROVEN:
        return
    packets = proof["early_data_packets"]
    if proof["early_data_bytes"] != UNPROVEN:
        proof["early_data_bytes_by"] = "packets"
    elif isinstance(packets, int) and not isinstance(packets, bool) and packets:
        told = early_data_bytes_by_log(tables, packets)
        if told is not None:
            proof |= {"early_data_bytes": told, "early_data_bytes_by": "client's qlog"}
            proof["unproven_because"].pop("early_data_bytes", None)


def _tcp_sender(host: dict[str, Any]) -> str:
    """Congestion control of the end that sends the bodies, as its socket showed it."""
    looked_at = ("client_tcp_congestion_control", "server_tcp_congestion_control")
    return next((str(host[name]) for name in looked_at if name in host), UNPROVEN)


def _because(transport: str, probe: dict[str, Any] | None) -> dict[str, str]:
    reasons: dict[str, str] = {}
    if probe:
        reasons["tcp_congestion_control"] = str(probe.get("server", ""))
    if transport == "quic":
        reasons["quic_congestion_control"] = "no server names it in its log; its window over time shows it"
    return reasons


def _on_the_wire(wire: Wire | None, document: dict[str, Any]) -> dict[str, Any]:
    if wire is None:
        facts = ("ecn", "ecn_client", "ecn_server", "client_sockets", "client_addresses", "alt_svc_use")
        return dict.fromkeys((*facts, "payload_bytes", "payload_bytes_of_one_socket"), UNPROVEN)
    return {
        "ecn": {
            side: {**wire.ecn_shares(sender), "seen": seen, "marked_by_link": _marked(document, side)}
            for side, sender, seen in _ECN_SIDES
        },
        "ecn_client": wire.ecn_seen("client"),
        "ecn_server": wire.ecn_seen("server"),
        "client_sockets": [socket.name for socket in wire.sockets],
        "client_addresses": wire.payload_by_address(),
        "payload_bytes": wire.payload_by_protocol(),
        "payload_bytes_of_one_socket": wire.most_by_socket(),
        "alt_svc_use": _alt_svc_use(wire),
    }


def _marked(document: dict[str, Any], side: str) -> Any:
    """Return the number of packets that the link marked, by its own account."""
    return ((document.get("link") or {}).get(side) or {}).get("marked", UNPROVEN)


def _alt_svc_use(wire: Wire) -> str:
    """Say how the client came to QUIC: `forced` if it used QUIC from the start; after an answer over TCP, that answer
    may have offered it."""
    answered = [socket.protocol for socket in wire.sockets if socket.payload_bytes["server"]]
    if not answered:
        return UNPROVEN
    if "udp" not in answered:
        return "not_used"
    return "forced" if answered[0] == "udp" else UNPROVEN


def _known(value: Any) -> Any:
    """Replace None, which is a missing capture or packets that do not tell, by UNPROVEN."""
    return UNPROVEN if value is None else value
