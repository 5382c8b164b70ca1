# SPDX-License-Identifier: Apache-2.0
"""Trials written by hand, small enough to compute every metric in the head. Times in ms, the first packet at 1000."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from decoders import writers
from trial_records import record

from quiclab.evidence.metrics import MetricRow, compute_trial, evidence_of
from quiclab.evidence.metrics.bytes_acknowledged import bytes_acknowledged
from quiclab.logs.decoders import decode_trial

ZERO_MS = 1000.0
ONE_WAY_MS = 10.0


def ns(ms: float) -> int:
    """An instant of a scene in ns."""
    return round((ZERO_MS + ms) * 1e6)


@dataclass
class Scene:
    """Both captures, both qlogs, the packet log and the client's own instants."""

    protocol: str
    client: writers.Capture = field(default_factory=lambda: writers.Capture("client"))
    server: writers.Capture = field(default_factory=lambda: writers.Capture("server"))
    client_qlog: writers.Qlog | None = None
    server_qlog: writers.Qlog | None = None
    log: list[bytes] = field(default_factory=list)
    request: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)

    def send(
        self,
        direction: str,
        ms: float,
        ip: bytes,
        *,
        lost: bool = False,
        way_ms: float = ONE_WAY_MS,
        service_ms: float = 0,
    ) -> None:
        """One packet over the link: it reaches the link at `ms` and the far end `way_ms` later, unless it is lost."""
        sender, receiver = (self.client, self.server) if direction == "up" else (self.server, self.client)
        index = sender.add(direction, ns(ms), ip, dropped="loss at entry" if lost else "")
        due_ns = 0 if lost else ns(ms + way_ms)
        codes = {"action": 1, "reason": 1} if lost else {"service_ns": round(service_ms * 1e6)}
        self.log.append(writers.record(direction, index, ns(ms), due_ns, size_bytes=len(ip), **codes))
        if not lost:
            receiver.add(direction, due_ns, ip, index=index)

    def lay_out(self, folder: Path) -> dict[str, Any]:
        """Write the artefacts; returns the trial.json."""
        raw = folder / "raw"
        raw.mkdir(exist_ok=True)
        (raw / "client.pcapng").write_bytes(self.client.bytes())
        (raw / "server.pcapng").write_bytes(self.server.bytes())
        (raw / "link.qplog").write_bytes(writers.packet_log(self.log))
        for name, qlog in (("client", self.client_qlog), ("server", self.server_qlog)):
            if qlog:
                (raw / f"{name}.sqlog").write_bytes(qlog.bytes())
        client = {"requests": [self.request] if self.request else [], "close_ns": ns(500)}
        trial = {"trial_id": "t1", "protocol": self.protocol, "client": client, **self.extra}
        (folder / "trial.json").write_text(json.dumps(trial))
        return trial

    def metrics(self, folder: Path) -> dict[str, MetricRow]:
        """Decode, then compute."""
        trial = self.lay_out(folder)
        return {row.name: row for row in compute_trial(folder, decode_trial(folder).tables, record(trial))}

    def acknowledged(self, folder: Path) -> list[tuple[float, int]]:
        """Rows of bytes_acknowledged."""
        trial = self.lay_out(folder)
        return bytes_acknowledged(evidence_of(decode_trial(folder).tables, record(trial))).rows()


def tcp_scene(isn: int = 2**32 - 150) -> Scene:
    """A response of 100 + 400 bytes in five segments; one is lost and comes again, and sequence numbers wrap.

    The SYN is lost once. Segment n of the body starts at offset 101 + 100 n.
    """
    scene = Scene("h2")
    segment = bytes(100)
    scene.send("up", 0, writers.tcp("up", 7, flags=2), lost=True)
    scene.send("up", 1000, writers.tcp("up", 7, flags=2))
    scene.send("down", 1010, writers.tcp("down", isn, ack=8, flags=2))
    scene.send("up", 1020, writers.tcp("up", 8, writers.tls(22, 200), ack=isn + 1))
    scene.send("down", 1030, writers.tcp("down", isn + 1, writers.tls(22, 100), ack=208))
    scene.send("up", 1041, writers.tcp("up", 208, writers.tls(20, 6) + writers.tls(23, 58), ack=isn + 101))
    for number in range(4):
        down = writers.tcp("down", isn + 101 + 100 * number, segment, ack=272)
        scene.send("down", 1051 + number, down, lost=number == 2)
    scene.send("up", 1061, writers.tcp("up", 272, ack=isn + 201))
    scene.send("up", 1062, writers.tcp("up", 272, ack=isn + 301))
    scene.send("up", 1064, writers.tcp("up", 272, ack=isn + 301, sack=(isn + 401, isn + 501)))
    scene.send("down", 1074, writers.tcp("down", isn + 301, segment, ack=272))
    scene.send("up", 1085, writers.tcp("up", 272, ack=isn + 501))
    scene.send("down", 1086, writers.tcp("down", isn + 501, bytes(30), ack=272, flags=1))
    scene.send("up", 1097, writers.tcp("up", 272, ack=isn + 532, flags=1))
    scene.request = {"start_ns": ns(-1), "first_byte_ns": ns(1061.5), "last_byte_ns": ns(1085.5), "body_bytes": 400}
    return scene


def quic_scene(*, server_log: bool = True) -> Scene:
    """A response of 300 bytes on stream 0 in three packets; the second is lost and its data comes in packet 5.

    The client's log counts whole milliseconds from a start of its own. The FIN stands in packet 4, which comes first.
    """
    scene = Scene("h3", client_qlog=writers.Qlog("client"), server_qlog=writers.Qlog("server") if server_log else None)
    assert scene.client_qlog
    crypto = {"frame_type": "crypto", "offset": 0, "length": 90}

    def up(ms: float, *packets: tuple[int, int, list[dict[str, Any]], str]) -> None:
        assert scene.client_qlog
        scene.send("up", ms, writers.udp("up", sum(length for _, length, _, _ in packets)))
        for number, length, frames, kind in packets:
            scene.client_qlog.packet("sent", int(ms), number, length, frames, kind)

    def down(ms: float, *packets: tuple[int, int, list[dict[str, Any]], str], lost: bool = False) -> None:
        assert scene.client_qlog
        scene.send("down", ms, writers.udp("down", sum(length for _, length, _, _ in packets)), lost=lost)
        for number, length, frames, kind in packets:
            if scene.server_qlog:
                scene.server_qlog.packet("sent", ms, number, length, frames, kind)
            if not lost:
                scene.client_qlog.packet("received", int(ms + ONE_WAY_MS), number, length, frames, kind)

    up(0, (0, 1200, [crypto], "initial"))
    down(10, (0, 151, [crypto], "initial"), (0, 1049, [crypto], "handshake"))
    up(
        21,
        (1, 60, [], "initial"),
        (0, 90, [crypto], "handshake"),
        (0, 1050, [writers.stream(0, 9, stream_id=2)], "1RTT"),
    )
    up(22, (1, 70, [writers.stream(0, 30, fin=True)], "1RTT"))
    down(32, (0, 50, [writers.stream(0, 10, stream_id=3)], "1RTT"))
    down(33, (1, 140, [writers.stream(0, 100)], "1RTT"))
    down(34, (2, 141, [writers.stream(100, 100)], "1RTT"), lost=True)
    down(35, (3, 140, [writers.stream(200, 100)], "1RTT"))
    down(36, (4, 45, [writers.stream(300, 0, fin=True)], "1RTT"))
    up(47, (2, 42, [writers.ack((3, 4), (0, 1))], "1RTT"))
    down(58, (5, 142, [writers.stream(100, 100)], "1RTT"))
    up(69, (3, 41, [writers.ack((3, 5), (0, 1))], "1RTT"))
    scene.request = {"start_ns": ns(-1), "first_byte_ns": ns(43.5), "last_byte_ns": ns(68.2), "body_bytes": 280}
    return scene
