# SPDX-License-Identifier: Apache-2.0
"""Check that a study's pairs are independent of those before them, which every p and every interval takes for
granted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from quiclab.compare import comparison_words, statistics
from quiclab.compare.differences_by_block import differences_by_block
from quiclab.compare.model import Comparison, Metric, StudyAnalysis
from quiclab.compare.paired import FloatArray
from quiclab.compare.statistics import Independence
from quiclab.model import number_text
from quiclab.model.text_table import TextTable


def independence_notes(main: Sequence[Comparison], metric: Metric) -> tuple[str, ...]:
    """Return what must be said at the answer: nothing where the pairs show no dependence."""
    found = statistics.independence(_series_by_cell(main, metric))
    if found is None or not (found.neighbours_depend or found.moves):
        return ()
    what = []
    if found.neighbours_depend:
        what.append(
            f"neighbouring blocks show similar differences (lag-1 rank autocorrelation "
            f"{_signed(found.autocorrelation)}, p {number_text.p_sign(found.autocorrelation_p)})"
        )
    if found.moves:
        what.append(
            f"the differences move one way in the course of the study (Kendall's tau {_signed(found.tau)}, "
            f"p {number_text.p_sign(found.tau_p)})"
        )
    worth = (
        f" These {found.values} pairs tell about as much as {found.worth:.0f} independent ones."
        if found.neighbours_depend
        else ""
    )
    return (
        f"The pairs are not independent of each other: {' and '.join(what)}. Something that changes slowly affects one "
        "arm more than the other, so p-values are too small and intervals too narrow, and arms that are equal would be "
        f"called different more often than alpha says.{worth} Trust only differences that are far larger than their "
        "intervals, and run the study again at another hour or on a quieter machine.",
    )


def independence_table(analysis: StudyAnalysis) -> TextTable:
    """Return the table of both statistics: of each comparison, and of all together."""
    everything = statistics.independence(_series_by_cell(analysis.comparisons, analysis.metric))
    rows = [
        (comparison_words.cell_name(each, analysis), each.other.arm, *_cells(found), "")
        for each in analysis.comparisons
        if (found := statistics.independence(_series_by_cell([each], analysis.metric))) is not None
    ]
    note = (
        "Each difference within a pair against that of the block before (autocorrelation of the ranks at lag 1, p of a "
        "positive one by permutation) and against time (Kendall's tau). The first row decides, as it counts all cells: "
        "it calls a study dependent where either p is at most 0.025. A single cell has few pairs, and one of many "
        "is below 0.05 by chance."
    )
    if everything is not None:
        rows.insert(0, ("all cells", "", *_cells(everything), _verdict(everything)))
        note += (
            f" So many pairs show an autocorrelation of {everything.would_be_seen:.2f} in four studies of five; a "
            "weaker one can go unseen."
        )
    return TextTable(
        "Independence of the pairs",
        note,
        ("cell", "arm", "pairs", "autocorrelation", "p", "tau", "p of tau", ""),
        tuple(rows),
        "Too few pairs to tell whether they are independent: five in a cell are the least.",
    )


def _verdict(found: Independence) -> str:
    told = (("neighbours depend", found.neighbours_depend), ("moves with time", found.moves))
    return ", ".join(words for words, holds in told if holds) or "no dependence seen"


def _cells(found: Independence) -> tuple[str, ...]:
    return (
        str(found.values),
        _signed(found.autocorrelation),
        number_text.p_text(found.autocorrelation_p),
        _signed(found.tau),
        number_text.p_text(found.tau_p),
    )


def _series_by_cell(main: Sequence[Comparison], metric: Metric) -> list[list[FloatArray]]:
    """Cell by cell the series of its arms, on the same blocks: they share the baseline's trials."""
    cells: dict[str, list[dict[int, float]]] = {}
    for comparison in main:
        cells.setdefault(comparison.cell_id, []).append(differences_by_block(comparison, metric))
    return [_on_the_same_blocks(arms) for arms in cells.values()]


def _on_the_same_blocks(arms: Sequence[Mapping[int, float]]) -> list[FloatArray]:
    blocks = sorted({block for arm in arms for block in arm})
    return [np.array([arm.get(block, math.nan) for block in blocks]) for arm in arms]


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
