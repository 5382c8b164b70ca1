# SPDX-License-Identifier: Apache-2.0
"""The timeline of a study's largest difference: the median trial of each arm, on the first screen of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from quiclab.compare.model import Conclusion, StudyAnalysis
from quiclab.compare.study import Study
from quiclab.compare.study_tables import OpenedStudy
from quiclab.model import number_text
from quiclab.model.errors import QuiclabError
from quiclab.report import figures
from quiclab.report.figures.timeline import Timeline
from quiclab.report.page.column_packing import packed
from quiclab.report.page.pair_figures import AskedOfPair
from quiclab.report.page.pairs import Cell, Pair


@dataclass(frozen=True)
class MedianTimeline:
    """The timeline of one cell's median trials."""

    place: str
    """Title of the cell."""
    reason: str
    """Reason for the choice of this cell."""
    trials: str
    """Each arm with its time and the block of its trial, as a list in a sentence."""
    file: str
    """Page of these trials, where each stretch has its packets."""
    spec: Mapping[str, object]


def chosen_cell(analysis: StudyAnalysis, cells: Sequence[Cell]) -> tuple[Sequence[Cell], str]:
    """Return the cell of the largest difference that was found, else all cells, and the reason for the choice in
    words."""
    if any(each.outcome.significant for each in analysis.comparisons):
        return [cell for cell in cells if cell.cell_id == analysis.most_different], "where the difference is largest"
    judged = any(each.conclusion is not Conclusion.NOT_JUDGED for each in analysis.comparisons)
    return cells, "where no difference was found" if judged else "which could not be judged"


def median_timeline(study: Study, analysis: StudyAnalysis, cells: Sequence[Cell]) -> MedianTimeline | None:
    """Return the timeline of the cell with the largest judged difference, else of the first that has one."""
    wanted, reason = chosen_cell(analysis, cells)
    medians = (pair for cell in wanted for pair in cell.pairs if pair.block is None)
    for pair in medians:
        if (spec := _spec(study, analysis, pair)) is not None:
            return MedianTimeline(pair.cell_title, reason, _trials(pair, analysis), pair.file, spec)
    return None


def _spec(study: Study, analysis: StudyAnalysis, pair: Pair) -> Mapping[str, object] | None:
    figure = Timeline()
    try:
        opened = OpenedStudy(study.directory)
        data = figures.gathered(figure, AskedOfPair(opened, analysis, pair.cell, None, pair=pair))
    except (QuiclabError, pl.exceptions.PolarsError):  # tables that are not there, or of another version
        return None
    if data.is_empty():
        return None
    spec = packed(figures.spec(figure.draw(data)))
    spec["layout"]["meta"]["opens"] = pair.file  # a click leads there: the packets are not on this page
    return spec


def _trials(pair: Pair, analysis: StudyAnalysis) -> str:
    unit = analysis.metric.unit
    return number_text.listed(
        [f"{each.arm} {number_text.quantity(each.value, unit)} (block {each.block})" for each in pair.trials]
    )
