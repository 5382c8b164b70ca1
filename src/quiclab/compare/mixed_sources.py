# SPDX-License-Identifier: Apache-2.0
"""Cells whose arms are measured by different sources: part of such a difference is that of the sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import polars as pl

from quiclab.compare.model import ArmResult, Comparison, Metric
from quiclab.compare.study import Study
from quiclab.model import number_text


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
