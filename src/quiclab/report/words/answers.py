# SPDX-License-Identifier: Apache-2.0
"""The answer in a sentence per row of the map: which arm is better than which, and for what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quiclab.compare.comparison_words import (
    ALLOWED_FOR,
    arms_compared,
    difference_words,
    faster,
    measured_parts,
    percent_words,
    slower,
    span_words,
)
from quiclab.compare.model import Comparison, Conclusion, Outcome, StudyAnalysis, TailState
from quiclab.model.number_text import listed


@dataclass(frozen=True)
class Answer:
    """An answer for one row of the map, or for several rows that have it in common."""

    place: str
    """`1 % loss`; `1 % loss; 2 % loss`; `every network`."""
    sentences: tuple[str, ...]
    """One sentence for each arm, or for several arms about which the same can be said."""


def answers(analysis: StudyAnalysis) -> list[Answer]:
    """Return an answer for every row of the map, in its order; rows that have it in common share one."""
    places: dict[tuple[str, ...], list[str]] = {}
    for path in analysis.paths:
        here = [comparison for comparison in analysis.comparisons if comparison.path == path]
        if not here:
            continue  # a single arm is compared with nothing
        places.setdefault(_sentences(here, analysis), []).append(analysis.path_titles[path])
    every = len(analysis.paths)
    return [
        Answer("every network" if len(at) == every > 1 else "; ".join(at), sentences)
        for sentences, at in places.items()
    ]


def _sentences(row: Sequence[Comparison], analysis: StudyAnalysis) -> tuple[str, ...]:
    by_arm: dict[str, list[Comparison]] = {}
    for comparison in row:
        by_arm.setdefault(comparison.other.arm, []).append(comparison)
    same: dict[str, list[str]] = {}
    found: dict[str, str] = {}
    for arm, cells in by_arm.items():
        won, rest = _won(cells, analysis), "; ".join(_rest(cells, analysis))
        if won:
            found[arm] = f"{arm} is " + "; ".join(filter(None, (*won, rest)))
        else:
            same.setdefault(rest, []).append(arm)
    for told, arms in same.items():
        found[arms[0]] = f"{arms_compared({arm: by_arm[arm][0].baseline.arm for arm in arms})}: {told}"
    return tuple(f"{found[arm]}." for arm in by_arm if arm in found)


def _won(cells: Sequence[Comparison], analysis: StudyAnalysis) -> list[str]:
    """Say where the arm is better and where worse by what matters, then by what perhaps does: what it takes less or
    more, always in per cent of the baseline's value."""
    baseline, metric = cells[0].baseline.arm, analysis.metric
    parts = []
    for conclusion, doubt in (
        (Conclusion.DIFFERENT, ""),
        (Conclusion.PERHAPS_SMALL, f", unclear whether by {analysis.matters_pct:g} %"),
    ):
        for outcome, word in ((Outcome.OTHER_BETTER, faster(metric)), (Outcome.BASELINE_BETTER, slower(metric))):
            here = [cell for cell in cells if cell.conclusion is conclusion and cell.outcome is outcome]
            if here:
                parts.append(f"{word} than {baseline}{doubt}: {listed([_by_how_much(c, analysis) for c in here])}")
    return parts


def _by_how_much(cell: Comparison, analysis: StudyAnalysis) -> str:
    span = span_words(cell, analysis.metric)
    found = difference_words(cell, analysis.metric) + (f" ({span})" if span else "")
    return f"{found} for {analysis.workload_titles[cell.workload]}"


def _rest(cells: Sequence[Comparison], analysis: StudyAnalysis) -> list[str]:
    """Say where no difference that matters was found: what is known all the same."""
    matters, parts = f"{analysis.matters_pct:g} %", []
    for conclusion, words in (
        (Conclusion.SMALL, f"the median differs by less than {matters} for"),
        (Conclusion.ALIKE, f"equivalent to within {matters} for"),
        (Conclusion.MEDIAN_ALIKE, f"the median is equivalent to within {matters} for"),
        (Conclusion.UNDECIDED, "inconclusive for"),
        (Conclusion.NOT_JUDGED, "not judged for"),
        (Conclusion.NOT_MEASURED, "not measured for"),
    ):
        here = [cell for cell in cells if cell.conclusion is conclusion]
        if here:
            told = f"{words} {listed([_cell_text(cell, analysis) for cell in here])}"
            if conclusion is Conclusion.NOT_JUDGED and any(cell.interval_pct is not None for cell in here):
                told += f"; {'the' if len(here) == 1 else 'each'} interval {ALLOWED_FOR}"
            parts.append(told)
    return parts


def _cell_text(cell: Comparison, analysis: StudyAnalysis) -> str:
    """The cell, with the difference that was found in it and what its slow tail is like, where either must be said: a
    cell that the machine spoiled has no answer but a measurement, and so has a study's only one that is open."""
    told = []
    alone = len(analysis.comparisons) == 1
    if cell.conclusion is Conclusion.NOT_JUDGED or (alone and cell.conclusion is Conclusion.UNDECIDED):
        measured = measured_parts(cell, analysis.metric)
        shown = measured if alone else measured[:2]  # all cells share a level, and most their pairs
        told = [f"measured {', '.join(shown)}"] if shown else []
    if cell.conclusion is Conclusion.SMALL:
        told = [*filter(None, (difference_words(cell, analysis.metric), span_words(cell, analysis.metric)))]
    if cell.tail is not None and cell.conclusion in (Conclusion.SMALL, Conclusion.MEDIAN_ALIKE):
        if cell.tail.state is TailState.DIFFERENT:
            tail_pct = cell.tail.difference_pct
            told.append(
                "but the slow tail, " + ("a failure" if tail_pct is None else percent_words(tail_pct, analysis.metric))
            )
        elif cell.tail.state is TailState.UNDECIDED:
            told.append("the slow tail is inconclusive")
    return analysis.workload_titles[cell.workload] + (f" ({', '.join(told)})" if told else "")
