# SPDX-License-Identifier: Apache-2.0
"""System calls of each arm's programs, counted in trials that were not timed."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from quiclab.compare.study import Study, read_json
from quiclab.model.system_call_record import SystemCalls
from quiclab.store.record_form import view_of

_SCHEMA = {
    **dict.fromkeys(("arm", "workload", "path", "role", "program"), pl.String),
    "body_bytes": pl.Int64,
    "body_right": pl.Boolean,
    "call": pl.String,
    "calls": pl.Int64,
}


def read_counts(study: Study) -> dict[str, SystemCalls]:
    """Counts of STUDY/system-calls, by arm in the spec's order; none of a file that is not of its form."""
    folder = study.directory / "system-calls"
    read = {file.stem: view_of(read_json(file, []), SystemCalls) for file in folder.glob("*.json")}
    found = {arm: counts for arm, counts in read.items() if counts is not None}
    spec = list(study.arms)
    return {arm: found[arm] for arm in [*spec, *sorted(found.keys() - set(spec))] if arm in found}


def system_call_data(counts: Mapping[str, SystemCalls]) -> pl.DataFrame:
    """One row per arm, program and call."""
    rows = [
        {
            "workload": count.workload,
            "path": count.path,
            "body_bytes": count.body_bytes,
            "body_right": count.body_right,
            "arm": arm,
            "role": role,
            "program": told.program,
            "call": call,
            "calls": calls,
        }
        for arm, count in counts.items()
        for role, told in count.roles.items()
        for call, calls in told.calls.items()
    ]
    return pl.DataFrame(rows, schema=_SCHEMA)
