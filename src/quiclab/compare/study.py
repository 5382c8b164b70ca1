# SPDX-License-Identifier: Apache-2.0
"""A study directory as the report sees it: whatever is there is read, whatever is not is noted and left empty."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from quiclab.model.errors import DecodeError
from quiclab.model.json_trouble import json_trouble
from quiclab.store.disk import check_name, read_object
from quiclab.store.layout import StudyDir
from quiclab.store.no_study import no_study
from quiclab.store.own_files import open_own, read_own

if TYPE_CHECKING:
    from quiclab.model.resolved_record import ResolvedArm, ResolvedPath, ResolvedSpec, ResolvedWorkload
    from quiclab.model.trial_record import TrialRecord

TRIALS = {
    "trial_id": pl.String,
    "attempt": pl.Int64,
    "kind": pl.String,
    "cell_id": pl.String,
    "workload": pl.String,
    "path": pl.String,
    "arm": pl.String,
    "baseline_arm": pl.String,
    "block": pl.Int64,
    "position": pl.Int64,
    "status": pl.String,
    "reason": pl.String,
}
_TOLD_LATER = {"began_utc": pl.String}
"""Columns that tables of earlier versions do not have, without any harm but an order by number."""
METRICS = {
    "trial_id": pl.String,
    "name": pl.String,
    "value": pl.Float64,
    "unit": pl.String,
    "better": pl.String,
    "note": pl.String,
}
DECODE_STATS = {
    "source": pl.String,
    "name": pl.String,
    "severity": pl.String,
    "count": pl.Int64,
    "advice": pl.String,
}
BYTES_ACKNOWLEDGED = {"x_ms": pl.Float64, "bytes": pl.Float64}

Kind = Literal["workloads", "paths", "arms"]
KINDS: tuple[Kind, ...] = ("workloads", "paths", "arms")
"""Kinds of tables of a spec."""
Axis = Literal["workloads", "paths"]
"""Axes of the matrix of cells."""
Columns = Mapping[str, type[pl.DataType]]


@dataclass(frozen=True)
class Study:
    """The files of one study that the analysis reads."""

    directory: Path
    resolved: dict[str, object]
    """The resolved spec, with all members."""
    trials: pl.DataFrame
    """One row per attempt, columns of `TRIALS`, and since when it ran where that is told."""
    metrics: pl.DataFrame
    """One row per trial and metric, columns of `METRICS`."""
    missing: tuple[str, ...]
    """One sentence for each file that is absent or cannot be read."""

    @property
    def name(self) -> str:
        """The study's name as its spec gives it, else the directory's."""
        return str(self.resolved.get("name") or self.directory.resolve().name)

    @cached_property
    def spec(self) -> ResolvedSpec:
        """The resolved spec as a record; an empty one where it is missing."""
        from quiclab.store.resolved_form import read_spec

        return read_spec(self.resolved, self.directory / "resolved.json")

    @cached_property
    def workloads(self) -> dict[str, ResolvedWorkload]:
        """Workloads of the matrix by name."""
        return {each.name: each for each in self.spec.measured_workloads}

    @cached_property
    def paths(self) -> dict[str, ResolvedPath]:
        """Paths of the matrix by name."""
        return {each.name: each for each in self.spec.paths}

    @cached_property
    def arms(self) -> dict[str, ResolvedArm]:
        """Arms that are compared, by name."""
        return {each.name: each for each in self.spec.arms if not each.only_for}

    def order(self, axis: Axis, seen: set[str]) -> list[str]:
        """Names of `axis` in the spec's order; what the spec does not name comes last."""
        named = self.names(axis)
        return [name for name in named if name in seen] + sorted(seen.difference(named))

    def titles(self, axis: Axis) -> dict[str, str]:
        """Titles in figures of the names of `axis`."""
        if axis == "paths":
            return {name: path.title or name for name, path in self.paths.items()}
        return {name: name + _condition(workload) for name, workload in self.workloads.items()}

    def names(self, kind: Kind) -> list[str]:
        """Names of the workloads or paths of the matrix, or of the arms that are compared, in the spec's order."""
        named: dict[Kind, Collection[str]] = {"workloads": self.workloads, "paths": self.paths, "arms": self.arms}
        return list(named[kind])

    def tables(self, kind: Kind, *, compared: bool = True) -> list[dict[str, object]]:
        """The spec's tables of one kind as resolved.json has them, with all members; those that only compete only where
        all are asked for."""
        found = self.resolved.get(kind)
        tables: list[dict[str, object]] = found if isinstance(found, list) else []
        return [table for table in tables if not (compared and table.get("only_for"))]


def _condition(workload: ResolvedWorkload) -> str:
    """Condition that must never be left out beside a name: a video that no decoder played is not one that was
    watched."""
    return " (not decoded)" if workload.video is not None and not workload.video.decode else ""


def read_study(directory: Path) -> Study:
    """Read what a study directory holds. Raises DecodeError if it is no directory, or its resolved spec is not one."""
    check_name(directory)
    if not directory.is_dir():
        raise no_study(StudyDir(directory))
    from quiclab.store.resolved_form import read_spec

    missing: list[str] = []
    file = directory / "resolved.json"
    resolved = read_object(file) if os.path.lexists(file) else read_json(file, missing)
    read_spec(resolved, file)
    return Study(
        directory,
        resolved,
        read_table(directory / "tables" / "trials.parquet", TRIALS | _TOLD_LATER, missing),
        read_table(directory / "metrics.parquet", METRICS, missing),
        tuple(missing),
    )


def read_table(path: Path, columns: Columns, missing: list[str]) -> pl.DataFrame:
    """The columns asked for, null where the file lacks them; without a usable file, an empty frame and a note."""
    try:
        with open_own(path) as file:
            frame = pl.read_parquet(file)
        absent = [name for name in columns if name not in frame.columns]
        if told := [name for name in absent if name not in _TOLD_LATER]:
            missing.append(f"{_short_path(path)} has no column {', '.join(told)}.")
        return frame.select(
            (pl.lit(None) if name in absent else pl.col(name)).cast(dtype, strict=False).alias(name)
            for name, dtype in columns.items()
        )
    except FileNotFoundError:
        missing.append(f"{_short_path(path)} is missing.")
    except (OSError, pl.exceptions.PolarsError) as error:
        missing.append(f"{_short_path(path)} cannot be read ({str(error).splitlines()[0]}).")
    return pl.DataFrame(schema=columns)


def read_json(path: Path, missing: list[str]) -> dict[str, object]:
    """The object in a JSON file; an empty one and a note where there is none."""
    try:
        value = json.loads(read_own(path))
        if isinstance(value, dict):
            return value
        missing.append(f"{_short_path(path)} holds no JSON object.")
    except FileNotFoundError:
        missing.append(f"{_short_path(path)} is missing.")
    except (OSError, ValueError, RecursionError) as error:
        missing.append(f"{_short_path(path)} cannot be read ({json_trouble(error)}).")
    return {}


def read_record(folder: Path) -> TrialRecord:
    """The record of an attempt by its folder; an empty one where there is none or it is not of its form."""
    from quiclab.model.trial_record import TrialRecord
    from quiclab.store.record_form import as_trial

    try:
        return as_trial(read_json(folder / "trial.json", []))
    except DecodeError:
        return TrialRecord()


def read_proof(folder: Path) -> Mapping[str, object]:
    """Facts that a trial proved, as its trial.json has them, for a reader to see; nothing where it does not tell."""
    proof = read_json(folder / "trial.json", []).get("proof")
    return proof if isinstance(proof, dict) and read_record(folder).trial_id else {}


def _short_path(path: Path) -> str:
    return f"{path.parent.name}/{path.name}" if path.parent.name in {"tables", "report"} else path.name
