# SPDX-License-Identifier: Apache-2.0
"""Outcomes of the changes of the client's address, as a table: counted, proven, failed."""

from __future__ import annotations

from collections import Counter

import polars as pl

from quiclab.compare.study import Study, read_record
from quiclab.model import number_text
from quiclab.model.text_table import TextTable
from quiclab.model.trial_record import TrialRecord


def address_change_tables(study: Study) -> list[TextTable]:
    """Return one row for each arm and workload with a change of address; no table where every address was stable."""
    if not any(each.address_change for each in study.workloads.values()):
        return []
    counts: dict[tuple[str, str], Counter[str]] = {}
    trials = study.trials.filter((pl.col("kind") == "main") & pl.col("status").is_in(["verified", "failed"]))
    for arm, workload, trial_id, attempt, status in trials.select(
        "arm", "workload", "trial_id", "attempt", "status"
    ).iter_rows():
        folder = f"trials/{trial_id}" if status == "verified" else f"failed/{trial_id}-attempt{attempt}"
        record = read_record(study.directory / folder)
        if record.address_change:
            counts.setdefault((str(arm), str(workload)), Counter())[_outcome(record, str(status))] += 1
    gaps = study.metrics.filter(pl.col("name") == "address_change_gap_ms").select("trial_id", "value")
    joined = trials.join(gaps, on="trial_id", how="inner").drop_nulls("value")
    rows = []
    for (arm, workload), count in sorted(counts.items()):
        here = joined.filter((pl.col("arm") == arm) & (pl.col("workload") == workload))["value"]
        gap = "–" if here.is_empty() else f"{number_text.number(float(here.median()))} ms"  # type: ignore[arg-type]
        rows.append((arm, workload, *(str(count[name]) for name in _OUTCOMES), gap))
    note = (
        "Migrated: a PATH_RESPONSE matched a challenge on the new path, and data flowed there afterwards. Reconnected: "
        "a second connection from the new address brought the whole body again, or the rest of it, as was asked. The "
        "gap is the median time without a new byte of the body around the change."
    )
    heads = ("arm", "workload", *_OUTCOMES, "gap")
    return [TextTable("Changes of the client's address", note, heads, tuple(rows), "No client's address changed yet.")]


_OUTCOMES = ("migrated", "reconnected", "unproven", "failed")


def _outcome(record: TrialRecord, status: str) -> str:
    if status != "verified":
        return status
    if record.asked.migration is None:
        return "reconnected"
    return "migrated" if record.proof.migrated is True else "unproven"
