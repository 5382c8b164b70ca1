# SPDX-License-Identifier: Apache-2.0
"""Timers of a TCP sender, inferred from its capture, against the kernel's own counters."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from quiclab.logs.decoders import Context, FileTables, decoder_of

HERE = Path(__file__).parent
TRUTH = json.loads((HERE / "lossy-server.timers.json").read_text())
SEEN_LATE_NS = 25_000_000


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The server's."""
    path = tmp_path_factory.mktemp("capture") / "lossy.pcapng"
    path.write_bytes(lzma.decompress((HERE / "lossy-server.pcapng.xz").read_bytes()))
    return path


def decoded(path: Path, **context: Any) -> FileTables:
    """The capture as one that was taken where the context says."""
    decoder = decoder_of(path)
    assert decoder is not None
    return decoder.decode(path, Context(**context))


@pytest.mark.parametrize("timer", ["pto", "rto"])
def test_every_timer_that_the_kernel_counted_has_expired_in_the_tables(timer: str, capture: Path) -> None:
    """As many probe and retransmission timeouts as the kernel's, each at its time; all of them estimates."""
    timers = decoded(capture, vantage="server").tables["timers"].filter(pl.col("timer") == timer)
    told = timers.filter(pl.col("event") == "expired")["time_ns"].to_list()
    assert len(told) == len(TRUTH[timer])
    assert all(abs(ours - theirs) < SEEN_LATE_NS for ours, theirs in zip(told, TRUTH[timer], strict=True))
    assert timers["estimate"].all()


def test_a_timer_expires_when_it_was_set_to(capture: Path) -> None:
    """Every expiry has the row that set it; a retransmission timeout waits for at least Linux's 200 ms."""
    timers = decoded(capture, vantage="server").tables["timers"]
    was_set = timers.filter(pl.col("event") == "set")
    expired = timers.filter(pl.col("event") == "expired")
    ends = was_set["time_ns"] + (was_set["delta_ms"] * 1e6).round().cast(pl.Int64)
    assert ends.to_list() == expired["time_ns"].to_list()
    assert was_set.filter(pl.col("timer") == "rto")["delta_ms"].min() >= 200


def test_what_only_the_sender_shows_is_not_told_of_others(capture: Path) -> None:
    """At the receiver's end no timer is inferred; at an unknown end the table is said to be absent."""
    assert "timers" not in decoded(capture, vantage="client").tables
    unknown = decoded(capture)
    assert "timers" not in unknown.tables
    assert ("timers", None) in [(each.table, each.column) for each in unknown.absent]
