# SPDX-License-Identifier: Apache-2.0
"""Transfers written by hand, with rows of the endpoints' own logs, for accounts that are known beforehand.

Times in ms from the client's first packet. The way takes 10 ms in each direction and nothing takes time to serve.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from decoders import writers
from unit.metrics.scenes import ONE_WAY_MS, Scene, ns

from quiclab.accounting import Edge
from quiclab.decoders import decode_trial
from quiclab.metrics import Evidence, evidence_of
from quiclab.tables import TABLES

SEGMENT = 1448
CONNECTION = "10.77.0.1:40000-10.77.0.2:443"


def evidence_of_scene(scene: Scene, folder: Path, **rows: list[dict[str, Any]]) -> Evidence:
    """Decode a scene and add rows to tables that its files do not fill."""
    trial = scene.lay_out(folder)
    tables = dict(decode_trial(folder).tables)
    for name, more in rows.items():
        schema = TABLES[name].schema()
        filled = [{column: row.get(column) for column in schema} for row in more]
        known = tables.get(name, TABLES[name].empty())
        tables[name] = pl.concat([known, pl.DataFrame(filled, schema=schema)], how="diagonal")
    return evidence_of(tables, trial)


def sums(edges: list[Edge], label: str = "why") -> dict[str, float]:
    """Label → ms."""
    found: dict[str, float] = {}
    for edge in edges:
        name = str(edge.reason.why if label == "why" else edge.what)
        found[name] = found.get(name, 0) + edge.length_ns / 1e6
    return found


class Quic:
    """An HTTP/3 response on stream 0 after a set-up of 21 ms; the request leaves at 22 ms and arrives at 32 ms."""

    def __init__(self) -> None:
        self.scene = Scene("h3", client_qlog=writers.Qlog("client"), server_qlog=writers.Qlog("server"))
        crypto = {"frame_type": "crypto", "offset": 0, "length": 90}
        self._numbers = {"up": 1, "down": 0}
        self._send("up", 0, [crypto], 1200, "initial", 0)
        self._send("down", 10, [crypto], 1200, "initial", 0)
        self._send("up", 21, [writers.stream(0, 9, stream_id=2)], 1050, "1RTT", 0)
        self.up(22, writers.stream(0, 30, fin=True), length=70)

    def up(self, ms: float, *frames: dict[str, Any], length: int = 42) -> None:
        """One packet of the client."""
        self._send("up", ms, list(frames), length)

    def down(self, ms: float, offset: int, size: int = 1200, *, fin: bool = False, lost: bool = False) -> None:
        """One packet of the server with bytes of the response."""
        self._send("down", ms, [writers.stream(offset, size, fin=fin)], size + 40, lost=lost)

    def end(self, ms: float, body_bytes: int) -> Scene:
        """Say when the client had all, and return the scene."""
        self.scene.request = {"start_ns": ns(-1), "first_byte_ns": ns(43), "last_byte_ns": ns(ms)}
        self.scene.request["body_bytes"] = body_bytes
        return self.scene

    def _send(
        self,
        direction: str,
        ms: float,
        frames: list[dict[str, Any]],
        length: int,
        kind: str = "1RTT",
        number: int | None = None,
        *,
        lost: bool = False,
        way_ms: float = ONE_WAY_MS,
    ) -> None:
        if number is None:
            number = self._numbers[direction]
            self._numbers[direction] += 1
        self.scene.send(direction, ms, writers.udp(direction, length), lost=lost, way_ms=way_ms)
        logs = (self.scene.client_qlog, self.scene.server_qlog)
        sender, receiver = logs if direction == "up" else logs[::-1]
        assert sender
        assert receiver
        sender.packet("sent", ms, number, length, frames, kind)
        if not lost:
            receiver.packet("received", ms + way_ms, number, length, frames, kind)


class Tcp:
    """An HTTP/2 response after a set-up of 41 ms, whose request arrives at 51 ms; segments are counted from 0."""

    def __init__(self, *, syn_at: tuple[float, ...] = (0,), syn_ack_at: tuple[float, ...] = (10,)) -> None:
        self.scene = scene = Scene("h2")
        events = [("up", at, at < syn_at[-1] and len(syn_ack_at) == 1) for at in syn_at]
        events += [("down", at, at < syn_ack_at[-1]) for at in syn_ack_at]
        for direction, at, lost in sorted(events, key=lambda event: event[1]):
            up = direction == "up"
            packet = writers.tcp("up", 7, flags=2) if up else writers.tcp("down", 0, ack=8, flags=2)
            scene.send(direction, at, packet, lost=lost)
        self.shift = shift = syn_ack_at[-1] - 10
        scene.send("up", shift + 20, writers.tcp("up", 8, writers.tls(22, 200), ack=1))
        scene.send("down", shift + 30, writers.tcp("down", 1, writers.tls(22, 100), ack=208))
        scene.send("up", shift + 41, writers.tcp("up", 208, writers.tls(20, 6) + writers.tls(23, 58), ack=101))

    def down(self, ms: float, number: int, *, lost: bool = False) -> None:
        """One segment of the response."""
        packet = writers.tcp("down", 101 + SEGMENT * number, bytes(SEGMENT), ack=272)
        self.scene.send("down", self.shift + ms, packet, lost=lost)

    def ack(self, ms: float, segments: int, *, sack: tuple[int, int] | None = None) -> None:
        """An acknowledgment of that many segments, and of those in [from, until) besides."""
        blocks = tuple(101 + SEGMENT * edge for edge in sack or ())
        self.scene.send("up", self.shift + ms, writers.tcp("up", 272, ack=101 + SEGMENT * segments, sack=blocks))

    def end(self, ms: float, segments: int) -> Scene:
        """Say when the client had all, and return the scene."""
        self.scene.request = {
            "start_ns": ns(-1),
            "first_byte_ns": ns(self.shift + 61.5),
            "last_byte_ns": ns(self.shift + ms + 0.5),
            "body_bytes": SEGMENT * segments - 100,
        }
        return self.scene


def metrics_row(ms: float, window: int, in_flight: int) -> dict[str, Any]:
    """A row of transport_metrics of a QUIC server's log."""
    row = {"source": "raw/server.sqlog", "vantage": "server", "transport": "quic", "estimate": False}
    return row | {"time_ns": ns(ms), "cwnd_bytes": window, "bytes_in_flight": in_flight}


def loss_row(ms: float, number: int, rule: str) -> dict[str, Any]:
    """A row of losses of a QUIC server's log."""
    row = {"source": "raw/server.sqlog", "vantage": "server", "transport": "quic", "estimate": False}
    row |= {"packet_type": "1RTT", "direction": "down"}
    return row | {"time_ns": ns(ms), "packet_number": number, "rule": rule}


def sample_row(ms: float, **values: Any) -> dict[str, Any]:
    """A row of tcp_info of the server."""
    usual = {"ca_state": "open", "snd_ssthresh": 0x7FFFFFFF, "snd_cwnd": 10, "rwnd_limited_us": 0}
    usual |= {"sndbuf_limited_us": 0, "notsent_bytes": 100_000, "data_segs_out": 1}
    row = {"source": "raw/server.tcpinfo", "vantage": "server", "connection": CONNECTION, "time_ns": ns(ms)}
    return row | usual | values


def limit_row(ms: float, scope: str, limit: int, stream_id: int | None = None) -> dict[str, Any]:
    """A row of flow_control: what the server may send."""
    row = {"source": "raw/server.sqlog", "vantage": "server", "transport": "quic", "event": "limit"}
    row |= {"direction": "down", "scope": scope, "limit": limit, "stream_id": stream_id}
    return row | {"time_ns": ns(ms)}


def blocked_row(ms: float, state: str, reason: str | None) -> dict[str, Any]:
    """A row of blocked: the server's own word."""
    row = {"source": "raw/server.sqlog", "vantage": "server", "transport": "quic", "direction": "down"}
    return row | {"time_ns": ns(ms), "scope": "connection", "new_state": state, "reason": reason}
