# SPDX-License-Identifier: Apache-2.0
"""Transfers written by hand, with rows of the endpoints' own logs, for accounts that are known beforehand.

Times in ms from the client's first packet. The way takes 10 ms in each direction and nothing takes time to serve.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from decoders import writers
from trial_records import record
from unit.evidence.metrics.scenes import ONE_WAY_MS, Scene, ns

from quiclab.evidence.metrics import Evidence, evidence_of
from quiclab.logs.decoders import decode_trial
from quiclab.model.tables import TABLES
from quiclab.why.account import Edge

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
    return evidence_of(tables, record(trial))


def sums(edges: list[Edge], label: str = "why") -> dict[str, float]:
    """Label → ms."""
    found: dict[str, float] = {}
    for edge in edges:
        name = str(edge.reason.why if label == "why" else edge.what)
        found[name] = found.get(name, 0) + edge.length_ns / 1e6
    return found


def crypto(offset: int, length: int = 90) -> dict[str, Any]:
    """A CRYPTO frame."""
    return {"frame_type": "crypto", "offset": offset, "length": length}


Flight = tuple[str, float, str, dict[str, Any], int]
"""Direction, ms, packet type, frame, length: one packet of a set-up."""
USUAL: tuple[Flight, ...] = (
    ("up", 0, "initial", crypto(0), 1200),
    ("down", 10, "initial", crypto(0), 1200),
    ("up", 21, "1RTT", writers.stream(0, 9, stream_id=2), 1050),
)


class Quic:
    """An HTTP/3 response on stream 0 after a set-up of 21 ms; the request leaves at 22 ms and arrives at 32 ms."""

    def __init__(
        self, set_up: tuple[Flight, ...] = USUAL, *, asks: float | None = 22, lost: tuple[int, ...] = ()
    ) -> None:
        self.scene = Scene("h3", client_qlog=writers.Qlog("client"), server_qlog=writers.Qlog("server"))
        self._numbers: dict[tuple[str, str], int] = {}
        for at, (direction, ms, kind, frame, length) in enumerate(set_up):
            self._send(direction, ms, [frame], length, kind, lost=at in lost)
        if asks is not None:
            self.up(asks, writers.stream(0, 30, fin=True), length=70)

    def up(self, ms: float, *frames: dict[str, Any], length: int = 42) -> None:
        """One packet of the client."""
        self._send("up", ms, list(frames), length)

    def down(self, ms: float, offset: int, size: int = 1200, *, fin: bool = False, stream: int = 0, **how: Any) -> None:
        """One packet of the server with bytes of a response; `how` says whether it is lost, how long its way is, and
        how early its sender's log has it."""
        self._send("down", ms, [writers.stream(offset, size, fin=fin, stream_id=stream)], size + 40, **how)

    def tell(self, ms: float, *frames: dict[str, Any]) -> None:
        """One packet of the server without data."""
        self._send("down", ms, list(frames), 42)

    def probe(self, ms: float, length: int) -> None:
        """One packet of the server that looks for the path's MTU."""
        self._send("down", ms, [{"frame_type": "ping"}, {"frame_type": "padding"}], length)

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
        *,
        lost: bool = False,
        way_ms: float = ONE_WAY_MS,
        service_ms: float = 0,
        early_ms: float = 0,
    ) -> None:
        """One packet, which its sender's log has so much before it leaves."""
        number = self._numbers.get((direction, kind), 0)
        self._numbers[direction, kind] = number + 1
        self.scene.send(direction, ms, writers.udp(direction, length), lost=lost, way_ms=way_ms, service_ms=service_ms)
        logs = (self.scene.client_qlog, self.scene.server_qlog)
        sender, receiver = logs if direction == "up" else logs[::-1]
        assert sender
        assert receiver
        sender.packet("sent", ms - early_ms, number, length, frames, kind)
        if not lost:
            receiver.packet("received", ms + way_ms, number, length, frames, kind)


class Tcp:
    """An HTTP/2 response after a set-up of 41 ms, whose request arrives at 51 ms; segments are counted from 0."""

    def __init__(
        self, *, syn_at: tuple[float, ...] = (0,), syn_ack_at: tuple[float, ...] = (10,), hello_again_ms: float = 0
    ) -> None:
        self.scene = scene = Scene("h2")
        events = [("up", at, at < syn_at[-1] and len(syn_ack_at) == 1) for at in syn_at]
        events += [("down", at, at < syn_ack_at[-1]) for at in syn_ack_at]
        for direction, at, lost in sorted(events, key=lambda event: event[1]):
            up = direction == "up"
            packet = writers.tcp("up", 7, flags=2) if up else writers.tcp("down", 0, ack=8, flags=2)
            scene.send(direction, at, packet, lost=lost)
        self.shift = shift = syn_ack_at[-1] - 10
        scene.send("up", shift + 20, writers.tcp("up", 8, writers.tls(22, 200), ack=1))
        hello = writers.tcp("down", 1, writers.tls(22, 100), ack=208)
        scene.send("down", shift + 30, hello, lost=bool(hello_again_ms))
        if hello_again_ms:
            self.shift = shift = shift + hello_again_ms
            scene.send("down", shift + 30, hello)
        scene.send("up", shift + 41, writers.tcp("up", 208, writers.tls(20, 6) + writers.tls(23, 58), ack=101))

    def up(self, ms: float, number: int, *, lost: bool = False) -> None:
        """One segment of an upload."""
        self.scene.send(
            "up", self.shift + ms, writers.tcp("up", 272 + SEGMENT * number, bytes(SEGMENT), ack=101), lost=lost
        )

    def receipt(self, ms: float, segments: int) -> None:
        """The server's acknowledgment of that many segments of an upload."""
        self.scene.send("down", self.shift + ms, writers.tcp("down", 101, ack=272 + SEGMENT * segments))

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


def upload_rows(ms: float) -> list[dict[str, Any]]:
    """The row of http_requests of an upload whose last byte came to the server at an instant."""
    row = {"source": "raw/server.pcapng", "vantage": "server", "method": "PUT", "stream_id": 0}
    return [row | {"time_ns": ns(22), "send_end_ns": ns(ms)}]


def object_rows(stream: int, left_ms: float, begun_ms: float, sent_ms: float) -> list[dict[str, Any]]:
    """Rows of http_requests of one object of several, at both ends: asked for, and answered, at these instants."""
    common = {"method": "GET", "status": 200, "stream_id": stream}
    client = common | {"source": "raw/client.pcapng", "vantage": "client", "time_ns": ns(left_ms)}
    client |= {"send_start_ns": ns(left_ms), "send_end_ns": ns(left_ms), "headers_ns": ns(begun_ms + 10)}
    server = common | {"source": "raw/server.pcapng", "vantage": "server", "time_ns": ns(left_ms + 10)}
    server |= {"send_start_ns": ns(left_ms + 10), "send_end_ns": ns(left_ms + 10), "headers_ns": ns(begun_ms)}
    return [client | {"last_byte_ns": ns(sent_ms + 10)}, server | {"last_byte_ns": ns(sent_ms)}]


def step_row(ms: float, step: str) -> dict[str, Any]:
    """A row of handshake: what came to the client."""
    row = {"source": "raw/client.sqlog", "vantage": "client", "transport": "quic", "direction": "down"}
    return row | {"time_ns": ns(ms), "step": step}


_LOGS = {"server": "raw/server.sqlog", "client": "raw/client.sqlog"}


def metrics_row(ms: float, window: int, in_flight: int, end: str = "server") -> dict[str, Any]:
    """A row of transport_metrics of a QUIC sender's log."""
    row = {"source": _LOGS[end], "vantage": end, "transport": "quic", "estimate": False}
    return row | {"time_ns": ns(ms), "cwnd_bytes": window, "bytes_in_flight": in_flight}


def timer_row(ms: float, timer: str) -> dict[str, Any]:
    """A row of timers: one of a QUIC server's that ended."""
    row = {"source": "raw/server.sqlog", "vantage": "server", "transport": "quic", "estimate": False}
    return row | {"time_ns": ns(ms), "timer": timer, "event": "expired"}


def loss_row(ms: float, number: int, rule: str) -> dict[str, Any]:
    """A row of losses of a QUIC server's log."""
    row = {"source": "raw/server.sqlog", "vantage": "server", "transport": "quic", "estimate": False}
    row |= {"packet_type": "1RTT", "direction": "down"}
    return row | {"time_ns": ns(ms), "packet_number": number, "rule": rule}


def sample_row(ms: float, *, end: str = "server", **values: Any) -> dict[str, Any]:
    """A row of tcp_info of one end."""
    usual = {"ca_state": "open", "snd_ssthresh": 0x7FFFFFFF, "snd_cwnd": 10, "rwnd_limited_us": 0}
    usual |= {"sndbuf_limited_us": 0, "notsent_bytes": 100_000, "data_segs_out": 1}
    row = {"source": f"raw/{end}.tcpinfo", "vantage": end, "connection": CONNECTION, "time_ns": ns(ms)}
    return row | usual | values


def limit_row(
    ms: float, scope: str, limit: int, stream_id: int | None = None, *, of: str = "server", way: str = "down"
) -> dict[str, Any]:
    """A row of flow_control: what may be sent, or opened, one way, by the log of one end."""
    row = {"source": _LOGS[of], "vantage": of, "transport": "quic", "event": "limit"}
    row |= {"direction": way, "scope": scope, "limit": limit, "stream_id": stream_id}
    return row | {"time_ns": ns(ms)}


def blocked_row(ms: float, state: str, reason: str | None, *, old: str | None = None) -> dict[str, Any]:
    """A row of blocked: the server's own word."""
    row = {"source": "raw/server.sqlog", "vantage": "server", "transport": "quic", "direction": "down"}
    return row | {"time_ns": ns(ms), "scope": "connection", "new_state": state, "reason": reason, "old_state": old}
