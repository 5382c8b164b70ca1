# SPDX-License-Identifier: Apache-2.0
"""`trial.json`: what was asked for, what became of it, and what its programs cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType

import polars as pl

from quiclab.logs.decoders._api import Context, FileTables, Finding, Take
from quiclab.logs.decoders._text import read_json
from quiclab.model.errors import DecodeError
from quiclab.model.json_trouble import json_trouble
from quiclab.model.tables import TABLES

_MOST_BYTES = 64 << 20
_ROW = {
    "kind": "kind",
    "cell": "cell_id",
    "block": "block_id",
    "position": "position",
    "seed": "seed",
    "arm": "arm",
    "workload": "workload",
    "path": "path",
}
"""Columns of `trials`, with the plan's names for them."""
_OWN = (
    *("trial_id", "attempt", "status", "protocol", "ip_version", "client_address", "server_address", "server_port"),
    "started_utc",
)
_SUMS = (
    *("cpu_ns", "user_ns", "system_ns", "minor_faults", "major_faults", "voluntary_switches"),
    "involuntary_switches",
)


class TrialDocument:
    """One attempt at one trial."""

    format = "trial"
    versions = ("1",)
    tables = ("trials", "process_usage")
    clock = "CLOCK_MONOTONIC of the machine that ran the trial."

    def sniff(self, head: bytes) -> bool:
        """True if it is an object with a trial's id, an attempt and the plan's row."""
        return head[:1] == b"{" and all(name in head for name in (b'"trial_id"', b'"attempt"', b'"row"'))

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """One row of `trials`, and the sums of every program. Raises DecodeError if it is no trial's."""
        del context, take
        trial = _read(path)
        found: list[Finding] = []
        if misplaced := _misplaced(trial):
            advice = "a part of the document that is not what it must be: what it tells is missing"
            found.append(Finding("malformed_part", "data_loss", misplaced, advice))
        tables = {
            "trials": _frame("trials", [_trial(trial)], found),
            "process_usage": _frame("process_usage", list(_usage(trial)), found),
        }
        return FileTables(
            {name: frame for name, frame in tables.items() if frame.height},
            tuple(found),
            dialect="trial.json version 1",
            clock="monotonic",
            resolution_ns=1,
        )


def _read(path: Path) -> Mapping[str, object]:
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1)
        trial = read_json(text.decode(errors="replace")) if len(text) <= _MOST_BYTES else None
    except (OSError, ValueError, RecursionError) as error:
        raise DecodeError(
            f"cannot decode {path}: {json_trouble(error)}", "the file is damaged, or of another format"
        ) from error
    if not isinstance(trial, dict) or not isinstance(trial.get("trial_id"), str):
        raise DecodeError(f"cannot decode {path}: it is no trial's", "give the trial.json of a trial")
    return trial


def _frame(table: str, rows: list[dict[str, object]], found: list[Finding]) -> pl.DataFrame:
    """Rows as the table has them; a value that does not fit its column is counted and left out."""
    schema = TABLES[table].decoder_schema
    columns, misfits = [], 0
    for name, dtype in schema.items():
        values = [row.get(name) for row in rows]
        column = _series(name, values, dtype) if len({type(value) for value in values} - {NoneType}) < 2 else None
        if column is None:  # one by one: the others fit
            each = [_series(name, [value], dtype) for value in values]
            misfits += sum(one is None for one in each)
            column = pl.concat([pl.Series(name, [None], dtype=dtype) if one is None else one for one in each])
        columns.append(column)
    if misfits:
        found.append(Finding("impossible_value", "data_loss", misfits, f"a value that the table {table} cannot hold"))
    return pl.DataFrame(columns)


def _series(name: str, values: list[object], dtype: pl.DataType) -> pl.Series | None:
    """A column of values; None where one does not fit."""
    try:
        return pl.Series(name, values, dtype=dtype, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return None


def _part(whole: Mapping[str, object], name: str) -> Mapping[str, object]:
    part = whole.get(name)
    return part if isinstance(part, dict) else {}


def _misplaced(trial: Mapping[str, object]) -> int:
    """Number of parts that are not of the type that they must be."""
    costs = _part(_part(trial, "host"), "cost")
    parts = [
        *(trial.get(name) for name in ("row", "client", "proof", "expected", "clock", "host")),
        _part(trial, "host").get("cost"),
        *costs.values(),
        *(_part(costs, role).get(scope) for role in costs for scope in ("transfer", "life")),
    ]
    return sum(part is not None and not isinstance(part, dict) for part in parts)


def _trial(trial: Mapping[str, object]) -> dict[str, object]:
    row = _part(trial, "row")
    requests = _part(trial, "client").get("requests")
    listed = requests if isinstance(requests, list) else []
    bodies = [each.get("body_bytes") for each in listed if isinstance(each, dict)]
    return {
        **{name: trial.get(name) for name in _OWN},
        **{name: row.get(key) for name, key in _ROW.items()},
        "time_ns": trial.get("started_monotonic_ns") or 0,
        "reason": trial.get("reason") or None,
        "http_version": _part(trial, "proof").get("http_version"),
        "expected_bytes": _part(trial, "expected").get("body_bytes"),
        "requests": len(bodies) if isinstance(requests, list) else None,
        "body_bytes": sum(each for each in bodies if isinstance(each, int)) if bodies else None,
        "realtime_minus_monotonic_ns": _part(trial, "clock").get("realtime_minus_monotonic_start_ns"),
    }


def _usage(trial: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Sums over the whole life and over the transfer of every program."""
    for role, cost in _part(_part(trial, "host"), "cost").items():
        if not isinstance(cost, dict):
            continue
        for scope in ("transfer", "life"):
            used = cost.get(scope)
            if not isinstance(used, dict):
                continue
            row: dict[str, object] = {"role": role, "scope": scope} | {name: used.get(name) for name in _SUMS}
            if scope == "life":
                row |= {
                    "processes": cost.get("most_processes"),
                    "threads": cost.get("most_threads"),
                    "peak_memory_bytes": cost.get("peak_memory_bytes"),
                }
            yield row
