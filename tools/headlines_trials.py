# SPDX-License-Identifier: Apache-2.0
"""Values of every trial that a cell's claims rest on, as a small table that anybody can compute from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from quiclab.compare.analyse import analyse
from quiclab.compare.model import ArmResult
from quiclab.compare.papers.claim_cells import Cells
from quiclab.compare.papers.paper import Paper, read_paper
from quiclab.compare.study import Study, read_study

COLUMNS = {
    "workload": pl.String,
    "path": pl.String,
    "arm": pl.String,
    "metric": pl.String,
    "better": pl.String,
    "block": pl.Int64,
    "ended": pl.String,
    "value": pl.Float64,
    "least": pl.Float64,
    "most": pl.Float64,
}
"""`better` is the better side of the metric: lower, higher or none. `ended`: `verified`; `failed`, which ranks worst;
`unproven` or `void`, which is in no comparison. `value` is in the metric's unit, empty where there is none; without
what the laboratory added to the trial it lies between `least` and `most`, which are empty where that is the value."""

Key = tuple[str, str, str, str]
"""Workload, path, arm and metric."""


def trials_of(study: Path) -> pl.DataFrame | None:
    """The trials of a study directory by workload, path, metric, arm and block: those of the arms that its paper's
    claims are about, and those of the map's comparisons, over which p is corrected. None where it follows no paper."""
    paper = read_paper(study)
    if paper is None:
        return None
    found = dict(_arms(read_study(study), paper))
    rows = [row for key in sorted(found) for row in _rows(key, *found[key])]
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def _arms(study: Study, paper: Paper) -> Iterator[tuple[Key, tuple[ArmResult, str]]]:
    """Arms in their cells, each with the better side of the metric."""
    cells, analysis = Cells(study, paper.changed), analyse(study)

    def better(metric: str) -> str:
        if cells.describes_only(metric):
            return "none"
        return "lower" if cells.metric(metric).lower_is_better else "higher"

    for each in analysis.comparisons:
        for arm in (each.baseline, each.other):
            yield (each.workload, each.path, arm.arm, analysis.metric.name), (arm, better(analysis.metric.name))
    for claim in paper.claims:
        for workload, path in ((workload, path) for workload in claim.workloads for path in claim.paths):
            if not claim.testable or cells.obstacle(claim, workload, path):
                continue
            for metric in filter(None, (claim.metric, claim.second_metric)):
                for name in claim.arm_names:
                    found = cells.arm(metric, workload, path, name)
                    yield (workload, path, name, metric), (found, better(metric))


def _rows(key: Key, arm: ArmResult, better: str) -> Iterator[tuple[object, ...]]:
    ends = {each.block: (each.status, each.value, each.least, each.most) for each in arm.trials}
    ends |= {block: ("void", None, None, None) for block in arm.lost_blocks if block not in ends}
    yield from ((*key, better, block, *ends[block]) for block in sorted(ends))
