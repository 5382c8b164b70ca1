# SPDX-License-Identifier: Apache-2.0
"""Table of the occasions of a study: the difference on each, over all of them, and how much it varies."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from quiclab.compare import comparison_words, statistics
from quiclab.compare.differences_by_block import has_ratios
from quiclab.compare.model import Comparison, Metric, StudyAnalysis
from quiclab.compare.occasions import differ_p, trials_with_occasion
from quiclab.compare.over_occasions import (
    LEAST_OCCASIONS,
    Cell,
    Occasions,
    by_occasion,
    claimed,
    held_over_occasions,
    medians_of,
)
from quiclab.compare.paired import values_within_pairs
from quiclab.compare.study import Study
from quiclab.model import number_text
from quiclab.model.text_table import TextTable

CONFIDENCE = 0.95


def occasion_tables(study: Study, analysis: StudyAnalysis) -> list[TextTable]:
    """Return the table of a study that ran on several occasions; none of any other."""
    of = dict(trials_with_occasion(study).select("trial_id", "occasion").rows())
    if len(set(of.values())) < 2:
        return []
    held = held_over_occasions(analysis.comparisons, analysis.metric, of, analysis.alpha, analysis.matters_pct)
    rows = tuple(row for each in analysis.comparisons if (row := _row(each, analysis, of, held)) is not None)
    return [
        TextTable(
            "Sessions",
            "A session is a stretch of time on one boot of one machine, without a pause of an hour. The difference "
            "within pairs (100 times the logarithm of the ratio, nearly per cent; −: the arm has less) is the "
            f"median of each session; then their mean with Student's 95 % interval, from {LEAST_OCCASIONS} sessions "
            "on. Holds for others: the interval over sessions, corrected for all cells, bears out what the answer "
            "says of the cell. p: of a difference between the sessions (Kruskal–Wallis by permutation, not "
            "corrected). Standard deviations in the same unit: of the difference between sessions "
            "and between the blocks of one; of the times themselves between sessions, between the blocks of one, and "
            "within blocks. What varies between sessions no number of blocks on one of them shows. Pairs with a "
            "failure are left out of mean and deviations.",
            ("cell", "arm", "pairs", "difference, by session", "mean over sessions", "holds for others", "p",
             "sd between sessions", "between blocks", "times: sd between sessions", "between blocks",
             "within blocks"),
            rows,
            "No pair has both values.",
        )
    ]  # fmt: skip


def _row(
    comparison: Comparison, analysis: StudyAnalysis, of: Occasions, held: Collection[Cell]
) -> tuple[str, ...] | None:
    metric = analysis.metric
    if not has_ratios(comparison, metric):
        return None
    found = by_occasion(comparison, metric, of)
    medians = medians_of(found)
    p = differ_p(comparison, metric, of)
    return (
        comparison_words.cell_name(comparison, analysis),
        comparison.other.arm,
        ", ".join(str(len(blocks)) for blocks in found.values()),
        ", ".join(map(_signed, medians)),
        _mean(medians),
        _holds(comparison, len(medians), held),
        number_text.p_text(p) or "–",
        *_deviations(comparison, metric, found),
    )


def _holds(comparison: Comparison, occasions: int, held: Collection[Cell]) -> str:
    if not claimed(comparison) or occasions < LEAST_OCCASIONS:
        return "–"
    return "yes" if (comparison.cell_id, comparison.other.arm) in held else "not shown"


def _mean(shifts: Sequence[float]) -> str:
    if len(shifts) < LEAST_OCCASIONS or not np.isfinite(shifts).all():
        return "–"
    found = statistics.mean(np.array(shifts), CONFIDENCE)
    if found is None or found.interval is None:
        return "–"
    return f"{_signed(found.estimate)} ({_signed(found.interval.low)} … {_signed(found.interval.high)})"


def _deviations(comparison: Comparison, metric: Metric, measured: Mapping[int, Mapping[int, float]]) -> tuple[str, ...]:
    """Components of the difference, then those of the times."""
    of_other = {trial.block for trial in comparison.other.trials}
    blocks = [trial.block for trial in comparison.baseline.trials if trial.block in of_other]
    values = np.column_stack(values_within_pairs(comparison.baseline, comparison.other, metric))
    rows = dict(zip(blocks, values, strict=True))
    finite = [(o, b) for o, its in measured.items() for b in its if np.isfinite(rows[b]).all()]
    occasions = np.array([occasion for occasion, _ in finite], dtype=np.int64)
    differences = np.array([measured[occasion][block] for occasion, block in finite])
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
