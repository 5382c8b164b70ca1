# SPDX-License-Identifier: Apache-2.0
"""Metrics that a trial of its own told: system calls, of the same row of the plan run once more and not timed.

They are added where the metrics of a study are put together, as a trial's own tables are made before anything is
counted.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from quiclab.compare.study import read_json
from quiclab.evidence.metrics import METRICS
from quiclab.model.system_call_record import SystemCalls
from quiclab.store.layout import StudyDir
from quiclab.store.record_form import view_of

_SUFFIX = "_system_calls"
_ROLES = tuple(each.name.removesuffix(_SUFFIX) for each in METRICS if each.name.endswith(_SUFFIX))
"""Programs whose system calls are a metric."""
_SCHEMA = {"trial_id": pl.String, "name": pl.String, "counted": pl.Float64, "told": pl.String}


def with_counts(study_dir: StudyDir, metrics: pl.DataFrame) -> pl.DataFrame:
    """Return the metrics of a study's trials with the system calls that were counted beside them, in the same order."""
    counted = pl.DataFrame(list(_counts(study_dir)), _SCHEMA, orient="row")
    if counted.is_empty():
        return metrics
    joined = metrics.join(counted, on=["trial_id", "name"], how="left", maintain_order="left")
    is_told = pl.col("counted").is_not_null() | pl.col("told").is_not_null()
    return joined.with_columns(
        value=pl.when(is_told).then("counted").otherwise("value"), note=pl.when(is_told).then("told").otherwise("note")
    ).select(metrics.columns)


def _counts(study_dir: StudyDir) -> Iterator[tuple[str, str, float | None, str | None]]:
    for file in sorted(study_dir.system_calls_beside("").parent.glob("*.json")):
        counts = view_of(read_json(file, []), SystemCalls)
        if counts is None:
            continue
        for role in _ROLES:
            value, reason = _count(counts, role)
            yield file.stem, role + _SUFFIX, value, reason


def _count(counts: SystemCalls, role: str) -> tuple[float | None, str | None]:
    """The number of a program's calls, or the reason why there is none that a pair may have."""
    told = counts.roles.get(role)
    reason = counts.unsupported or (told.unsupported if told else None)
    if reason is None and not counts.body_right:
        reason = f"the transfer in which they were counted went wrong: {counts.problem}"
    if reason is None and told is not None:
        return float(told.total), None
    return None, reason or f"the {role} was not counted"
