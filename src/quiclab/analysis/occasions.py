# SPDX-License-Identifier: Apache-2.0
"""What the occasions of a study tell: whether a difference is the same on each of them, and how much it varies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np
import polars as pl

from quiclab import statistics, wording
from quiclab.analysis import comparison_words
from quiclab.analysis.differences_by_block import differences_by_block, has_ratios
from quiclab.analysis.model import Comparison, Metric, StudyAnalysis
from quiclab.analysis.study import Study, read_table
from quiclab.analysis.within_pairs import values_within_pairs
from quiclab.text_table import TextTable

LEVEL = 0.05
"""Level at which occasions are said to differ, after Benjamini–Hochberg over the comparisons."""
CONFIDENCE = 0.95
_LEAST_OCCASIONS = 3
"""Fewest occasions for an interval over them: from two it would hold nearly everything."""
_COLUMNS = {"trial_id": pl.String, "attempt": pl.Int64, "began_utc": pl.String, "occasion": pl.Int64}

Occasions = Mapping[str, int]
"""Trial → occasion of its last attempt."""


def occasion_notes(study: Study, main: Sequence[Comparison], metric: Metric) -> tuple[str, ...]:
    """Return what must be said at the answer: that there was one occasion, or that several do not agree."""
    trials = _trials(study)
    of = dict(trials.select("trial_id", "occasion").rows())
    if not of or not main:
        return ()
    if len(set(of.values())) == 1:
        return (
            f"This holds on this machine, in {_stretch(trials)}: all trials ran on one occasion. Intervals tell what "
            "more trials there would show, not what another day or machine would (docs/how-to/replicate.md).",
        )
    found = [(each, _differ_p(each, metric, of)) for each in main]
    p = np.array([math.nan if own is None else own for _, own in found])
    adjusted = statistics.adjusted_p_values(p)
    told = [
        f"{each.workload}/{each.path} ({each.other.arm}, p {wording.p_sign(float(own))})"
        for (each, _), own in zip(found, adjusted, strict=True)
        if own <= LEVEL
    ]
    if not told:
        return ()
    return (
        f"The difference is not the same on each occasion: {wording.listed(told)}. Its interval and p count blocks as "
        "if all were of one occasion, and are too sure of themselves there; the table Occasions shows each.",
    )


def occasion_tables(study: Study, analysis: StudyAnalysis) -> list[TextTable]:
    """Return the table of a study that ran on several occasions; none of any other."""
    of = dict(_trials(study).select("trial_id", "occasion").rows())
    if len(set(of.values())) < 2:
        return []
    rows = tuple(row for each in analysis.comparisons if (row := _row(each, analysis, of)) is not None)
    return [
        TextTable(
            "Occasions",
            "An occasion is a stretch of time on one boot of one machine, without a pause of an hour. The difference "
            "within pairs (100 times the logarithm of the ratio, nearly per cent; positive: the arm is better) is the "
            "median of each occasion; then their mean with an interval by Student, from "
            f"{_LEAST_OCCASIONS} occasions on, and the p of a difference between them (Kruskal–Wallis, by "
            "permutation, not corrected). Standard deviations in the same unit: of the difference between occasions "
            "and between the blocks of one; of the times themselves between occasions, between the blocks of one, and "
            "within blocks. What varies between occasions no number of blocks on one of them shows. Pairs with a "
            "failure are left out of mean and deviations.",
            ("cell", "arm", "pairs", "difference, by occasion", "mean over occasions", "p", "sd between occasions",
             "between blocks", "times: sd between occasions", "between blocks", "within blocks"),
            rows,
            "No pair has both values.",
        )
    ]  # fmt: skip


def _trials(study: Study) -> pl.DataFrame:
    """The last attempt of each trial with its occasion; none of tables that an earlier version made."""
    table = read_table(study.directory / "tables" / "trials.parquet", _COLUMNS, [])
    return table.sort("attempt").group_by("trial_id", maintain_order=True).last().drop_nulls()


def _stretch(trials: pl.DataFrame) -> str:
    """`this hour`, or `these 5 hours` from the first trial's start to the last one's."""
    begun = [datetime.fromisoformat(each) for each in trials["began_utc"]]
    hours = round((max(begun) - min(begun)) / timedelta(hours=1))
    return "this hour" if hours <= 1 else f"these {hours} hours"


def _by_occasion(comparison: Comparison, metric: Metric, of: Occasions) -> dict[int, dict[int, float]]:
    """Occasion → block → difference. A block whose trials are of two occasions is of neither."""
    occasions = [
        {trial.block: of[trial.trial_id] for trial in arm.trials if trial.trial_id in of}
        for arm in (comparison.baseline, comparison.other)
    ]
    found: dict[int, dict[int, float]] = {}
    for block, difference in differences_by_block(comparison, metric).items():
        first, second = (each.get(block) for each in occasions)
        if first is not None and first == second:
            found.setdefault(first, {})[block] = difference
    return dict(sorted(found.items()))


def _differ_p(comparison: Comparison, metric: Metric, of: Occasions) -> float | None:
    groups = {o: list(blocks.values()) for o, blocks in _by_occasion(comparison, metric, of).items() if len(blocks) > 1}
    values = np.array([value for group in groups.values() for value in group])
    return statistics.occasions_differ_p(values, np.repeat(list(groups), [len(group) for group in groups.values()]))


def _row(comparison: Comparison, analysis: StudyAnalysis, of: Occasions) -> tuple[str, ...] | None:
    metric = analysis.metric
    if not has_ratios(comparison, metric):
        return None
    by_occasion = _by_occasion(comparison, metric, of)
    shifts = [statistics.median(np.array(list(blocks.values()))) for blocks in by_occasion.values()]
    p = _differ_p(comparison, metric, of)
    return (
        comparison_words.place(comparison, analysis),
        comparison.other.arm,
        ", ".join(str(len(blocks)) for blocks in by_occasion.values()),
        ", ".join(_signed(shift) for shift in shifts),
        _mean(shifts),
        wording.p_text(p) or "–",
        *_deviations(comparison, metric, by_occasion),
    )


def _mean(shifts: Sequence[float]) -> str:
    if len(shifts) < _LEAST_OCCASIONS or not np.isfinite(shifts).all():
        return "–"
    found = statistics.mean(np.array(shifts), CONFIDENCE)
    if found is None or found.interval is None:
        return "–"
    return f"{_signed(found.estimate)} ({_signed(found.interval.low)} … {_signed(found.interval.high)})"


def _deviations(
    comparison: Comparison, metric: Metric, by_occasion: Mapping[int, Mapping[int, float]]
) -> tuple[str, ...]:
    """Components of the difference, then those of the times."""
    of_other = {trial.block for trial in comparison.other.trials}
    blocks = [trial.block for trial in comparison.baseline.trials if trial.block in of_other]
    values = np.column_stack(values_within_pairs(comparison.baseline, comparison.other, metric))
    rows = dict(zip(blocks, values, strict=True))
    finite = [(o, b) for o, its in by_occasion.items() for b in its if np.isfinite(rows[b]).all()]
    occasions = np.array([occasion for occasion, _ in finite], dtype=np.int64)
    differences = np.array([by_occasion[occasion][block] for occasion, block in finite])
    if not finite:
        return ("–",) * 5
    of_difference = statistics.variance_components(differences, occasions)
    of_times = statistics.variance_components(100 * np.log(np.array([rows[block] for _, block in finite])), occasions)
    if of_difference is None or of_times is None:
        return ("–",) * 5
    found = (of_difference.occasions, of_difference.blocks, of_times.occasions, of_times.blocks, of_times.within)
    return tuple(f"{each:.2g}" for each in found)


def _signed(value: float) -> str:
    return "by failures" if math.isinf(value) else f"{value:+.1f}".replace("-", "−")
