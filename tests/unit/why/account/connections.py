# SPDX-License-Identifier: Apache-2.0
"""Transfers over two TCP connections written by hand, with what a browser tells of a page's load.

The way takes 10 ms in each direction; packets take time to serve where that is said. Connection A begins at 0 ms, B
where it is told; each sends its request 41 ms later, and the server has it at 51.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from decoders import writers
from trial_records import changed
from unit.evidence.metrics.scenes import ONE_WAY_MS, Scene, ns
from unit.why.account.stories import SEGMENT, evidence_of_scene

from quiclab.evidence.metrics import Evidence
from quiclab.model.client_account import ClientAccount
from quiclab.store.record_form import as_json

A, B = 40000, 40001
DOCUMENT, SCRIPT, IMAGE = "https://a.test/", "https://b.test/s.js", "https://a.test/i.png"
_TRACE = {"source": "raw/client-trace.json", "vantage": "client"}


def name(port: int) -> str:
    """The connection of a client's port."""
    return f"{writers.CLIENT}:{port}-{writers.SERVER}:443"


class Connections:
    """Two connections that share a link."""

    def __init__(self) -> None:
        self.scene = Scene("h2")
        self.rows: dict[str, list[dict[str, Any]]] = {"http_requests": [], "http_frames": [], "page_events": []}
        self._free = 0.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []

    def open(self, port: int, ms: float) -> None:
        """A set-up of 41 ms, whose last packet carries the request."""
        packets = (
            ("up", 0, writers.tcp("up", 7, flags=2, port=port)),
            ("down", 10, writers.tcp("down", 0, ack=8, flags=2, port=port)),
            ("up", 20, writers.tcp("up", 8, writers.tls(22, 200), ack=1, port=port)),
            ("down", 30, writers.tcp("down", 1, writers.tls(22, 100), ack=208, port=port)),
            ("up", 41, writers.tcp("up", 208, writers.tls(20, 6) + writers.tls(23, 58), ack=101, port=port)),
        )
        for way, after, packet in packets:
            self._later(partial(self.scene.send, way, ms + after, packet), ms + after)

    def up(self, port: int, ms: float, offset: int, *, lost: bool = False) -> None:
        """Another request."""
        packet = writers.tcp("up", 272 + offset, writers.tls(23, 20), ack=101, port=port)
        self._later(partial(self.scene.send, "up", ms, packet, lost=lost), ms)

    def down(
        self, port: int, ms: float, number: int, *, service: float = 0, stream: int = 1, lost: bool = False
    ) -> float:
        """A segment of an answer, of a stream; returns when it arrives."""
        left = max(ms, self._free) + service
        self._free = left
        packet = writers.tcp("down", 101 + SEGMENT * number, bytes(SEGMENT), ack=272, port=port)
        way = left - ms + ONE_WAY_MS
        self._later(partial(self.scene.send, "down", ms, packet, way_ms=way, service_ms=service, lost=lost), ms)
        frame = {"source": "raw/server.pcapng", "vantage": "server", "event": "sent", "direction": "down"}
        frame |= {"frame_type": "data", "length_bytes": SEGMENT - 9, "http_version": "HTTP/2", "stream_id": stream}
        self.rows["http_frames"].append(frame | {"connection": name(port), "time_ns": ns(ms), "last_byte_ns": ns(ms)})
        return left + ONE_WAY_MS

    def asked(
        self,
        port: int,
        url: str,
        left: float,
        begun: float,
        sent: float,
        done: float,
        *,
        stream: int | None = 1,
        came: float | None = None,
        headers: float | None = None,
    ) -> None:
        """What both captures show of an object: asked for, answered from, sent whole and there at these times."""
        common = {"method": "GET", "status": 200, "stream_id": stream, "url": url, "connection": name(port)}
        there = left + ONE_WAY_MS if came is None else came
        answered = begun + ONE_WAY_MS if headers is None else headers
        for end, asked_at, headers_at, last in (("client", left, answered, done), ("server", there, begun, sent)):
            row = {"source": f"raw/{end}.pcapng", "vantage": end, "time_ns": ns(asked_at)}
            row |= {"send_start_ns": ns(asked_at), "send_end_ns": ns(asked_at), "headers_ns": ns(headers_at)}
            self.rows["http_requests"].append(common | row | {"last_byte_ns": ns(last)})

    def told(self, url: str, ms: float, kind: str, initiator: str | None = None) -> None:
        """What the browser tells of a request."""
        row = {"url": url, "time_ns": ns(ms), "resource_type": kind, "initiator": initiator, "last_byte_ns": ns(500)}
        self.rows["http_requests"].append(_TRACE | row)

    def page(self, folder: Path, load_ms: float) -> Evidence:
        """The trial of a page whose navigation starts at -5 ms and whose load event fires at a time."""
        went = {"name": "navigationStart", "time_ns": ns(-5), "page": "F", "source": _TRACE["source"]}
        went |= {"detail": json.dumps({"data": {"documentLoaderURL": DOCUMENT}})}
        loaded = {"name": "loadEventStart", "time_ns": ns(load_ms), "page": "F", "source": _TRACE["source"]}
        self.rows["page_events"] += [went, loaded]
        self.scene.extra |= {"expected": {"page": {"resources": [{"url": DOCUMENT}]}}}
        evidence = self.evidence(folder)
        client = as_json(evidence.trial.client or ClientAccount()) | {"page": {"went_ns": ns(-6)}}
        return Evidence(evidence.tables, changed(evidence.trial, client=client))

    def evidence(self, folder: Path) -> Evidence:
        """The trial."""
        for _, _, send in sorted(self._events, key=lambda each: each[:2]):
            send()
        return evidence_of_scene(self.scene, folder, **self.rows)

    def _later(self, send: Callable[[], None], ms: float) -> None:
        """Packets are told connection by connection, and stand in the logs in the order of time."""
        self._events.append((ms, len(self._events), send))


def page_of_two(folder: Path) -> Evidence:
    """A document of two segments; the first leads to a script of another host, which waits for an image's in the queue.

    The script is there at 132.5 ms, and the load event fires at 140.
    """
    story = Connections()
    story.open(A, 0)
    story.down(A, 51, 0)
    story.open(B, 65)
    story.up(A, 66, 0)
    story.down(A, 100, 1)
    story.down(A, 116.5, 2, service=4, stream=3)
    story.down(B, 117, 0, service=2)
    story.asked(A, DOCUMENT, 41, 51, 100, 110)
    story.asked(A, IMAGE, 66, 116.5, 116.5, 130.5, stream=3)
    story.asked(B, SCRIPT, 106, 117, 117, 132.5)
    story.told(DOCUMENT, -4, "Document")
    story.told(IMAGE, 62, "Image", DOCUMENT)
    story.told(SCRIPT, 62, "Script", DOCUMENT)
    return story.page(folder, 140)


def two_after_each_other(folder: Path, *, at_once: int) -> Evidence:
    """Two objects of one segment, each over a connection of its own; the first is there at 61 ms, and the second's
    connection begins at 64 and brings it at 125."""
    story = Connections()
    for port, begun, stream in ((A, 0, 1), (B, 64, 1)):
        story.open(port, begun)
        story.down(port, begun + 51, 0, stream=stream)
        story.asked(port, f"https://a.test/{port}", begun + 41, begun + 51, begun + 51, begun + 61)
    story.scene.extra["expected"] = {
        "direction": "download", "objects": [{"name": str(A)}, {"name": str(B)}], "concurrency": at_once,
    }  # fmt: skip
    return story.evidence(folder)
