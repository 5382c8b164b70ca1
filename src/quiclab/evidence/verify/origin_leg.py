# SPDX-License-Identifier: Apache-2.0
"""Connections between a proxy and its origin, and the congestion control of every connection over TCP."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from quiclab.evidence.verify.wire import read_wire
from quiclab.logs.decoders import Context, decoder_of
from quiclab.model.errors import DecodeError
from quiclab.model.proof_record import UNPROVEN
from quiclab.model.tables import TABLES
from quiclab.model.trial_record import TrialRecord
from quiclab.store.own_files import own_files

_TRANSPORTS = {"tcp": "tcp", "udp": "quic"}


def origin_leg(folder: Path, trial: TrialRecord) -> dict[str, object] | None:
    """Facts that the packets at the proxy's end of the link behind it prove; None without a proxy or without such a
    link.

    The connection may be older than the transfer: what the warm-up fetched counts as well.
    """
    proxy, behind = trial.proxy, next(iter(trial.links_of("origin")), None)
    if proxy is None or behind is None:
        return None
    files = own_files(folder / "raw", folder)  # by its name alone: a trial.json may come from anywhere
    packets = next((_ip_packets(file) for file in files if file.name == behind.capture_client), None)
    if packets is None:
        return None
    wire = read_wire(packets, proxy.origin_port)
    return {
        "transports": sorted({_TRANSPORTS[socket.protocol] for socket in wire.sockets}),
        "connections": len(wire.sockets),
        "bytes_from_origin": sum(socket.payload_bytes["server"] for socket in wire.sockets),
        "bytes_to_origin": sum(socket.payload_bytes["client"] for socket in wire.sockets),
    }


def _ip_packets(capture: Path) -> pl.DataFrame | None:
    """Headers of the packets in one capture, which is in no table of the trial: its metrics are of the client's leg.

    None where the file is no capture.
    """
    kept = [pl.DataFrame(schema=TABLES["ip_packets"].decoder_schema)]

    def take(name: str, rows: pl.DataFrame) -> None:
        if name == "ip_packets":
            kept.append(rows)

    try:
        decoder = decoder_of(capture)
        if decoder is None:
            return None
        for name, rows in decoder.decode(capture, Context(vantage="client"), take).tables.items():
            take(name, rows)
    except (OSError, DecodeError):
        return None
    return pl.concat(kept)


def relay_problem(trial: TrialRecord) -> str | None:
    """A proxy that did not fetch from its origin what the client got, or not over the transport that was asked for."""
    seen, proxy = trial.proof.origin_leg, trial.proxy
    if seen == UNPROVEN or proxy is None:
        return None
    wanted = "quic" if proxy.origin_protocol == "h3" else "tcp"
    if seen.transports not in ((), (wanted,)):
        return f"asked for {wanted} between proxy and origin, but the packets were {' and '.join(seen.transports)}"
    expected = trial.expected
    body = expected.body_bytes or 0
    moved, way = seen.bytes_from_origin, "came from"
    if expected.upload:
        moved, way = seen.bytes_to_origin, "went to"
    if not seen.connections or (moved < body and not proxy.compresses):
        return f"the proxy did not relay: {moved} bytes {way} the origin for {body} of the body"
    return None


def control_problem(trial: TrialRecord) -> str | None:
    """A connection whose congestion control is not what was asked for its end."""
    asked = trial.tcp_congestion_controls_asked
    for end, got in trial.host.tcp_congestion_controls.items():
        role = end.partition("_")[0]
        if got != asked.get(role, got):
            return f"asked for TCP congestion control {asked[role]}, the socket of the {role} had {got}"
    return None
