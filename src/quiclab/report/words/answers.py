# SPDX-License-Identifier: Apache-2.0
"""The answer in a sentence per row of the map: which arm is better than which, and for what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quiclab.analysis.comparison_words import difference_text, faster, winner
from quiclab.analysis.model import Comparison, Outcome, StudyAnalysis
from quiclab.wording import listed

_WITHOUT = ((Outcome.UNDECIDED, "undecided"), (Outcome.NOT_MEASURED, "not measured"))


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
        nothing = _without_winner(cells, analysis)
        if any(map(winner, cells)):
            found[arm] = "; ".join((*_won(cells, analysis), *nothing))
        else:
            same.setdefault("; ".join(nothing), []).append(arm)
    for told, arms in same.items():
        found[arms[0]] = f"{listed(arms)} against {row[0].baseline.arm}: {told}"
    return tuple(f"{found[arm]}." for arm in by_arm if arm in found)


def _won(cells: Sequence[Comparison], analysis: StudyAnalysis) -> list[str]:
    baseline, other = cells[0].baseline.arm, cells[0].other.arm
    parts = []
    for better, worse in ((other, baseline), (baseline, other)):
        won = [cell for cell in cells if winner(cell) == better]
        if won:
            where = listed([f"{analysis.workload_titles[c.workload]} ({difference_text(c)})" for c in won])
            parts.append(f"{better} is {faster(analysis.metric)} than {worse} for {where}")
    return parts


def _without_winner(cells: Sequence[Comparison], analysis: StudyAnalysis) -> list[str]:
    parts = []
    for outcome, words in ((Outcome.NOT_SIGNIFICANT, "no significant difference"), *_WITHOUT):
        found = [analysis.workload_titles[cell.workload] for cell in cells if cell.outcome is outcome]
        if found:
            everywhere = len(found) == len(cells) > 1
            parts.append(words if everywhere and outcome is Outcome.NOT_SIGNIFICANT else f"{words} for {listed(found)}")
    return parts
