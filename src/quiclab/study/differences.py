# SPDX-License-Identifier: Apache-2.0
"""Differences between what a study keeps and what its raw files, its spec or its ledger give today: of JSON, of tables,
of metrics."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from quiclab.store.own_files import is_own_file
from quiclab.store.packed_logs import read_plain

SAME = 1e-9
"""Share by which two numbers may differ that are the same: processors add up in different orders."""
RAW_FILES = "its raw files"
"""Source of a value that was decoded and judged again."""
_LONGEST = 120


@dataclass(frozen=True)
class Difference:
    """One number or word that is not what another part of the study gives."""

    place: str
    """File or table of the study that has it."""
    what: str
    """The member, the metric, or the column and row."""
    kept: str
    """Value in the study."""
    found: str
    """Value that is expected in its place."""
    by: str = RAW_FILES
    """Source of the expected value: the raw files, the spec, the ledger, or a file that says otherwise."""


def json_differences(place: str, kept: Any, found: Any, name: str = "", by: str = RAW_FILES) -> Iterator[Difference]:
    """Differences between two JSON values, member by member; `by` says where `found` comes from."""
    if isinstance(kept, dict) and isinstance(found, dict):
        for key in sorted(kept.keys() | found.keys()):
            yield from json_differences(place, kept.get(key), found.get(key), f"{name}.{key}" if name else key, by)
    elif isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        for number, (one, other) in enumerate(zip(kept, found, strict=True)):
            yield from json_differences(place, one, other, f"{name}[{number}]", by)
    elif not _is_same(kept, found):
        yield Difference(place, name, short_text(kept), short_text(found), by)


def metric_differences(place: str, kept: pl.DataFrame, found: pl.DataFrame) -> Iterator[Difference]:
    """Differences between two tables of metrics of one trial, metric by metric; more than one of a name are compared in
    their order."""
    sides = [_by_name(each) for each in (kept, found)]
    for name in sorted(sides[0].keys() | sides[1].keys()):
        one, other = (side.get(name, []) for side in sides)
        if not _is_same(one, other):
            numbers = [[each[:2] for each in side] for side in (one, other)]
            told = (_numbers(one), _numbers(other)) if not _is_same(*numbers) else (short_text(one), short_text(other))
            yield Difference(place, name, *told)


def table_differences(place: str, kept: pl.DataFrame, found: pl.DataFrame) -> Iterator[Difference]:
    """Differences between two tables, the first of each column, with their number."""
    types = [dict(each.schema) for each in (kept, found)]
    for name in (each for each in {**types[0], **types[1]} if types[0].get(each) != types[1].get(each)):
        yield Difference(place, f"column {name}", *(_column(side.get(name)) for side in types))
    if kept.height != found.height:
        yield Difference(place, "rows", str(kept.height), str(found.height))
        return
    for name in (each for each in types[0] if types[0][each] == types[1].get(each)):
        if kept[name].equals(found[name], null_equal=True):
            continue
        pairs = enumerate(zip(kept[name], found[name], strict=True))
        differing = [(row, one, other) for row, (one, other) in pairs if not _is_same(_plain(one), _plain(other))]
        if differing:
            row, one, other = differing[0]
            more = f" and {len(differing) - 1} more" if len(differing) > 1 else ""
            yield Difference(place, f"{name} of row {row}{more}", short_text(one), short_text(other))


def short_text(value: Any) -> str:
    """A value in one line, cut where it is long."""
    text = value if isinstance(value, str) and value else json.dumps(value, sort_keys=True, default=str)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if float in (type(one), type(other)) and isinstance(one, int | float) and isinstance(other, int | float):
        both_nan = math.isnan(one) and math.isnan(other)
        return both_nan or one == other or abs(one - other) <= SAME * max(abs(one), abs(other))
    return type(one) is type(other) and bool(one == other)


def _plain(value: Any) -> Any:
    return value.to_list() if isinstance(value, pl.Series) else value


def _by_name(metrics: pl.DataFrame) -> dict[str, list[list[Any]]]:
    """Metric → value, unit and the rest of each of its rows."""
    found: dict[str, list[list[Any]]] = {}
    for row in metrics.rows(named=True):
        rest = [each for name, each in row.items() if name not in ("trial_id", "name", "value", "unit")]
        found.setdefault(str(row.get("name")), []).append([row.get("value"), row.get("unit"), *rest])
    return found


def _numbers(rows: list[list[Any]]) -> str:
    return ", ".join(f"{short_text(value)} {unit or ''}".strip() for value, unit, *_ in rows) or "none"


def _column(dtype: object) -> str:
    return "none" if dtype is None else str(dtype)


def raw_file_differences(file: Path, kept: Any, name: str) -> list[Difference]:
    """Differences between a member of trial.json and the raw file that it was read from, as far as both are there."""
    packed = file.with_name(f"{file.name}.gz")
    there = next((each for each in (file, packed) if is_own_file(each, file.parent)), None)
    if there is None:
        return []
    try:
        return list(json_differences("trial.json", kept, json.loads(read_plain(there)), name))
    except (OSError, ValueError, RecursionError):
        return [Difference("trial.json", name, "an object", f"raw/{there.name} cannot be read")]


def stored_table_differences(file: Path, made: pl.DataFrame, place: str, damaged: Collection[str]) -> list[Difference]:
    """Differences between the rows of a file that are not of damaged trials, and those that were made."""
    try:
        kept = pl.read_parquet(file, glob=False)
        rows = [each.filter(~pl.col("trial_id").is_in([*damaged])) if damaged else each for each in (kept, made)]
        return list(table_differences(place, *rows))
    except (OSError, pl.exceptions.PolarsError) as error:
        return [Difference(place, "the file", f"cannot be read: {str(error).splitlines()[0]}", "a table")]
