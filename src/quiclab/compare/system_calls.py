# SPDX-License-Identifier: Apache-2.0
"""System calls of each arm's programs, counted in trials that were not timed."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.compare.study import Study, read_json

_SCHEMA = {
    **dict.fromkeys(("arm", "workload", "path", "role", "program"), pl.String),
    "body_bytes": pl.Int64,
    "body_right": pl.Boolean,
    "call": pl.String,
    "calls": pl.Int64,
}


def read_counts(study: Study) -> dict[str, dict[str, Any]]:
    """Counts of STUDY/system-calls, by arm in the spec's order."""
    folder = study.directory / "system-calls"
    found = {file.stem: read_json(file, []) for file in folder.glob("*.json")}
    spec = list(study.arms)
    return {arm: found[arm] for arm in [*spec, *sorted(found.keys() - set(spec))] if arm in found}


def system_call_data(counts: dict[str, dict[str, Any]]) -> pl.DataFrame:
    """One row per arm, program and call."""
    rows = [
        {
            **{key: count.get(key) for key in ("workload", "path", "body_bytes", "body_right")},
            "arm": arm,
            "role": role,
            "program": told.get("program"),
            "call": call,
            "calls": calls,
        }
        for arm, count in counts.items()
        for role, told in count.get("roles", {}).items()
        for call, calls in told.get("calls", {}).items()
    ]
    return pl.DataFrame(rows, schema=_SCHEMA)
