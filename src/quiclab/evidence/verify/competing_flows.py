# SPDX-License-Identifier: Apache-2.0
"""Proof of a competition's flows: each ran to the end, over the transport that it should, and got bytes."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from quiclab.evidence.metrics.measured_flow import flow_tables
from quiclab.evidence.verify.connections import captured, connections
from quiclab.evidence.verify.handshake import read_handshake
from quiclab.evidence.verify.wire import read_wire
from quiclab.model.proof_record import FlowProof
from quiclab.model.trial_record import Flow, TrialRecord

_LEAST_BYTES = 10_000
"""Least bytes from a download's server that prove more than a handshake."""
_SPOKEN = {"h1": "tcp", "h2": "tcp", "h3": "quic"}


def prove_competition(tables: Mapping[str, pl.DataFrame], trial: TrialRecord) -> dict[str, dict[str, object]]:
    """Label → transport, what arrived of its server, and the TLS version of a download; by the client's capture."""
    flows = trial.competition.flows if trial.competition else ()
    return {flow.label: _flow(captured(flow_tables(tables, trial, flow)), flow) for flow in flows}


def _flow(rows: Mapping[str, pl.DataFrame], flow: Flow) -> dict[str, object]:
    wire = read_wire(rows["ip_packets"], flow.server_port)
    sent = {protocol: wire.payload_bytes(protocol, "server") for protocol in ("tcp", "udp")}
    seen = {protocol: count for protocol, count in sent.items() if count}
    found: dict[str, object] = {"transport": max(seen, key=lambda protocol: seen[protocol]) if seen else "none"}
    found["payload_bytes_down"] = sum(seen.values())
    if flow.protocol in _SPOKEN:
        handshake = read_handshake(wire, connections(rows))
        if handshake.transport != "none":
            found["transport"] = handshake.transport
        found |= {"tls_version": handshake.tls_version, "alpn_offered": list(handshake.alpn_offered)}
    return found


def broken_wire(trial: TrialRecord) -> str | None:
    """Packets that the laboratory lost outside the link, in the hubs."""
    lost = trial.competition.lost_in_hubs if trial.competition else 0
    return f"{lost} packets were lost between the link and its clients and servers" if lost else None


def competition_problem(trial: TrialRecord) -> str | None:
    """The first flow that did not take part as it should."""
    if trial.competition is None:
        return None
    proof = trial.proof.competition
    problems = (_problem(flow, proof.get(flow.label, FlowProof())) for flow in trial.competition.flows)
    return next((problem for problem in problems if problem), None)


def _problem(flow: Flow, proof: FlowProof) -> str | None:
    label, wanted = flow.label, _SPOKEN.get(flow.protocol, flow.protocol)
    if flow.started_ns is None:
        return f"{label} never competed: the measured client had ended before"
    if flow.ended != "running":
        return f"{label} did not compete to the end: {flow.ended}"
    least = _LEAST_BYTES if flow.protocol in _SPOKEN else 1
    if proof.payload_bytes_down < least:
        return f"{label} did not compete: its server sent {proof.payload_bytes_down} bytes"
    # Without a handshake in the capture (cut to headers) QUIC is UDP with payload.
    if proof.transport != wanted and (proof.transport, wanted) != ("udp", "quic"):
        return f"{label} was to run over {wanted}, but the packets were {proof.transport}"
    asked, got = flow.tcp_congestion_control_asked, flow.tcp_congestion_control
    if got is not None and got != asked:
        return f"{label} was to have TCP congestion control {asked}, but its server's socket had {got}"
    return None
