# SPDX-License-Identifier: Apache-2.0
"""What the programs cost their machine during the transfer, as each verified trial kept it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

from quiclab import wording
from quiclab.analysis import comparison_words
from quiclab.analysis.metric_values import middle
from quiclab.analysis.model import StudyAnalysis
from quiclab.analysis.study import Study, read_json
from quiclab.metrics.cost import tells_switches
from quiclab.text_table import TextTable

NOT_TOLD = "not told"


def _seconds(value: float) -> str:
    return wording.quantity(1000 * value, "ms")


_LEAST_DIVISIBLE_NS = 50_000_000
"""Five ticks of the kernel's count of user and system time (100 Hz)."""
_ROLES = ("client", "proxy", "server")
_COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "cpu_s": ("CPU", _seconds),
    "user_s": ("user", _seconds),
    "system_s": ("system", _seconds),
    "peak_memory_bytes": ("peak memory", lambda value: wording.quantity(value / 1e6, "MB")),
    "context_switches": ("context switches", wording.count),
    "page_faults": ("page faults", wording.count),
    "threads": ("threads", wording.count),
}
"""Column of the data: its heading, and how a median is written."""
_SCHEMA = {
    **dict.fromkeys(("cell_id", "arm", "trial_id", "role"), pl.String),
    "block": pl.Int64,
    **dict.fromkeys(_COLUMNS, pl.Float64),
}


def cost_data(study: Study) -> pl.DataFrame:
    """One row per verified main trial and program; null where the trial does not tell."""
    return pl.DataFrame(list(_rows(study)), schema=_SCHEMA)


def cost_table(data: pl.DataFrame, analysis: StudyAnalysis) -> TextTable:
    """Medians of `cost_data`, one row per cell, arm and program."""
    places = {comparison.cell_id: comparison_words.place(comparison, analysis) for comparison in analysis.comparisons}
    arms = list(dict.fromkeys(a.arm for c in analysis.comparisons for a in (c.baseline, c.other)))
    groups = {(str(c), str(a), str(r)): group for (c, a, r), group in data.group_by("cell_id", "arm", "role")}
    rows = []
    for cell_id, arm, role in sorted(groups, key=lambda key: _place(key, list(places), arms)):
        group = groups[cell_id, arm, role]
        medians = (
            write(middle(known)) if (known := group[column].drop_nulls()).len() else NOT_TOLD
            for column, (_, write) in _COLUMNS.items()
        )
        rows.append((places.get(cell_id, cell_id), arm, role, str(group.height), *medians))
    return TextTable(
        "Processor, memory and kernel",
        "Medians over the n verified trials of a cell. CPU time, switches and faults: from the request to the client's "
        "end; how it divides into user and system is counted in steps of 10 ms, and not told below 50 ms. Memory and "
        "threads: the most at any time.",
        ("cell", "arm", "program", "n", *(heading for heading, _ in _COLUMNS.values())),
        tuple(rows),
        "No trial tells what its programs cost.",
    )


def _place(key: tuple[str, str, str], *orders: list[str]) -> list[tuple[int, str]]:
    """Cells, arms and roles in the order of the other tables; what these do not name comes last."""
    every = zip(key, (*orders, _ROLES), strict=True)
    return [(order.index(name) if name in order else len(order), name) for name, order in every]


def _rows(study: Study) -> Iterator[dict[str, Any]]:
    verified = study.trials.filter((pl.col("status") == "verified") & (pl.col("kind") == "main"))
    for trial in verified.sort("cell_id", "arm", "block").select("cell_id", "arm", "block", "trial_id").to_dicts():
        record = read_json(study.directory / "trials" / trial["trial_id"] / "trial.json", [])
        for role, cost in (record.get("host", {}).get("cost") or {}).items():
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
    """Its part of the exact CPU time. User and system are counted in ticks, so that few of them divide nothing."""
    cpu_ns, ticked_ns = _sum(transfer, "cpu_ns"), _sum(transfer, "user_ns", "system_ns")
    if cpu_ns is None or ticked_ns is None or min(cpu_ns, ticked_ns) < _LEAST_DIVISIBLE_NS:
        return None
    return cpu_ns * float(transfer[key]) / ticked_ns / 1e9


def _sum(told: dict[str, Any], *keys: str, per: float = 1.0) -> float | None:
    values = [value for key in keys if isinstance(value := told.get(key), int | float)]
    return sum(values) / per if len(values) == len(keys) else None
