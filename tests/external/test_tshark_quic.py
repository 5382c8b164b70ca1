# SPDX-License-Identifier: Apache-2.0
"""QUIC of real programs, decoded from the captures of both ends, against tshark and against the programs' own logs."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from plain_captures import capture_at
from quic_by_tshark import by_tables, by_tshark, disagreements
from stack_study import are_installed, need, run_arms

from quiclab.logs.decoders import Context, End, decoder_of

pytestmark = [pytest.mark.netns, pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")]

ENDS: tuple[End, ...] = ("client", "server")
Trials = tuple[Path, dict[str, dict[str, Any]]]
DAY = (("ngtcp2", "ngtcp2"), ("quiche", "quiche"), ("quic-go", "quic-go"), ("chromium", "caddy"))
NIGHT = (("quinn", "quinn"), ("aioquic", "aioquic"), ("curl", "nginx"), ("curl-cffi", "caddy"))
LOSSY = 'loss = "1 %"\n'


def capture_of(raw: Path, end: End) -> dict[str, pl.DataFrame]:
    """The tables of one end's capture."""
    capture = capture_at(raw, end)
    decoder = decoder_of(capture)
    assert decoder is not None
    file = decoder.decode(capture, Context(vantage=end, key_logs=(raw / "keys.log",)))
    found = {finding.name for finding in file.findings if finding.severity != "info"}
    assert found <= {"trailing_bytes", "unused_keys", "missing_early_keys"}
    return file.tables


def _arm(client: str, server: str) -> str:
    return f'protocol = "h3"\nclient = "{client}"\nserver = "{server}"'


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Trials:
    """One trial of each pair of every push that is installed, with the folder that they are in."""
    return _study(tmp_path_factory.mktemp("tshark-quic"), DAY)


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Trials:
    """One trial of each other pair."""
    return _study(tmp_path_factory.mktemp("tshark-quic-night"), NIGHT)


def _study(folder: Path, pairs: Iterable[tuple[str, str]]) -> Trials:
    arms = {f"{client}-{server}": _arm(client, server) for client, server in pairs if are_installed(client, server)}
    return folder, run_arms(folder, arms, "300 KB", path=LOSSY)


def _raw(folder: Path, trial: dict[str, Any]) -> Path:
    assert trial["status"] == "verified", trial["reason"]
    return folder / "study" / "trials" / str(trial["trial_id"]) / "raw"


@pytest.mark.parametrize(("client", "server"), DAY)
def test_packets_are_those_of_tshark_and_of_the_logs(study: Trials, client: str, server: str) -> None:
    """Same packets and frames as tshark's; and the qlogs, where there are any, tell of no packet that we lack."""
    need(("client", client), ("server", server))
    folder, found = study
    _compare(_raw(folder, found[f"{client}-{server}"]))


@pytest.mark.matrix
@pytest.mark.parametrize(("client", "server"), NIGHT)
def test_packets_of_other_pairs(others: Trials, client: str, server: str) -> None:
    """As those of every push."""
    need(("client", client), ("server", server))
    folder, found = others
    _compare(_raw(folder, found[f"{client}-{server}"]))


@pytest.mark.matrix
def test_packets_of_firefox(tmp_path: Path) -> None:
    """It is slow to start, and is tested over a loopback with every push."""
    need(("client", "firefox"), ("server", "nginx"))
    arm = _arm("firefox", "nginx")
    _compare(_raw(tmp_path, run_arms(tmp_path, {"arm": arm, "again": arm}, "300 KB", path=LOSSY)["arm"]))


def _compare(raw: Path) -> None:
    for end in ENDS:
        tables = capture_of(raw, end)
        ours = by_tables(tables)
        assert len(ours) > 200
        assert disagreements(ours, by_tshark(capture_at(raw, end), raw / "keys.log")) == []
        for log in sorted(raw.glob(f"{end}-qlog/*")):
            assert missing(logged(log, end), tables) == []


def logged(log: Path, end: End) -> dict[str, pl.DataFrame]:
    """The tables of a qlog."""
    decoder = decoder_of(log)
    assert decoder is not None
    return decoder.decode(log, Context(vantage=end)).tables


def missing(log: dict[str, pl.DataFrame], capture: dict[str, pl.DataFrame]) -> list[tuple[Any, ...]]:
    """Acknowledged ranges that the program logged as sent and that the capture does not show."""
    if "acks" not in log:
        return []  # quinn's tells of its recovery only
    columns = ("packet_type", "packet_number", "first", "last")
    sent = [
        set(tables["acks"].filter(pl.col("event") == "sent", pl.col("kind") == "ack").select(columns).rows())
        for tables in (log, capture)
    ]
    return sorted(sent[0] - sent[1])
