# SPDX-License-Identifier: Apache-2.0
"""Notes at the answer on how the trials of a study ran: unfinished, side by side, without raw files, with requests that
a cache answered, or measured by sources that differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from quiclab.compare.model import ArmResult, Comparison, Metric
from quiclab.compare.study import Study, read_table
from quiclab.model import number_text
from quiclab.store.go_on import going_on
from quiclab.store.growth import read_growth

# Raw files that were not kept: what can still be told of their trials, and what cannot, is said.
_COLUMNS = {"trial_id": pl.String, "status": pl.String, "logs_left_out": pl.String}


def raw_file_notes(study: Study) -> list[str]:
    """A sentence about attempts without raw files; none where all keep theirs, or an earlier version made the
    tables."""
    attempts = read_table(study.directory / "tables" / "trials.parquet", _COLUMNS, [])
    without = attempts.drop_nulls("logs_left_out")
    if without.is_empty():
        return []
    rules = ", ".join(sorted(set(without["logs_left_out"])))
    failed = without.filter(pl.col("status") != "verified").height
    others = f", or trial.json alone of {failed} that failed or were invalid" if failed else ""
    return [
        f"Logs and captures of {without.height} of {number_text.counted(attempts.height, 'attempt')} were not kept "
        f"(--keep-raw {rules}): their tables are all there is of them{others}, and no other program can look into them."
    ]


# Differences as small as what trials that run side by side may do to one another.
MAY_COST_PCT = 1.0
"""Bound on how much longer trials may take beside others: docs/decisions/0014, which has what was measured."""


def side_by_side_notes(study: Study, main: Sequence[Comparison]) -> tuple[str, ...]:
    """Return what must be said at the answer where trials ran side by side and arms differ by less than that may do."""
    at_once = study.metrics.filter(pl.col("name") == "trials_at_once", pl.col("value") > 1)
    small = [
        each
        for each in main
        if each.outcome.significant and each.difference_pct is not None and abs(each.difference_pct) < MAY_COST_PCT
    ]
    if at_once.is_empty() or not small:
        return ()
    return (
        f"{number_text.counted(len(small), 'difference')} of less than {MAY_COST_PCT:g} % may come of trials that ran "
        "side by side, as these may take longer by as much, one arm more than another: run the study again with "
        "--jobs 1 to tell (docs/how-to/run-side-by-side.md).",
    )


# Parts of a study's plan that have not been run: after a first look at a part of it, or an interruption.
_FEW = 4
"""Most cells that a sentence names."""


def unfinished_notes(study: Study) -> list[str]:
    """Say how much of the plan has been run, where that is not all of it; nothing of a study of named blocks or of a
    single trial."""
    of_spec = study.spec.planned_blocks
    if of_spec is None or study.trials["trial_id"].n_unique() < 2:
        return []
    main = study.trials.filter(kind="main")
    cells = [f"{workload}/{path}" for path in study.paths for workload in study.workloads]
    run = {
        str(cell): blocks
        for cell, blocks in main.group_by("cell_id").agg(pl.col("block").n_unique()).iter_rows()
        if cell in cells
    }
    grown = read_growth(study.directory)
    planned = {cell: max(of_spec, grown.blocks.get(cell, 0) if grown is not None else 0) for cell in cells}
    short = [cell for cell in cells if run.get(cell, 0) < planned[cell]]
    if not short:
        return []
    done, whole = sum(min(blocks, planned[cell]) for cell, blocks in run.items()), sum(planned.values())
    absent = [cell for cell in cells if cell not in run]
    state = "Not finished" if grown is None else "Stopped before it was decided"
    told = f"{state}: {done} of {number_text.counted(whole, 'planned block')} have run"
    if absent:
        few = len(absent) <= _FEW
        told += f"; not begun: {', '.join(absent) if few else number_text.counted(len(absent), 'cell')}"
    return [f"{told}. `{going_on(study.directory)}` runs the rest."]


def cache_notes(study: Study) -> list[str]:
    """Return a sentence for each arm with requests that a browser's HTTP cache answered, and how many there were in all
    its trials; it says if other arms fetched everything."""
    told = study.metrics.filter(pl.col("name").is_in(("page_requests", "page_requests_from_cache")))
    of_arms = told.join(study.trials.filter(kind="main", status="verified"), on="trial_id")
    sums = of_arms.group_by("arm", "name").agg(pl.col("value").sum())
    asked, cached = (
        dict(sums.filter(name=name).select("arm", "value").iter_rows())
        for name in ("page_requests", "page_requests_from_cache")
    )
    with_cache = [arm for arm in study.arms if cached.get(arm)]
    others = [arm for arm in study.arms if asked.get(arm) and not cached.get(arm)]
    less = f": its network carried less than that of {', '.join(others)}" if others else ""
    return [
        f"The HTTP cache answered {number_text.count(cached[arm])} of {number_text.count(asked[arm])} requests of "
        f"{arm}, and no server saw these{less}."
        for arm in with_cache
    ]


# Cells whose arms are measured by different sources: part of such a difference is that of the sources.
def source_notes(study: Study, metric: Metric, compared: Iterable[Comparison]) -> list[str]:
    """Return a sentence for each arm in which a larger share of the values bears a note on its source than in the arm
    that it is compared with."""
    rows = study.metrics.filter(pl.col("name") == metric.name).drop_nulls(("value", "note"))
    noted: Mapping[str, str] = dict(rows.select("trial_id", "note").iter_rows())
    cells: dict[str, set[str]] = {}
    sources: dict[str, Counter[str]] = {}
    for comparison in compared:
        arms = (comparison.baseline, comparison.other)
        for arm, against in (arms, arms[::-1]):
            if _part(arm, noted) > _part(against, noted):
                cells.setdefault(arm.arm, set()).add(comparison.cell_id)
                told = (noted[trial] for trial in _measured(arm) if trial in noted)
                sources.setdefault(arm.arm, Counter()).update(told)
    return [
        f"In {number_text.counted(len(cells[arm]), 'cell')} the {metric.title} of {arm} comes from another source than "
        f"that of the arm beside it ({sources[arm].most_common(1)[0][0]}): part of the difference may be that of the "
        "sources."
        for arm in cells
    ]


def _measured(arm: ArmResult) -> list[str]:
    return [trial.trial_id for trial in arm.trials if trial.value is not None]


def _part(arm: ArmResult, noted: Mapping[str, str]) -> float:
    """Part of an arm's values that bear a note."""
    trials = _measured(arm)
    return sum(trial in noted for trial in trials) / len(trials) if trials else 0.0
