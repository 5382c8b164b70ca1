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
from quiclab.logs.exports._choosing import chosen
from quiclab.logs.exports._qlog_events import TABLES_WRITTEN, Instant, Teller
from quiclab.logs.exports._qlog_frames import Json
from quiclab.logs.exports._tables import Row, in_order
from quiclab.model.errors import DecodeError

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
    """True if to write qlog 0.3 instead of the current drafts."""

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


# Events of the current drafts in the words of qlog 0.3 (draft-ietf-quic-qlog-main-schema-02, -quic-events-01,
# -h3-events-01), which tools such as qvis still need.
_CATEGORIES = {
    "connectivity": "connection_started connection_closed",
    "transport": "version_information alpn_information parameters_set parameters_restored packet_sent "
    "packet_received packet_dropped packet_buffered",
    "recovery": "packet_lost congestion_state_updated",
}
_NAMES = {f"quic:{name}": f"{category}:{name}" for category, names in _CATEGORIES.items() for name in names.split()} | {
    "quic:frames_created": "transport:frames_processed",
    "quic:frames_parsed": "transport:frames_processed",
    "quic:recovery_metrics_updated": "recovery:metrics_updated",
    "quic:timer_updated": "recovery:loss_timer_updated",
    "http3:parameters_set": "http:parameters_set",
    "http3:frame_created": "http:frame_created",
    "http3:frame_parsed": "http:frame_parsed",
    "http3:stream_type_set": "http:stream_type_set",
}
_MEMBERS = {
    "initiator": "owner",
    "connection_error": "connection_code",
    "application_error": "application_code",
}
_TIMERS = {"pto": "pto", "ack": "ack", "loss_timeout": "ack"}
"""Names of the timers in 0.3; `loss_timeout` is the time threshold's (RFC 9002 section 6.1.2)."""


def event_of_03(name: str, data: Json) -> tuple[str, Json] | None:
    """Name and data of an event in 0.3; None if 0.3 has no such event."""
    renamed = _NAMES.get(name)
    if renamed is None:
        return None
    if name == "quic:timer_updated":
        if data.get("timer_type") not in _TIMERS:
            return None
        return renamed, data | {"timer_type": _TIMERS[data["timer_type"]]}
    if name == "quic:connection_started":
        return renamed, _ends(data)
    told = {_MEMBERS.get(member, member): value for member, value in data.items()}
    if "frames" in told:
        told["frames"] = [_frame(frame) for frame in told["frames"]]
    return renamed, told


def _ends(data: Json) -> Json:
    told: Json = {}
    for end, way in (("local", "src"), ("remote", "dst")):
        known = data.get(end, {})
        for member in ("ip", "port"):
            value = known.get(f"{member}_v4", known.get(f"{member}_v6"))
            if value is not None:
                told[f"{way}_{member}"] = value
        if known.get("connection_ids"):
            told[f"{way}_cid"] = known["connection_ids"][0]
    return told


def _frame(frame: Json) -> Json:
    """Convert a frame: the length of its data is a member of its own, and a range has two ends even for one packet."""
    told = dict(frame)
    length = frame.get("raw", {}).get("payload_length")
    if length is not None:
        told["length"] = length
    if "acked_ranges" in frame:
        told["acked_ranges"] = [[each[0], each[-1]] for each in frame["acked_ranges"]]
    return told


# Traces in tables: one connection as one source saw it, with the clock of its times.
_KEY = ("source", "connection", "vantage")
_OF_QUIC = {
    "packets": pl.col("transport") == "quic",
    "transport_metrics": pl.col("transport") == "quic",
    "frames": pl.lit(value=True),
    "http_frames": pl.col("http_version") == "HTTP/3",
}
"""Tables that show a QUIC connection, each with a condition for the rows that do."""


@dataclass(frozen=True)
class Clock:
    """Facts about a source's times."""

    placed: bool = False
    """True if the times are on the clock that the sources share."""
    realtime: bool = False
    """True if the times are dates."""
    uncertainty_ns: int | None = None
    """Uncertainty of the times; None where the clock is not placed."""
    resolution_ns: int = 1
    """Step of the times."""
    dialect: str = "tables"
    """Kind of the source, as words."""


@dataclass(frozen=True)
class Trace:
    """Rows that become one qlog."""

    source: str
    connection: str
    vantage: str | None
    zero_ns: int
    """Instant that counts as 0, before which nothing is: the same for all traces whose clock is placed."""
    clock: Clock

    def rows(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """Rows of a table that belong to the trace."""
        return table.filter(
            pl.col("source") == self.source,
            pl.col("connection") == self.connection,
            pl.col("vantage").eq_missing(pl.lit(self.vantage, pl.String)),
        )


def traces(tables: Tables, choice: Choice) -> list[Trace]:
    """All chosen traces. Raises SpecError for a choice that fits none, DecodeError if there is none to choose from."""
    found = _found(tables)
    if not found.height:
        raise DecodeError(
            f"there is no QUIC connection to write{_what_there_is(tables)}", "see `quiclab export --help`"
        )
    wanted = chosen(found.lazy(), choice).collect()
    clocks = _clocks(tables)
    known = wanted.filter(pl.col("source").is_in([name for name, clock in clocks.items() if clock.placed]))
    shared_zero_ns: int = known["first_ns"].min()  # type: ignore[assignment]
    result = []
    for row in wanted.iter_rows(named=True):
        clock = clocks.get(row["source"], Clock())
        zero_ns = shared_zero_ns if clock.placed else row["first_ns"]
        result.append(Trace(**{name: row[name] for name in _KEY}, zero_ns=zero_ns, clock=clock))
    return result


def _found(tables: Tables) -> pl.DataFrame:
    """Every trace, with the first instant of all that is written of it; in the order of names."""
    shown = [tables[name].filter(of_quic).select(_KEY).unique() for name, of_quic in _OF_QUIC.items()]
    instants = [tables[name].group_by(_KEY).agg(first_ns=pl.col("time_ns").min()) for name in TABLES_WRITTEN]
    first = pl.concat(instants).group_by(_KEY).agg(pl.col("first_ns").min())
    together = pl.concat(shown).unique().join(first, on=_KEY, nulls_equal=True)
    return together.sort("connection", "vantage", "source").collect(engine="streaming")


def _what_there_is(tables: Tables) -> str:
    tcp = tables["packets"].filter(pl.col("transport") == "tcp").select(pl.col("connection").unique()).collect()
    if tcp.height:
        some = ", ".join(tcp["connection"].sort().head(3))
        return f", only TCP: {some}{' and more' if tcp.height > 3 else ''}"
    sources = tables["sources"].select("source", "format").unique().sort("source").head(3).collect()
    some = ", ".join(f"{name} ({kind})" for name, kind in sources.iter_rows())
    return f" in {some}" if some else ""


def _clocks(tables: Tables) -> dict[str, Clock]:
    """Clock of each source; a source with a clock for each connection is placed if all of them are."""
    rows = tables["sources"].collect()
    # Where a log with dates serves as the study's clock, all sources that were joined to it have dates.
    by_date = rows.filter(pl.col("placed_by") == "reference", pl.col("clock") == "realtime").height > 0
    clocks = {}
    for (name,), own in rows.group_by("source", maintain_order=True):
        placed = own["placed_by"].null_count() == 0
        realtime = by_date if placed else own["clock"][0] == "realtime"
        uncertainty_ns = max(own["uncertainty_ns"], default=None) if placed else None
        words = f"{own['format'][0]} {own['dialect'][0]}".strip()
        clocks[str(name)] = Clock(placed, realtime, uncertainty_ns, own["resolution_ns"][0], words)
    return clocks
