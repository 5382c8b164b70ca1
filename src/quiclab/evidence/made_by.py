# SPDX-License-Identifier: Apache-2.0
"""The version of quiclab that made tables: each trial's metrics carry it, and so does the file of all metrics."""

from __future__ import annotations

import hashlib
import json
import pkgutil
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import polars as pl

from quiclab import __version__
from quiclab.model.number_text import counted, from_here
from quiclab.model.tables import OF_STUDY, TABLES
from quiclab.project import PACKAGE
from quiclab.store.own_files import is_own_file, open_own, own_files

MADE_BY = "made_by"
"""Key in the metadata of a Parquet file."""
UNKNOWN = "a version that did not say so"
DECLARED_METRICS = PACKAGE / "evidence" / "declared_metrics.json"
"""Every metric with its unit, in the order of `METRICS`: a file of the package, written by
`tools/generate_reference.py`. What only reads tables need not import all that computes metrics."""


def _mechanisms() -> list[str]:
    """Names of the modules of mechanisms, one each. By their files: tables know nothing of what explains them."""
    folder = PACKAGE / "why" / "mechanisms"
    return sorted(each.name for each in pkgutil.iter_modules([str(folder)]) if not each.name.startswith("_"))


@cache
def made_by() -> str:
    """The version, and a digest of what it declares: between two releases both tables and metrics are added."""
    known = {**OF_STUDY, **TABLES}
    columns = [(name, list(table.schema().items())) for name, table in sorted(known.items())]
    metrics = json.loads(DECLARED_METRICS.read_text(encoding="utf-8"))
    declared = (columns, list(metrics.items()), _mechanisms())
    return f"quiclab {__version__} {hashlib.sha256(repr(declared).encode()).hexdigest()[:16]}"


def mark_of(file: Path) -> str | None:
    """Value of `made_by` when a file was written; None where it does not say so, or cannot be read."""
    try:
        with open_own(file) as opened:  # by its name Polars reads no file of a folder whose name is not UTF-8
            return pl.read_parquet_metadata(opened).get(MADE_BY)
    except (OSError, pl.exceptions.PolarsError):
        return None


def tables_made_by(directory: Path, trial_id: str) -> str | None:
    """Value of `made_by` when the tables of a trial of a study were made; None where no file says so."""
    return mark_of(directory / "tables" / "metrics" / f"{trial_id}.parquet")


def made_by_another_version(directory: Path, trials: Iterable[str]) -> list[str]:
    """Return the trials, among these, whose tables are there and were made by another version of quiclab than this."""
    folder = directory / "tables" / "metrics"
    there = [each for each in trials if is_own_file(folder / f"{each}.parquet", directory)]
    return [each for each in there if tables_made_by(directory, each) != made_by()]


def told_of_versions(directory: Path) -> tuple[str, ...]:
    """Sentences about tables of a study that another version of quiclab made, and what that means; none where this one
    made all, and where no file says what made them."""
    folder = directory / "tables" / "metrics"
    marks = [mark_of(file) for file in own_files(folder, directory) if file.suffix == ".parquet"]
    others = Counter(mark or UNKNOWN for mark in marks if mark != made_by())
    if marks:
        told = [(f"The tables of {number} of {counted(len(marks), 'trial')}", who) for who, number in others.items()]
    else:
        mark = mark_of(directory / "metrics.parquet")
        told = [] if mark in (None, made_by()) else [("The tables of this study", str(mark))]
    return tuple(
        f"{what} were made by {who}, and this is {made_by()}: their numbers are as that version defined them, and "
        f"those of other trials may be defined otherwise. `quiclab report {from_here(directory)}` makes tables anew "
        "where their logs were kept."
        for what, who in sorted(told)
    )
