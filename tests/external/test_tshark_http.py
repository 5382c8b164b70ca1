# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 and HTTP/3 of real programs, decoded from the captures of both ends, against tshark."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from http_by_tshark import Frame, Frames, http2_frames, http3_frames
from plain_captures import capture_at
from stack_study import are_installed, need, run_arms

from quiclab.logs.decoders import Context, End, decoder_of
from quiclab.model.study import Protocol

pytestmark = [pytest.mark.netns, pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")]

ENDS: tuple[End, ...] = ("client", "server")
Pair = tuple[Protocol, str, str]
DAY: tuple[Pair, ...] = (
    ("h2", "nghttp", "caddy"),
    ("h2", "chromium", "nginx"),
    ("h3", "curl-cffi", "caddy"),
    ("h3", "aioquic", "aioquic"),
    ("h3", "quiche", "quiche"),
)
NIGHT: tuple[Pair, ...] = (
    ("h2", "curl-cffi", "caddy"),
    ("h2", "curl", "nginx"),
    ("h2", "quic-go", "quic-go"),
    ("h3", "curl", "nginx"),
    ("h3", "ngtcp2", "ngtcp2"),
    ("h3", "chromium", "caddy"),
    ("h3", "quic-go", "quic-go"),
    ("h3", "quinn", "quinn"),
)


@dataclass(frozen=True)
class Study:
    """The trials of all arms whose programs are installed."""

    folder: Path
    trials: dict[str, dict[str, Any]]


def _arm(protocol: Protocol, client: str, server: str) -> str:
    return f"{protocol}-{client}-{server}"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """One trial of each pair of every push."""
    return _study(tmp_path_factory.mktemp("tshark-http"), DAY)


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """One trial of each other pair."""
    return _study(tmp_path_factory.mktemp("tshark-http-night"), NIGHT)


def _study(folder: Path, pairs: Iterable[Pair]) -> Study:
    arms = {
        _arm(protocol, client, server): f'protocol = "{protocol}"\nclient = "{client}"\nserver = "{server}"'
        for protocol, client, server in pairs
        if are_installed(client, server)
    }
    return Study(folder, run_arms(folder, arms, "300 KB"))


@pytest.mark.parametrize(("protocol", "client", "server"), DAY)
def test_frames_are_those_of_tshark(study: Study, protocol: Protocol, client: str, server: str) -> None:
    """Same connections and streams, and in each the same frames: types, lengths, ends, values and header fields."""
    need(("client", client), ("server", server))
    _compare(study, protocol, study.trials[_arm(protocol, client, server)])


@pytest.mark.matrix
@pytest.mark.parametrize(("protocol", "client", "server"), NIGHT)
def test_frames_of_other_pairs(others: Study, protocol: Protocol, client: str, server: str) -> None:
    """One pair of each kind is compared on every push."""
    need(("client", client), ("server", server))
    _compare(others, protocol, others.trials[_arm(protocol, client, server)])


@pytest.mark.matrix
def test_frames_of_firefox(tmp_path: Path) -> None:
    """It is slow to start."""
    need(("client", "firefox"), ("server", "caddy"), ("server", "nginx"))
    pairs: tuple[tuple[Protocol, str], ...] = (("h2", "caddy"), ("h3", "nginx"))
    arms = {protocol: f'protocol = "{protocol}"\nclient = "firefox"\nserver = "{server}"' for protocol, server in pairs}
    study = Study(tmp_path, run_arms(tmp_path, arms, "300 KB"))
    for protocol, _ in pairs:
        _compare(study, protocol, study.trials[protocol])


def _compare(study: Study, protocol: Protocol, trial: dict[str, Any]) -> None:
    assert trial["status"] == "verified", trial["reason"]
    (raw,) = (study.folder / "study").glob(f"trials/{trial['trial_id']}*/raw")
    for end in ENDS:
        capture = capture_at(raw, end)
        read = http2_frames if protocol == "h2" else http3_frames
        expected = read(capture, raw / "keys.log", trial["server_port"])
        assert any(frame.fields for streams in expected for frames in streams.values() for frame in frames)
        assert _plain(_decoded(capture, raw / "keys.log", end)) == _plain(expected)


def _plain(connections: list[Frames]) -> list[Frames]:
    return [{key: frames for key, frames in sorted(streams.items()) if frames} for streams in connections]


def _decoded(capture: Path, key_log: Path, end: End) -> list[Frames]:
    decoder = decoder_of(capture)
    assert decoder is not None
    table = decoder.decode(capture, Context(vantage=end, key_logs=(key_log,))).tables["http_frames"]
    whole = table.filter(pl.col("last_byte_ns").is_not_null())
    connections: dict[str, Frames] = {}
    for row in whole.iter_rows(named=True):
        streams = connections.setdefault(row["connection"], {})
        streams.setdefault((row["direction"], row["stream_id"] or 0), []).append(_frame(row))
    return list(connections.values())


def _frame(row: dict[str, Any]) -> Frame:
    detail = json.loads(row["detail"] or "{}")
    fields = tuple((name, value) for name, value in detail.get("fields", ()))
    tells_value = row["frame_type"] in ("rst_stream", "goaway", "window_update") and row["http_version"] == "HTTP/2"
    return Frame(
        row["frame_type"],
        row["length_bytes"],
        row["end_stream"],
        row["value"] if tells_value else None,
        fields or None,
    )
