# SPDX-License-Identifier: Apache-2.0
"""One line for each cell at the end of a run: the reasons why its arms differ."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from quiclab import wording
from quiclab.analysis import comparison_words
from quiclab.analysis.accounts import Step, Waterfall, waterfalls
from quiclab.analysis.model import Conclusion, StudyAnalysis
from quiclab.analysis.study import Study
from quiclab.errors import QuiclabError
from quiclab.opened import OpenedStudy
from quiclab.report.words.account import leaning, of_another_time, of_one_look

_MOST = 3
"""Reasons that a line names."""
_SMALL = 0.03
"""Share of what moved in all below which a line leaves a reason out."""


def because_lines(study: Study, analysis: StudyAnalysis) -> list[str]:
    """Return one line for each cell with an account; one that says so where the metric is another
    than that of the accounts."""
    try:
        waterfalls_of_cells = waterfalls(
            OpenedStudy(study.directory), analysis.comparisons, analysis.alpha, analysis.metric.name
        )
    except (QuiclabError, pl.exceptions.PolarsError):  # tables that are not there, or of another version
        return []
    found = [each for each in waterfalls_of_cells if each.pairs]
    if found and (note := of_another_time(analysis.metric.name, found[0].of, study.directory.name)):
        return [note]
    lines = [line(each, comparison_words.place(each.comparison, analysis), analysis.alpha) for each in found]
    if lines and (note := of_one_look(analysis)):
        lines.append(note)
    other = f" --metric {analysis.metric.name}" if analysis.page != "report" else ""
    more = f"More: quiclab explain {wording.from_here(study.directory)}{other}"
    return [*lines, more] if lines else []


def line(waterfall: Waterfall, place: str, alpha: float) -> str:
    """Say which reasons the pairs of one cell show, at most three; else which are largest on average."""
    least = _SMALL * waterfall.gross_ms
    steps = sorted(waterfall.steps, key=lambda step: -abs(step.difference_ms))
    large = [step for step in steps if abs(step.difference_ms) >= least]
    shown = [step for step in large if step.differs(alpha)][:_MOST]
    base, other = waterfall.comparison.baseline.arm, waterfall.comparison.other.arm
    total = f"{place}: mean of {other} − {base} {_signed(waterfall.total)}"
    if waterfall.comparison.conclusion is Conclusion.NOT_JUDGED:
        return f"{total}, not judged."
    if shown and waterfall.total.differs(alpha):
        return f"{total}, because of {_listed(shown)}."
    if shown:
        return f"{total}, not shown to differ{leaning(waterfall.total, alpha)}; parts that do: {_listed(shown)}."
    pairs = f"{wording.counted(waterfall.pairs, 'pair')} {'shows' if waterfall.pairs == 1 else 'show'} no reason"
    return f"{total}; {pairs}. Largest on average: {_listed(large[:_MOST]) or 'none'}."


def _listed(steps: Sequence[Step]) -> str:
    return wording.listed([f"{step.label.heading if step.label else ''} ({_signed(step)})" for step in steps])


def _signed(step: Step) -> str:
    sign = "+" if step.difference_ms > 0 else "−"
    return f"{sign}{wording.quantity(abs(step.difference_ms), 'ms')}"
