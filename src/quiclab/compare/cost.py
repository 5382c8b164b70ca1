# SPDX-License-Identifier: Apache-2.0
"""Cost of the programs to their machine during the transfer, as each verified trial kept it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from quiclab.compare.study import Study, read_record
from quiclab.evidence.metrics.cost import tells_switches

_LEAST_DIVISIBLE_NS = 50_000_000
"""Five ticks of the kernel's count of user and system time (100 Hz)."""
_NUMBERS = ("cpu_s", "user_s", "system_s", "peak_memory_bytes", "context_switches", "page_faults", "threads")
_SCHEMA = {
    **dict.fromkeys(("cell_id", "arm", "trial_id", "role"), pl.String),
    "block": pl.Int64,
    **dict.fromkeys(_NUMBERS, pl.Float64),
}


def cost_data(study: Study) -> pl.DataFrame:
    """One row per verified main trial and program; null where the trial does not tell."""
    return pl.DataFrame(list(_rows(study)), schema=_SCHEMA)


def _rows(study: Study) -> Iterator[dict[str, Any]]:
    verified = study.trials.filter((pl.col("status") == "verified") & (pl.col("kind") == "main"))
    for trial in verified.sort("cell_id", "arm", "block").select("cell_id", "arm", "block", "trial_id").to_dicts():
        record = read_record(study.directory / "trials" / trial["trial_id"])
        for role, cost in ((record.get("host") or {}).get("cost") or {}).items():
            untold = {} if tells_switches(record, role) else {"context_switches": None}
            yield {**trial, "role": role, **_numbers(cost), **untold}


def _numbers(cost: dict[str, Any]) -> dict[str, float | None]:
    transfer = cost.get("transfer") or {}
    return {
        "cpu_s": _sum(transfer, "cpu_ns", per=1e9),
        "user_s": _part(transfer, "user_ns"),
        "system_s": _part(transfer, "system_ns"),
        "peak_memory_bytes": _sum(cost, "peak_memory_bytes"),
        "context_switches": _sum(transfer, "voluntary_switches", "involuntary_switches"),
        "page_faults": _sum(transfer, "minor_faults", "major_faults"),
        "threads": _sum(cost, "most_threads"),
    }


def _part(transfer: dict[str, Any], key: str) -> float | None:
    """Return the user or system part of the exact CPU time; None where too few ticks of both were counted to tell."""
    cpu_ns, ticked_ns = _sum(transfer, "cpu_ns"), _sum(transfer, "user_ns", "system_ns")
    if cpu_ns is None or ticked_ns is None or min(cpu_ns, ticked_ns) < _LEAST_DIVISIBLE_NS:
        return None
    return cpu_ns * float(transfer[key]) / ticked_ns / 1e9


def _sum(told: dict[str, Any], *keys: str, per: float = 1.0) -> float | None:
    values = [value for key in keys if isinstance(value := told.get(key), int | float)]
    return sum(values) / per if len(values) == len(keys) else None
