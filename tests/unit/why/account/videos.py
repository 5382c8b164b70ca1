# SPDX-License-Identifier: Apache-2.0
"""Videos written by hand: one of DASH with a start and a stall, and one in a file. Times in ms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from decoders import writers
from unit.evidence.metrics.scenes import ONE_WAY_MS, ns
from unit.why.account.stories import CONNECTION, SEGMENT, Quic, Tcp, evidence_of_scene, object_rows

from quiclab.evidence.metrics import Evidence

DASH = {"name": "v/manifest.mpd", "file_bytes": None, "segment": {"ns": 2 * 10**9}, "length": {"ns": 20 * 10**9}}
FILE = {"name": "v/video.mp4", "file_bytes": 4 * SEGMENT, "length": {"ns": 4 * 10**9}}
EVENTS = (
    (-30, "requested", 0, 0), (73, "loadedmetadata", 0, 0), (80, "canplay", 0, 2000), (82, "first_frame", 1, 1999),
    (120, "waiting", 2000, 0), (165, "canplay", 2000, 2000), (168, "playing", 2000, 2000),
    (300, "waiting", 4000, 0), (320, "over", 4000, 0),
)  # fmt: skip


def event_rows(*events: tuple[float, str, float, float]) -> list[dict[str, Any]]:
    """Rows of player_events of (ms, name, place, ahead)."""
    source = {"source": "raw/client-player.json"}
    return [source | {"time_ns": ns(ms), "name": name, "position_ms": float(place), "ahead_ms": float(ahead)}
            for ms, name, place, ahead in events]  # fmt: skip


def stall_rows(*stalls: tuple[float, float, bool], cause: str = "network") -> list[dict[str, Any]]:
    """Rows of player_stalls of (ms, until, whether it went on)."""
    source = {"source": "raw/client-player.json", "cause": cause}
    return [source | {"time_ns": ns(ms), "duration_ns": ns(until) - ns(ms), "went_on": on} for ms, until, on in stalls]


def fetch_rows(name: str, stream: int, left: float, begun: float, sent: float) -> list[dict[str, Any]]:
    """Rows of http_requests of one file of the video, at both ends."""
    return [row | {"url": f"https://server.test/v/{name}"} for row in object_rows(stream, left, begun, sent)]


def dash(folder: Path, *, segment: str = "1-00001.m4s", jitter_ms: float = 0, **more: Any) -> Evidence:
    """The manifest comes at 43, the first segment, asked for at 50, at 72; the second, asked for at 100, is lost and
    comes at 160. With jitter it comes later by that, and a packet that is sent behind it comes at 161."""
    story = Quic()
    story.down(33, 0, fin=True)
    story.up(50, writers.stream(0, 30, fin=True, stream_id=4))
    story.down(61, 0, stream=4)
    story.down(62, 1200, fin=True, stream=4)
    story.up(100, writers.stream(0, 30, fin=True, stream_id=8))
    story.down(111, 0, fin=True, stream=8, lost=True)
    story.down(150, 0, fin=True, stream=8, way_ms=ONE_WAY_MS + jitter_ms)
    if jitter_ms:
        story.tell(151, {"frame_type": "ping"})
    scene = story.end(160 + jitter_ms, 4800)
    scene.extra["expected"] = {"video": DASH | more.pop("video", {})}
    rows = {
        "player_events": event_rows(*EVENTS),
        "player_stalls": stall_rows((120, 168, True), (300, 320, False)),
        "http_requests": [
            *fetch_rows("manifest.mpd", 0, 22, 33, 33),
            *fetch_rows(segment, 4, 50, 61, 62),
            *fetch_rows("2-00002.m4s", 8, 100, 111, 150 + jitter_ms),
        ],
    }
    return evidence_of_scene(scene, folder, **{**rows, **more})


def one_file(folder: Path, story: Tcp, *, video: dict[str, Any], ahead: float = 2000, **more: Any) -> Evidence:
    """Three segments of TCP come at 62, 64 and 90 after a set-up without a loss; the player says 2 ms later that it can
    play, and how much it has."""
    for ms, number in ((52, 0), (54, 1), (80, 2)):
        story.down(ms, number)
    late = story.shift
    scene = story.end(90, 3)
    scene.extra["expected"] = {"video": FILE | video}
    client, *_ = fetch_rows("video.mp4", 1, late + 41, late + 52, late + 80)
    known = {"headers_ns": ns(late + 62), "last_byte_ns": None, "connection": CONNECTION}
    rows = {
        "player_events": event_rows((-5, "requested", 0, 0), (late + 92, "playing", 0, ahead)),
        "http_requests": [client | known],
    }
    return evidence_of_scene(scene, folder, **{**rows, **more})
