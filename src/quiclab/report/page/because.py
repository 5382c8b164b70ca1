# SPDX-License-Identifier: Apache-2.0
"""Why the arms differ, on the page: a sentence for each cell, and its waterfall of reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from quiclab import figures, wording
from quiclab.analysis import comparison_words
from quiclab.analysis.accounts import waterfalls
from quiclab.analysis.model import StudyAnalysis
from quiclab.analysis.study import Study
from quiclab.errors import QuiclabError
from quiclab.figures.reasons import Reasons, steps_of
from quiclab.opened import OpenedStudy
from quiclab.report.page.packing import packed
from quiclab.report.words import account


@dataclass(frozen=True)
class CellReasons:
    """One cell's reasons."""

    place: str
    sentences: tuple[str, ...]
    spec: Mapping[str, Any]
    """The waterfall."""


@dataclass(frozen=True)
class Because:
    """The reasons of all cells that have an account."""

    cells: tuple[CellReasons, ...]
    limits: str
    """What the numbers are of, and what they do not tell."""
    lacking: str
    """What of the study has no account; empty where all has."""


def because(study: Study, analysis: StudyAnalysis, data: Path) -> Because | None:
    """The reasons, and `reasons.csv` with their numbers in `data`; None where no cell has an account of its metric."""
    if analysis.metric.name != "ttlb_ms":
        return None
    try:
        found = waterfalls(OpenedStudy(study.directory), analysis.comparisons, analysis.alpha)
    except (QuiclabError, pl.exceptions.PolarsError):  # tables that are not there, or of another version
        return None
    with_pairs = [each for each in found if each.pairs]
    if not with_pairs:
        return None
    cells, rows = [], []
    for each in with_pairs:
        place = comparison_words.place(each.comparison, analysis)
        steps = pl.DataFrame(steps_of(each, place, analysis.alpha))
        told = (account.because(each, analysis.alpha), account.parting(each, analysis.alpha))
        cells.append(CellReasons(place, tuple(filter(None, told)), packed(figures.spec(Reasons().draw(steps)))))
        rows.append(steps)
    pl.concat(rows, how="vertical_relaxed").write_csv(data / "reasons.csv")
    without = sum(each.without for each in found)
    lacking = f"{wording.counted(without, 'pair')} have no account of their time." if without else ""
    return Because(tuple(cells), account.limits(with_pairs, analysis.alpha), lacking)
