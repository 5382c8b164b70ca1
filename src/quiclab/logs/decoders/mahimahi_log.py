# SPDX-License-Identifier: Apache-2.0
"""Logs of Mahimahi's mm-link: what arrived, what could leave, what left and what was dropped."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from quiclab.logs.decoders._api import Clock, Context, FileTables, Finding, Take
from quiclab.logs.decoders._text import lines_of, refuse
from quiclab.model.tables import TABLES

_HEAD = b"# mahimahi mm-link"
_LINE = re.compile(r"(\d{1,13}) (?:([+#]) (\d{1,9})|(-) (\d{1,9}) (\d{1,13})|(d) (\d{1,9}) (\d{1,12}))\s*", re.ASCII)
_EVENTS = {"+": "arrival", "#": "opportunity", "-": "departure", "d": "drop"}
_DIRECTIONS = {"uplink": "up", "downlink": "down"}
_LARGEST = 1 << 42
"""Bound of times in milliseconds: the sum of two still fits into 64 bits of nanoseconds."""
_PORTION = 1 << 16
_NS_PER_MS = 1_000_000

_Row = tuple[int, str | None, str, int | None, int, int | None]


class MahimahiLog:
    """One direction of one link."""

    format = "mahimahi_log"
    versions = ("mm-link",)
    tables = ("link_events",)
    clock = "CLOCK_REALTIME where the log tells when its clock began (`init timestamp`), else its own start."

    def sniff(self, head: bytes) -> bool:
        """True if mm-link's comment comes first."""
        return head.startswith(_HEAD)

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """One row per line, in the order of the log. Raises DecodeError if no line is mm-link's."""
        rows: list[_Row] = []
        parts: list[pl.DataFrame] = []
        began_ms = bad = total = 0
        direction: str | None = None

        def hand_on() -> None:
            _, shift = _clock(began_ms, context)
            part = pl.DataFrame(rows, schema=TABLES["link_events"].decoder_schema, orient="row")
            part = part.with_columns(pl.col("time_ns") + shift)
            rows.clear()
            if take is None:
                parts.append(part)
            else:
                take("link_events", part)

        with lines_of(path) as lines:
            for line in lines:
                if line.startswith("#"):
                    direction = direction or next(
                        (way for name, way in _DIRECTIONS.items() if f"({name})" in line), None
                    )
                    if began := re.fullmatch(r"# init timestamp: (\d{1,13})", line, re.ASCII):
                        began_ms = min(int(began[1]), _LARGEST)
                elif (row := _row(line, direction)) is not None:
                    rows.append(row)
                    total += 1
                    if len(rows) == _PORTION:
                        hand_on()
                else:
                    bad += bool(line.strip())
        if rows:
            hand_on()
        if bad and not total:
            raise refuse(path, "one of mm-link's")
        clock, _ = _clock(began_ms, context)
        tables = {"link_events": pl.concat(parts)} if parts else {}
        findings = [Finding("malformed_line", "data_loss", bad, "a line that mm-link does not write")] if bad else []
        return FileTables(tables, tuple(findings), dialect="mm-link", clock=clock, resolution_ns=_NS_PER_MS)


def _row(line: str, direction: str | None) -> _Row | None:
    match = _LINE.fullmatch(line)
    if match is None or int(match[1]) >= _LARGEST:
        return None
    time_ns = int(match[1]) * _NS_PER_MS
    if match[2]:
        packets = None if match[2] == "#" else 1
        return time_ns, direction, _EVENTS[match[2]], packets, int(match[3]), None
    if match[4]:
        delay = min(int(match[6]), _LARGEST) * _NS_PER_MS
        return time_ns, direction, "departure", 1, int(match[5]), delay
    return time_ns, direction, "drop", int(match[8]), int(match[9]), None


def _clock(began_ms: int, context: Context) -> tuple[Clock, int]:
    """Clock of the times, and the shift in nanoseconds that brings them to it."""
    if not began_ms:
        return "own_start", 0
    if context.realtime_minus_monotonic_ns is None:
        return "realtime", began_ms * _NS_PER_MS
    return "monotonic", began_ms * _NS_PER_MS - context.realtime_minus_monotonic_ns
