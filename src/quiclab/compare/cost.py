# SPDX-License-Identifier: Apache-2.0
"""Cost of the programs to their machine during the transfer, as each verified trial kept it."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from quiclab.compare.study import Study, read_record
from quiclab.evidence.metrics.cost import tells_switches
from quiclab.model.host_findings import ProgramCost, Usage

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


def _rows(study: Study) -> Iterator[dict[str, object]]:
    verified = study.trials.filter((pl.col("status") == "verified") & (pl.col("kind") == "main"))
    for trial in verified.sort("cell_id", "arm", "block").select("cell_id", "arm", "block", "trial_id").to_dicts():
        record = read_record(study.directory / "trials" / trial["trial_id"])
        for role, cost in record.host.cost.items():
            untold = {} if tells_switches(record, role) else {"context_switches": None}
            yield {**trial, "role": role, **_numbers(cost), **untold}


def _numbers(cost: ProgramCost) -> dict[str, float | None]:
    used = cost.transfer or Usage()
    return {
        "cpu_s": _sum(used.cpu_ns, per=1e9),
        "user_s": _part(used, used.user_ns),
        "system_s": _part(used, used.system_ns),
        "peak_memory_bytes": _sum(cost.peak_memory_bytes),
        "context_switches": _sum(used.voluntary_switches, used.involuntary_switches),
        "page_faults": _sum(used.minor_faults, used.major_faults),
        "threads": _sum(cost.most_threads),
    }


def _part(used: Usage, part_ns: float | None) -> float | None:
    """Return the user or system part of the exact CPU time; None where too few ticks of both were counted to tell."""
    cpu_ns, ticked_ns = used.cpu_ns, _sum(used.user_ns, used.system_ns)
    if cpu_ns is None or part_ns is None or ticked_ns is None or min(cpu_ns, ticked_ns) < _LEAST_DIVISIBLE_NS:
        return None
    return cpu_ns * part_ns / ticked_ns / 1e9


def _sum(*values: float | None, per: float = 1.0) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / per if len(known) == len(values) else None
