# SPDX-License-Identifier: Apache-2.0
"""One line for each cell at the end of a run: why its arms differ."""

from __future__ import annotations

import polars as pl

from quiclab.compare import comparison_words
from quiclab.compare.model import Conclusion, StudyAnalysis
from quiclab.compare.study import Study
from quiclab.compare.study_tables import OpenedStudy
from quiclab.model import number_text
from quiclab.model.errors import QuiclabError
from quiclab.report.words.account import other_time_note, single_look_note
from quiclab.report.words.headline import headline
from quiclab.why.accounts import waterfalls
from quiclab.why.causes import verdicts


def because_lines(study: Study, analysis: StudyAnalysis) -> list[str]:
    """Return one line for each judged cell with an account; one that says so where the metric is another than that of
    the accounts. The reason why a cell is not judged is told before them, once for all cells."""
    try:
        opened = OpenedStudy(study.directory)
        of_cells = waterfalls(opened, analysis.comparisons, analysis.alpha, analysis.metric.name)
        causes = verdicts(opened, of_cells, analysis.alpha, foretold=False)
    except (QuiclabError, pl.exceptions.PolarsError):  # tables that are not there, or of another version
        return []
    found = [
        (each, own)
        for each, own in zip(of_cells, causes, strict=True)
        if each.pairs and each.comparison.conclusion is not Conclusion.NOT_JUDGED
    ]
    if found and (note := other_time_note(analysis.metric.name, found[0][0].of, study.directory.name)):
        return [note]
    lines = [
        f"{comparison_words.cell_name(each.comparison, analysis)}: {headline(each, own, analysis.alpha)}"
        for each, own in found
    ]
    if lines and (note := single_look_note(analysis)):
        lines.append(note)
    other = f" --metric {analysis.metric.name}" if analysis.page != "report" else ""
    more = f"More: quiclab explain {number_text.from_here(study.directory)}{other}"
    return [*lines, more] if lines else []
