# SPDX-License-Identifier: Apache-2.0
"""Captures between client and server: the account is the client's, wherever on the path they were taken."""

from __future__ import annotations

import gzip
import json
import struct
from pathlib import Path
from typing import Any

import pytest

from quiclab.cli.main import main
from quiclab.model.errors import ExitCode

_HERE = Path(__file__).parents[2] / "cli" / "recordings"
_PACKET = 6
"""Type of pcapng's blocks with a packet."""
_CLIENT = bytes((10, 77, 0, 1))
_ROUND_TRIP_MS = 30
"""Base round trip of the recordings' path."""


def _moved(folder: Path, name: str, ms: float, queue_bit_per_s: float | None = None) -> Path:
    """The client's capture as at a point `ms` away from it: its packets pass later there, the server's earlier. Where
    the bottleneck is behind that point, those of one burst have passed at once."""
    content, blocks, at = gzip.decompress((_HERE / f"{name}.pcapng.gz").read_bytes()), [], 0
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        block, at = content[at : at + length], at + length
        if kind == _PACKET:
            high, low = struct.unpack_from("<II", block, 12)
            up = block[28 + 12 : 28 + 16] == _CLIENT
            moved = (high << 32 | low) + round(ms * 1e6) * (1 if up else -1)
            block = block[:12] + struct.pack("<II", moved >> 32, moved & 0xFFFFFFFF) + block[20:]
            blocks.append((moved, block))
        else:
            blocks.append((-1, block))
    if queue_bit_per_s:
        blocks = _bursts(blocks, queue_bit_per_s)
    file = folder / f"{name}-{ms:g}.pcapng"
    file.write_bytes(b"".join(block for _, block in sorted(blocks, key=lambda each: each[0])))
    return file


def _bursts(blocks: list[tuple[int, bytes]], bit_per_s: float) -> list[tuple[int, bytes]]:
    """Packets that came one service after another have passed at the instant of the first."""
    found, first, last = [], 0, -(10**18)
    for at, block in sorted(blocks, key=lambda each: each[0]):
        (size,) = struct.unpack_from("<I", block, 24) if at >= 0 else (0,)
        if at < 0 or block[28 + 12 : 28 + 16] == _CLIENT or size < 1000:
            found.append((at, block))
            continue
        if at - last > 1.5 * size * 8e9 / bit_per_s:
            first = at
        last = at
        found.append((first, block[:12] + struct.pack("<II", first >> 32, first & 0xFFFFFFFF) + block[20:]))
    return found


def _told(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["explain", *words, "--json"]) == ExitCode.OK
    return json.loads(capsys.readouterr().out)


def _spans(told: Any) -> dict[str, tuple[float, float, float]]:
    rows = (*told["parts"], told["total"])
    return {each["part"]: tuple(each["time"][key] for key in ("least_ms", "time_ms", "most_ms")) for each in rows}


@pytest.mark.parametrize("ms", [1, 5, 10, 14.5])
def test_tcp_from_any_point_is_what_the_client_sees(
    ms: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each part within what is stated, and the whole within the time in which a kernel answers."""
    at_client = _spans(_told(capsys, str(_HERE / "h2.pcapng.gz")))
    told = _told(capsys, str(_moved(tmp_path, "h2", ms)))
    recording = told["recording"]
    assert recording["level"] == "E5"
    assert recording["client_round_trip_ms"] == pytest.approx(2 * ms, abs=0.3)
    assert recording["server_round_trip_ms"] == pytest.approx(_ROUND_TRIP_MS - 2 * ms, abs=2)
    spans = _spans(told)
    assert spans.keys() == at_client.keys()
    for part, (least, time, most) in spans.items():
        assert least - 0.1 <= at_client[part][1] <= most + 0.1, part
        assert time == pytest.approx(at_client[part][1], abs=1), part
    for each in told["parts"][:2]:
        assert 0 < each["client_side_ms"] < each["time"]["time_ms"], each
    # Two round trips of the handshake and one of the request cross each side.
    assert told["parts"][0]["client_side_ms"] == pytest.approx(4 * ms, abs=3)
    assert told["parts"][1]["client_side_ms"] == pytest.approx(2 * ms, abs=0.3)


@pytest.mark.parametrize("ms", [6, 10, 14])
def test_quic_from_between_has_no_parts_within_its_answer(
    ms: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing shows if packets waited behind the capture; what is unsure has the client's own times in it."""
    at_client = _spans(_told(capsys, str(_HERE / "h3.pcapng.gz")))
    answer = [sum(at_client[part][at] for part in ("arriving", "waits")) for at in range(3)]
    told = _told(capsys, str(_moved(tmp_path, "h3", ms)))
    recording, spans = told["recording"], _spans(told)
    assert recording["level"] == "E5"
    assert 2 * ms <= recording["client_round_trip_ms"] < 2 * ms + 5
    assert [*spans] == ["set_up", "request", "answer", "total"]
    assert spans["answer"][0] <= answer[1] <= spans["answer"][2]
    for part in ("set_up", "request", "total"):
        assert spans[part][0] - 0.1 <= at_client[part][1] <= spans[part][2] + 0.1, part
    assert not recording["end_is_shown"]


def test_packets_that_wait_behind_the_capture_are_told_by_acknowledgments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bottleneck is on the client's side: the server's bursts pass at once, and no longer show a rate."""
    at_client = _spans(_told(capsys, str(_HERE / "h2.pcapng.gz")))
    told = _told(capsys, str(_moved(tmp_path, "h2", 10, queue_bit_per_s=4e6)))
    spans = _spans(told)
    assert told["recording"]["path_rate_bit_per_s"] == pytest.approx(4e6, rel=0.1)
    for part, (least, _, most) in spans.items():
        assert least - 0.1 <= at_client[part][1] <= most + 0.1, part


def test_a_clients_own_capture_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A capture so near that an end answers as fast is none either."""
    for file in (_HERE / "h2.pcapng.gz", _HERE / "h3.pcapng.gz", _moved(tmp_path, "h2", 0.2)):
        recording = _told(capsys, str(file))["recording"]
        assert recording["level"] == "E2"
        assert recording["client_round_trip_ms"] is None


def test_a_capture_at_the_server_is_the_other_extreme(capsys: pytest.CaptureFixture[str]) -> None:
    """A transfer from its other end has the account that the client's capture has."""
    at_client = _spans(_told(capsys, str(_HERE / "h2.pcapng.gz")))
    told = _told(capsys, str(_HERE / "h2-at-server.pcapng.gz"))
    assert told["recording"]["server_round_trip_ms"] < 1
    for part, (least, time, most) in _spans(told).items():
        assert time == pytest.approx(at_client[part][1], abs=2), part
        assert least - 0.1 <= at_client[part][1] <= most + 0.1, part
    assert main(["explain", str(_HERE / "h2-at-server.pcapng.gz")]) == ExitCode.OK
    assert "a capture at the server, 30.3 ms from the client" in " ".join(capsys.readouterr().out.split())


def test_two_captures_from_between_differ_as_those_of_their_client(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The words say where each was taken; one of an end beside it is refused."""
    h2, h3 = (str(_moved(tmp_path, name, 10)) for name in ("h2", "h3"))
    here = _told(capsys, str(_HERE / "h2.pcapng.gz"), str(_HERE / "h3.pcapng.gz"))["total"]["difference"]["time_ms"]
    difference = _told(capsys, h2, h3)["total"]["difference"]
    assert difference["least_ms"] <= here <= difference["most_ms"]
    page = tmp_path / "why.html"
    assert main(["explain", h2, h3, "-o", str(page)]) == ExitCode.OK
    words = " ".join(capsys.readouterr().out.split())
    for text in (words, " ".join(page.read_text(encoding="utf-8").split())):
        assert "a capture between the ends, 20.0 ms from the client" in text
    assert main(["explain", h2, str(_HERE / "h3.pcapng.gz")]) == ExitCode.SPEC
    assert "these recordings are unlike" in capsys.readouterr().err


def test_acknowledgments_that_come_together_show_no_rate(capsys: pytest.CaptureFixture[str]) -> None:
    """A client that reads several packets at once acknowledges them at once: 20 Mbit/s looked like 591."""
    recording = _told(capsys, str(_HERE / "bunched-server.pcap.gz"))["recording"]
    assert recording["server_round_trip_ms"] < 1
    assert recording["path_rate_bit_per_s"] is None
    assert recording["path_rate_high_bit_per_s"] is None
