# SPDX-License-Identifier: Apache-2.0
"""Limits of a study by its occasions, said at the answer: there was one, or several that agree or not."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import numpy as np
import polars as pl

from quiclab.compare import statistics
from quiclab.compare.model import Comparison, Metric
from quiclab.compare.over_occasions import LEAST_OCCASIONS, Cell, Occasions, by_occasion, claimed, held_over_occasions
from quiclab.compare.study import Study, read_table
from quiclab.model import number_text

LEVEL = 0.05
"""Level at which occasions are said to differ, after Benjamini–Hochberg over the comparisons."""
_COLUMNS = {"trial_id": pl.String, "attempt": pl.Int64, "began_utc": pl.String, "occasion": pl.Int64}


def occasion_notes(
    study: Study, main: Sequence[Comparison], metric: Metric, alpha: float, matters_pct: float
) -> tuple[str, ...]:
    """Return what must be said at the answer: how many occasions there were, whether these agree, and whether the
    results hold for others."""
    trials = trials_with_occasion(study)
    of = dict(trials.select("trial_id", "occasion").rows())
    if not of or not main:
        return ()
    number = len(set(of.values()))
    if number == 1:
        return (
            f"All trials ran in one session on one machine, in {_stretch(trials)}: another day or machine may differ "
            "(docs/how-to/replicate.md).",
        )
    return (*_disagreement(main, metric, of), _reach(main, number, held_over_occasions(
        main, metric, of, alpha, matters_pct)))  # fmt: skip


def _disagreement(main: Sequence[Comparison], metric: Metric, of: Occasions) -> tuple[str, ...]:
    found = [(each, differ_p(each, metric, of)) for each in main]
    p = np.array([math.nan if own is None else own for _, own in found])
    adjusted = statistics.adjusted_p_values(p)
    told = [
        f"{_cell_and_arm(each, main)} (p {number_text.p_sign(float(own))})"
        for (each, _), own in zip(found, adjusted, strict=True)
        if own <= LEVEL
    ]
    if not told:
        return ()
    return (
        f"The difference is not the same in each session: {number_text.listed(told)}. There the answer is an average "
        "over these sessions; the table Sessions shows each.",
    )


def _reach(main: Sequence[Comparison], number: int, held: Collection[Cell]) -> str:
    """Reach of the answer beyond the occasions of the study."""
    these = f"The trials ran in {number} sessions (another boot or machine, or a pause of an hour, begins a new one)"
    if number < LEAST_OCCASIONS:
        return (
            f"{these}. The answer is about these {number}: what another day or machine would show takes at least "
            f"{LEAST_OCCASIONS} sessions, better six (docs/how-to/replicate.md)."
        )
    said = [each for each in main if claimed(each)]
    holding = [_cell_and_arm(each, main) for each in said if (each.cell_id, each.other.arm) in held]
    if not said:
        return f"{these}. The answer is about these {number}."
    if not holding:
        return (
            f"{these}. The answer is about these {number}. With each of them counted as one value, no cell's result is "
            "shown for other sessions too: they are too few or differ too much (docs/how-to/replicate.md)."
        )
    also = f"{these}. With each of them counted as one value, the result also holds for other sessions like these"
    if len(holding) == len(said):
        return f"{also} in {number_text.counted(len(said), 'cell')}: each that has one."
    return f"{also} in {number_text.listed(holding)}; elsewhere it is about these alone."


def _cell_and_arm(comparison: Comparison, main: Sequence[Comparison]) -> str:
    """Cell of a comparison, with its arm where several are compared with the baseline."""
    several = len({each.other.arm for each in main}) > 1
    return f"{comparison.workload}/{comparison.path}" + (f" ({comparison.other.arm})" if several else "")


def trials_with_occasion(study: Study) -> pl.DataFrame:
    """The last attempt of each trial with its occasion; none of tables that an earlier version made."""
    table = read_table(study.directory / "tables" / "trials.parquet", _COLUMNS, [])
    return table.sort("attempt").group_by("trial_id", maintain_order=True).last().drop_nulls()


def _stretch(trials: pl.DataFrame) -> str:
    """`this hour`, or `these 5 hours` from the first trial's start to the last one's."""
    begun = [datetime.fromisoformat(each) for each in trials["began_utc"]]
    hours = round((max(begun) - min(begun)) / timedelta(hours=1))
    return "this hour" if hours <= 1 else f"these {hours} hours"


def differ_p(comparison: Comparison, metric: Metric, of: Occasions) -> float | None:
    """P-value of a difference that would be the same on each occasion; None where nothing can be told."""
    groups = {o: list(blocks.values()) for o, blocks in by_occasion(comparison, metric, of).items() if len(blocks) > 1}
    values = np.array([value for group in groups.values() for value in group])
    return statistics.occasions_differ_p(values, np.repeat(list(groups), [len(group) for group in groups.values()]))
