# SPDX-License-Identifier: Apache-2.0
"""Looks at what a trial's programs cost, every 100 ms: `process-cost.jsonl`."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from quiclab.logs.decoders._api import Context, FileTables, Finding, Take
from quiclab.logs.decoders._text import lines_of, read_json, refuse
from quiclab.model.tables import TABLES

_COLUMNS = {
    "role": "role",
    "cpu_ns": "cpu_ns",
    "processes": "processes",
    "threads": "threads",
    "resident_bytes": "resident_bytes",
}


class ProcessCost:
    """One line per look and program."""

    format = "process_cost"
    versions = ("1",)
    tables = ("process_usage",)
    clock = "CLOCK_MONOTONIC of the machine that ran the trial."

    def sniff(self, head: bytes) -> bool:
        """True if the first line begins with the instant, and has a role and memory."""
        line = head.partition(b"\n")[0]
        return line.startswith(b'{"at_ns": ') and b'"role": ' in line and b'"resident_bytes": ' in line

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """One row per line. Raises DecodeError if no line is one."""
        del context, take
        rows, bad = [], 0
        with lines_of(path) as lines:
            for line in lines:
                row = _row(line)
                if row is not None:
                    rows.append(row)
                else:
                    bad += bool(line.strip())
        if bad and not rows:
            raise refuse(path, "a look at a program")
        frame = pl.DataFrame(rows, schema=TABLES["process_usage"].decoder_schema)
        findings = (Finding("malformed_line", "data_loss", bad, "a line that was cut short or damaged"),) if bad else ()
        return FileTables(
            {"process_usage": frame} if rows else {}, findings, dialect="samples", clock="monotonic", resolution_ns=1
        )


def _row(line: str) -> dict[str, object] | None:
    try:
        told = read_json(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or not isinstance(told.get("role"), str):
        return None
    numbers = [told.get(name) for name in ("at_ns", *list(_COLUMNS)[1:])]
    if not all(type(number) is int and 0 <= number < 2**62 for number in numbers):
        return None
    if max(told["processes"], told["threads"]) >= 2**32:
        return None
    return {"time_ns": told["at_ns"], "scope": "sample"} | {name: told[key] for name, key in _COLUMNS.items()}
