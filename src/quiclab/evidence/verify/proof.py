# SPDX-License-Identifier: Apache-2.0
"""Proof of a trial: facts from its packets first, then from its programs. The rest is `unproven`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from quiclab.evidence.metrics.measured_flow import measured_tables
from quiclab.evidence.verify.account import account_contradiction
from quiclab.evidence.verify.captured import capture_problem
from quiclab.evidence.verify.competing_flows import prove_competition
from quiclab.evidence.verify.connections import captured, connections
from quiclab.evidence.verify.decrypted import ClosedError, opened_facts
from quiclab.evidence.verify.early_data_log import early_data_bytes_by_log
from quiclab.evidence.verify.handshake import Handshake, read_handshake
from quiclab.evidence.verify.http_responses import closed_because, is_captured, responses
from quiclab.evidence.verify.origin_leg import origin_leg
from quiclab.evidence.verify.wire import Sender, Wire, read_wire
from quiclab.model.host_findings import Host
from quiclab.model.link_account import LinkSide
from quiclab.model.proof_record import UNPROVEN, Proof
from quiclab.model.trial_record import ProbeTarget, TrialRecord
from quiclab.store.record_form import as_record

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
_NO_KEYS = "the client left no TLS keys (raw/keys.log)"
DECODER = "quiclab's decoders"
"""Name of what opened the packets."""


def prove(folder: Path, trial: TrialRecord, tables: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """Transport, versions, TLS, HTTP, ECN and congestion control as they were, each a value or `unproven`.

    `tables` are those of `decoders.decode_trial`.
    """
    own = measured_tables(tables, trial)
    rows = captured(own)
    found, wire = connections(rows), read_wire(rows["ip_packets"], trial.server_port or 0)
    seen = is_captured(own)
    proof: dict[str, object] = {
        **_hellos(read_handshake(wire, found) if seen else None),
        **_on_the_wire(wire if seen else None, trial),
        **_other_facts(folder, trial),
    }
    if trial.competition is not None:
        proof["competition"] = prove_competition(tables, trial)
    proof |= {**dict.fromkeys(_NEEDS_KEYS, UNPROVEN), "decrypted_by": UNPROVEN}
    because = _because(proof["transport"], trial.probe)
    proof["unproven_because"] = because
    proof["http_responses"], closed = responses(own), closed_because(own, competes=trial.competition is not None)
    if closed is not None:
        because["http_responses"] = closed
    try:
        opened, why = opened_facts(found, closed, trial.protocol)
    except ClosedError as error:
        keys = folder / "raw" / "keys.log"
        because["decrypted_by"] = str(error) if keys.is_file() and keys.stat().st_size else _NO_KEYS
    else:
        because |= why
        _add_opened(proof, opened)
        _ask_the_log(own, proof, because)
    proven = msgspec.structs.replace(trial, proof=as_record(proof, Proof))
    proof["account_contradicted"] = account_contradiction(proven, own)
    proof["capture_contradicted"] = capture_problem(trial, tables)
    return proof


def _hellos(handshake: Handshake | None) -> dict[str, object]:
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


def _other_facts(folder: Path, trial: TrialRecord) -> dict[str, object]:
    """Facts from elsewhere than the measured capture: the programs, the kernel and the capture of another leg."""
    host = trial.host
    return {
        "http_version": trial.first_request.http_version or UNPROVEN,
        "tcp_congestion_control_asked": trial.tcp_congestion_control_asked,
        "tcp_congestion_control": _tcp_sender(host),
        "tcp_congestion_controls": host.tcp_congestion_controls or UNPROVEN,
        "origin_leg": _known(origin_leg(folder, trial)),
        "quic_congestion_control_asked": trial.asked.congestion_control or UNPROVEN,
        "quic_congestion_control": UNPROVEN,
        "versions": trial.client.versions if trial.client else {},
    }


def _add_opened(proof: dict[str, object], found: dict[str, object]) -> None:
    """Add what only opened packets tell."""
    for replaced in ("resumed", "tls_group"):  # the hellos tell these, except in TLS 1.2
        if proof[replaced] != UNPROVEN:
            del found[replaced]
    proof |= {name: _known(value) for name, value in found.items()}
    if proof["alt_svc_use"] == UNPROVEN and found["alt_svc"] not in (None, "none"):
        proof["alt_svc_use"] = "used" if found["http_version_seen"] != "HTTP/3" else UNPROVEN
    proof["decrypted_by"] = DECODER


def _ask_the_log(tables: Mapping[str, pl.DataFrame], proof: dict[str, object], because: dict[str, str]) -> None:
    """Fill in from the client's qlog how much was sent in 0-RTT packets that stayed closed."""
    packets = proof["early_data_packets"]
    if proof["early_data_bytes"] != UNPROVEN:
        proof["early_data_bytes_by"] = "packets"
    elif isinstance(packets, int) and not isinstance(packets, bool) and packets:
        told = early_data_bytes_by_log(tables, packets)
        if told is not None:
            proof |= {"early_data_bytes": told, "early_data_bytes_by": "client's qlog"}
            because.pop("early_data_bytes", None)


def _tcp_sender(host: Host) -> str:
    """Congestion control of the end that sends the bodies, as its socket showed it."""
    return host.client_tcp_congestion_control or host.server_tcp_congestion_control or UNPROVEN


def _because(transport: object, probe: ProbeTarget | None) -> dict[str, str]:
    reasons: dict[str, str] = {}
    if probe is not None:
        reasons["tcp_congestion_control"] = probe.server
    if transport == "quic":
        reasons["quic_congestion_control"] = "no server names it in its log; its window over time shows it"
    return reasons


def _on_the_wire(wire: Wire | None, trial: TrialRecord) -> dict[str, object]:
    if wire is None:
        facts = ("ecn", "ecn_client", "ecn_server", "client_sockets", "client_addresses", "alt_svc_use")
        return dict.fromkeys((*facts, "payload_bytes", "payload_bytes_of_one_socket"), UNPROVEN)
    return {
        # In the client's capture packets up are before the link, and those down behind it.
        "ecn": {
            "up": _ecn(wire, "client", "sent", trial.link.up),
            "down": _ecn(wire, "server", "arrived", trial.link.down),
        },
        "ecn_client": wire.ecn_seen("client"),
        "ecn_server": wire.ecn_seen("server"),
        "client_sockets": [socket.name for socket in wire.sockets],
        "client_addresses": wire.payload_by_address(),
        "payload_bytes": wire.payload_by_protocol(),
        "payload_bytes_of_one_socket": wire.most_by_socket(),
        "alt_svc_use": _alt_svc_use(wire),
    }


def _ecn(wire: Wire, sender: Sender, seen: str, side: LinkSide) -> dict[str, object]:
    """Codepoints of the packets of one sender where they were seen, and how many the link marked by its own account."""
    return {**wire.ecn_shares(sender), "seen": seen, "marked_by_link": _known(side.marked)}


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
