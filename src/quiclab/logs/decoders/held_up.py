# SPDX-License-Identifier: Apache-2.0
"""Looks at what held programs up: waits for a processor (`run-delay.jsonl`), drops at UDP sockets
(`PLACE-udp-drops.jsonl`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from quiclab.logs.decoders._api import Context, FileTables, Finding, Take
from quiclab.logs.decoders._text import lines_of, read_json, refuse
from quiclab.model.tables import TABLES

_LATER = ("ran_ns", "held_ns", "longest_held_ns")
"""Keys that logs of earlier versions lack."""
_MOST = {pl.Int64: 2**62, pl.UInt64: 2**63, pl.UInt32: 2**32, pl.UInt16: 2**16}


class RunDelays:
    """One line for each look at a program that had waited since the look before."""

    format = "run_delay"
    versions = ("1",)
    tables = ("run_delays",)
    clock = "CLOCK_MONOTONIC of the machine that ran the trial."

    def sniff(self, head: bytes) -> bool:
        """True if the first key is the one of this format."""
        return head.startswith(b'{"run_delay": ')

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """One row per line. Raises DecodeError if the first line is none of the format's."""
        del take
        return _decoded(path, "run_delay", "run_delays", context)


class UdpDrops:
    """One line for each look at a socket that had dropped something since the look before."""

    format = "udp_drops"
    versions = ("1",)
    tables = ("udp_drops",)
    clock = "CLOCK_MONOTONIC of the machine that ran the trial."

    def sniff(self, head: bytes) -> bool:
        """True if the first key is the one of this format."""
        return head.startswith(b'{"udp_drops": ')

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """One row per line. Raises DecodeError if the first line is none of the format's."""
        del take
        return _decoded(path, "udp_drops", "udp_drops", context)


def _decoded(path: Path, key: str, table: str, context: Context) -> FileTables:
    rows, bad = [], 0
    with lines_of(path) as lines:
        header = _object(next(lines, ""))
        if header is None or header.get(key) != 1:
            raise refuse(path, f"a header with {key} 1")
        for line in lines:
            row = _row(_object(line), table)
            if row is not None:
                rows.append(row | {"vantage": context.vantage})
            else:
                bad += bool(line.strip())
    frame = pl.DataFrame(rows, schema=TABLES[table].decoder_schema)
    findings = (Finding("malformed_line", "data_loss", bad, "a line that was cut short or damaged"),) if bad else ()
    return FileTables({table: frame} if rows else {}, findings, dialect="version 1", clock="monotonic", resolution_ns=1)


def _object(line: str) -> Mapping[str, object] | None:
    try:
        told = read_json(line)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _row(told: Mapping[str, object] | None, table: str) -> dict[str, object] | None:
    """The line's values by column; None unless it has a fitting value for each that its version knows."""
    if told is None:
        return None
    row: dict[str, object] = {}
    for name, dtype in TABLES[table].decoder_schema.items():
        value = told.get("at_ns" if name == "time_ns" else name)
        if name == "vantage" or (name in _LATER and value is None):
            continue
        if dtype == pl.String:
            fits = isinstance(value, str)
        else:
            fits = type(value) is int and 0 <= value < next(most for kind, most in _MOST.items() if dtype == kind)
        if not fits:
            return None
        row[name] = value
    return row
