# SPDX-License-Identifier: Apache-2.0
"""Logs with dates that no packet places: on one clock, with what is not known of it, in whatever order they come."""

from __future__ import annotations

import gzip
import json
import re
import struct
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from decoders import writers

from quiclab.logs.decoders import decode_files, find, finished
from quiclab.logs.decoders.sinks import InMemory
from quiclab.model.tables import TABLES

MS = 10**6
NETLOG = Path(__file__).parents[3] / "decoders/netlog/chromium-h2-padded.json.gz"
TICKS = int(re.search(rb'"timeTickOffset":"?(\d+)', gzip.decompress(NETLOG.read_bytes()))[1]) * MS + MS // 2  # type: ignore[index]
"""CLOCK_REALTIME − CLOCK_MONOTONIC of the machine that ran the browser, to half a millisecond."""
UNKNOWN_NS = 100 * MS
"""How far apart clocks of two machines may be."""


def netlog(ms_later: int = 0) -> bytes:
    """A browser's log, of a machine that was started so much later."""
    text = gzip.decompress(NETLOG.read_bytes()).decode()
    number = str((TICKS - MS // 2) // MS)
    return text.replace(number, str(int(number) + ms_later)).encode()


def har(date: str) -> bytes:
    """One request."""
    entry = {"startedDateTime": date, "request": {"method": "GET", "url": "https://a/"}, "response": {"status": 200}}
    return json.dumps(
        {"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": [entry]}}
    ).encode()


def pcap(at_ns: int) -> bytes:
    """One datagram that nothing opens."""
    packet = writers.udp("up", 30)
    head = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 101)
    return head + struct.pack("<IIII", at_ns // 10**9, at_ns % 10**9, len(packet), len(packet)) + packet


def decoded(
    folder: Path, files: dict[str, bytes], order: tuple[str, ...] | None = None, offset_ns: int | None = None
) -> tuple[dict[str, dict[str, Any]], dict[str, pl.DataFrame], set[tuple[str, str]]]:
    """Sources by name, all tables, and (file, finding)."""
    for name, content in files.items():
        (folder / name).write_bytes(content)
    sink = InMemory()
    account = decode_files(find((folder / name, name) for name in order or files), sink, offset_ns)
    told = account.tables()
    tables = {name: finished(name, sink, account).collect() for name, table in TABLES.items() if table.from_logs}
    return (
        {row["source"]: row for row in told["sources"].rows(named=True)},
        tables | told,
        {(name, each.name) for name, each in account.findings},
    )


FILES = {
    "client.pcap": pcap(TICKS + 1_000 * MS),
    "netlog.json": netlog(),
    "page.har": har("2026-11-23T09:00:00.000Z"),
    "server.pcap": pcap(TICKS + 1_050 * MS),
}


def test_the_order_makes_no_difference(tmp_path: Path) -> None:
    """Every table is the same, row by row, however the logs are named."""
    first = None
    for order in permutations(FILES):
        _, tables, _ = decoded(tmp_path, FILES, order)
        first = first or tables
        assert all(table.equals(first[name]) for name, table in tables.items())


def test_ticks_place_what_has_dates(tmp_path: Path) -> None:
    """A capture beside a NetLog, without a packet in common: within half a millisecond at the client's end."""
    sources, tables, findings = decoded(tmp_path, FILES)
    client, server = sources["client.pcap"], sources["server.pcap"]
    assert (sources["netlog.json"]["placed_by"], client["placed_by"]) == ("same_clock", "shared_realtime")
    assert client["offset_ns"] == -TICKS
    assert client["uncertainty_ns"] == MS
    times = dict(tables["ip_packets"].select("source", "time_ns").rows())
    assert times == {"client.pcap": 1_000 * MS, "server.pcap": 1_050 * MS}
    # Of the server's clock nothing is known but that it has a date.
    assert server["uncertainty_ns"] == MS + UNKNOWN_NS
    assert ("server.pcap", "clock_taken_as_set") in findings
    assert ("client.pcap", "clock_taken_as_set") not in findings
    # An archive is the browser's, too.
    assert sources["page.har"]["uncertainty_ns"] == MS + MS // 2


@pytest.mark.parametrize(
    ("name", "error_ns"), [("client.pcap", 0), ("server.pcap", UNKNOWN_NS), ("x.pcap", UNKNOWN_NS)]
)
def test_dates_are_one_clock(name: str, error_ns: int, tmp_path: Path) -> None:
    """An archive beside a capture: both have dates, which are one clock's where both are the client's."""
    sources, _, findings = decoded(tmp_path, {name: pcap(TICKS), "page.har": FILES["page.har"]})
    assert sources[name]["placed_by"] == "reference"
    assert (sources["page.har"]["placed_by"], sources["page.har"]["offset_ns"]) == ("shared_realtime", 0)
    assert sources["page.har"]["uncertainty_ns"] == MS // 2 + error_ns
    assert (("page.har", "clock_taken_as_set") in findings) == (error_ns > 0)
    assert ("page.har", "no_clock_offset") not in findings


def test_another_machines_ticks_are_not_the_studys(tmp_path: Path) -> None:
    """A NetLog of a machine that was started an hour later stands an hour later, and no more exact than dates are."""
    sources, tables, findings = decoded(tmp_path, {"netlog.json": netlog(3_600_000)}, offset_ns=TICKS)
    source = sources["netlog.json"]
    assert (source["placed_by"], source["offset_ns"]) == ("shared_realtime", 3600 * 10**9)
    assert source["uncertainty_ns"] > UNKNOWN_NS
    assert ("netlog.json", "clock_taken_as_set") in findings
    alone = decoded(tmp_path, {"netlog.json": netlog()})[1]["http_requests"]["time_ns"]
    assert set(tables["http_requests"]["time_ns"] - alone) == {3600 * 10**9}
