# SPDX-License-Identifier: Apache-2.0
"""Which system calls the programs of each arm made, counted in trials that were not timed."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab import wording
from quiclab.analysis.study import Study, read_json
from quiclab.text_table import TextTable

_MOST_FREQUENT = 5
_SCHEMA = {
    **dict.fromkeys(("arm", "workload", "path", "role", "program"), pl.String),
    "body_bytes": pl.Int64,
    "body_right": pl.Boolean,
    "call": pl.String,
    "calls": pl.Int64,
}


def read_counts(study: Study) -> dict[str, dict[str, Any]]:
    """What STUDY/system-calls holds, by arm in the spec's order."""
    folder = study.directory / "system-calls"
    found = {file.stem: read_json(file, []) for file in folder.glob("*.json")}
    spec = [item["name"] for item in study.items("arms")]
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


def system_call_table(counts: dict[str, dict[str, Any]]) -> TextTable:
    """One row per arm and program, or the reason why there are no counts."""
    rows: list[tuple[str, ...]] = []
    for arm, count in counts.items():
        if "unsupported" in count:
            rows.append((arm, "–", "–", "–", f"unsupported: {count['unsupported']}"))
        rows += [(arm, role, *_told(told, count)) for role, told in count.get("roles", {}).items()]
    cells = {(count["workload"], count["path"]) for count in counts.values() if "workload" in count}
    where = " and ".join(f"{workload} over {path}" for workload, path in sorted(cells))
    return TextTable(
        "System calls",
        "Over each program's whole life, from its start to its end, in one trial of each arm that was not timed"
        + (f": {where}." if where else "."),
        ("arm", "program", "calls", "per MB of body", "most frequent"),
        tuple(rows),
        "They were to be counted, and were not yet: run the study again.",
    )


def _told(told: dict[str, Any], count: dict[str, Any]) -> tuple[str, str, str]:
    if "unsupported" in told:
        return "–", "–", f"unsupported: {told['unsupported']}"
    frequent = list(told["calls"].items())[:_MOST_FREQUENT]
    names = ", ".join(f"{name} {wording.count(calls)}" for name, calls in frequent)
    wrong = "" if count.get("body_right") else f" (the transfer went wrong: {count.get('problem')})"
    return wording.count(told["total"]), wording.count(told["calls_per_mb"]), names + wrong
