# SPDX-License-Identifier: Apache-2.0
"""qlog as JSON text sequences (RFC 7464): one file for each connection as one source saw it.

Sources: draft-ietf-quic-qlog-main-schema-14, -quic-events-13, -h3-events-13 (July 2026); for 0.3 see `_qlog_03`.
"""

from __future__ import annotations

import heapq
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TextIO

import polars as pl

from quiclab.logs.exports._api import Choice, Tables, Written
from quiclab.logs.exports._qlog_03 import event_of_03
from quiclab.logs.exports._qlog_events import TABLES_WRITTEN, Instant, Teller
from quiclab.logs.exports._qlog_frames import Json
from quiclab.logs.exports._qlog_traces import Trace, traces
from quiclab.logs.exports._tables import Row, in_order

_EVENT_SCHEMAS = ["urn:ietf:params:qlog:events:quic-13", "urn:ietf:params:qlog:events:http3-13"]
_NS_PER_MS = 1e6
_DATES = range(253_402_300_800)
"""Seconds since 1970 that have a year of four digits."""
_COARSE_NS = 1_000_000
"""Step of a coarse clock, with which a program may log a packet and its frames at different steps."""
_MAX_NAME = 100
_SUFFIXES = re.compile(r"(\.(s?qlog|json|gz|zst))+$")
"""Endings of a file's name that the new name need not have."""


@dataclass(frozen=True)
class Qlog:
    """Packets with their frames, recovery, congestion control, parameters and HTTP/3 frames."""

    old: bool = False
    """Whether to write qlog 0.3 instead of the current drafts."""

    format = "qlog"
    writes = "one qlog (JSON-SEQ, .sqlog) for each QUIC connection and end, for qlog tools; as 0.3 for qvis"
    into_folder = True

    def write(self, tables: Tables, choice: Choice, out: Path) -> Written:
        """Write every chosen trace into the folder `out`; see `Export.write`."""
        written = Written()
        chosen = traces(tables, choice)
        for trace, name in zip(chosen, _names(chosen), strict=True):
            path = out / name
            written.files[path] = _write(trace, tables, path, written.left_out, old=self.old)
        return written


def _names(chosen: list[Trace]) -> list[str]:
    """File names from connection and end, and from the source where several saw the same."""
    short = [_plain(f"{trace.connection}_{trace.vantage or 'unknown'}") for trace in chosen]
    often = Counter(short)
    names = [
        name if often[name] == 1 else _plain(f"{name}_{_SUFFIXES.sub('', trace.source)}")
        for name, trace in zip(short, chosen, strict=True)
    ]
    seen: Counter[str] = Counter()
    result = []
    for name in names:
        seen[name] += 1
        result.append(f"{name}.sqlog" if seen[name] == 1 else f"{name}.{seen[name]}.sqlog")
    return result


def _plain(name: str) -> str:
    return re.sub(r"[^0-9A-Za-z._-]+", "-", name)[:_MAX_NAME].strip(".-")


def _write(trace: Trace, tables: Tables, path: Path, left_out: Counter[str], *, old: bool) -> int:
    """Write one trace; return the number of events."""
    own = {name: trace.rows(tables[name]) for name in TABLES_WRITTEN}
    if trace.clock.resolution_ns >= _COARSE_NS:
        own |= {name: _with_their_packets(own[name], own["packets"]) for name in ("frames", "acks")}
    kinds = own["packets"].select(pl.col("event").unique()).collect(engine="streaming")["event"]
    is_netlog = trace.clock.dialect.startswith("netlog")
    teller = Teller(left_out, losses_are_packets="lost" in kinds, whole_numbers=not is_netlog)
    events = 0
    with path.open("w", encoding="utf-8") as file:
        header = _header_of_03 if old else _header
        _record(file, header(trace, on_the_way="seen" in kinds))
        for time_ns, instant in _instants(own):
            for name, data, beside in teller.events(instant):
                time = (time_ns - trace.zero_ns) / _NS_PER_MS
                if old:
                    told = event_of_03(name, data)
                    if told is None:
                        left_out[f"events {name}"] += 1
                        continue
                    name, data = told
                events += 1
                _record(file, {"time": time, "name": name, "data": data, **beside})
    return events


def _with_their_packets(rows: pl.LazyFrame, packets: pl.LazyFrame) -> pl.LazyFrame:
    """Frames or acknowledged ranges, moved to the instant of the packet that carries them, where the log has it."""
    key = ("event", "packet_type", "packet_number")
    times = packets.group_by(key).agg(told_ns=pl.col("time_ns").first())
    joined = rows.join(times, on=key, how="left", maintain_order="left")
    return joined.with_columns(time_ns=pl.coalesce("told_ns", "time_ns")).drop("told_ns")


def _record(file: TextIO, content: Json) -> None:
    file.write(f"\x1e{json.dumps(content, separators=(',', ':'), ensure_ascii=False)}\n")


def _instants(tables: dict[str, pl.LazyFrame]) -> Iterator[tuple[int, Instant]]:
    """All rows in order of time, those of one instant together."""
    merged = heapq.merge(*(_labelled(name, rows) for name, rows in tables.items()), key=lambda each: each[0])
    for time_ns, rows in groupby(merged, key=lambda each: each[0]):
        instant: defaultdict[str, list[Row]] = defaultdict(list)
        for _, name, row in rows:
            instant[name].append(row)
        yield time_ns, instant


def _labelled(name: str, rows: pl.LazyFrame) -> Iterator[tuple[int, str, Row]]:
    for row in in_order(rows):
        yield row["time_ns"], name, row


def _header(trace: Trace, *, on_the_way: bool) -> Json:
    return {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "title": f"{trace.source}: {trace.connection}",
        "description": f"written by quiclab from {trace.clock.dialect}; {_exactness(trace)}",
        "trace": {
            "common_fields": {
                "group_id": trace.connection,
                "time_format": "relative_to_epoch",
                "reference_time": _reference_time(trace),
            },
            "vantage_point": _vantage_point(trace, on_the_way=on_the_way),
            "event_schemas": _EVENT_SCHEMAS,
        },
    }


def _header_of_03(trace: Trace, *, on_the_way: bool) -> Json:
    return {
        "qlog_version": "0.3",
        "qlog_format": "JSON-SEQ",
        "title": f"{trace.source}: {trace.connection}",
        "description": f"written by quiclab from {trace.clock.dialect}; {_exactness(trace)}",
        "trace": {
            "common_fields": {
                "ODCID": trace.connection,
                "time_format": "relative",
                "reference_time": trace.zero_ns / _NS_PER_MS if trace.clock.realtime else 0,
            },
            "vantage_point": _vantage_point(trace, on_the_way=on_the_way),
        },
    }


def _exactness(trace: Trace) -> str:
    if trace.clock.uncertainty_ns is None:
        return "its clock is its own"
    return f"times are within {trace.clock.uncertainty_ns} ns of the clock that all its logs share"


def _reference_time(trace: Trace) -> Json:
    seconds, ns = divmod(trace.zero_ns, 10**9)
    if trace.clock.realtime and seconds in _DATES:
        date = datetime.fromtimestamp(seconds, UTC)
        return {"clock_type": "system", "epoch": f"{date:%Y-%m-%dT%H:%M:%S}.{ns:09d}Z"}
    return {"clock_type": "monotonic", "epoch": "unknown"}


def _vantage_point(trace: Trace, *, on_the_way: bool) -> Json:
    """Vantage point of the trace; what was seen between the ends is told from the client's side: what goes up was
    sent."""
    if on_the_way:
        return {"name": trace.source, "type": "network", "flow": "client"}
    return {"name": trace.source, "type": trace.vantage or "unknown"}
