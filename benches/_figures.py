# SPDX-License-Identifier: Apache-2.0
"""Time that a figure takes, from the tables on the disk to what a page carries."""

from __future__ import annotations

import time
from pathlib import Path

from quiclab.compare.analyse import analyse_study
from quiclab.compare.study_tables import open_study
from quiclab.report import figures
from quiclab.report.figures import FIGURES, Asked, Figure, Where
from quiclab.report.page.column_packing import packed

OF_STUDY = ("differences", "factor", "cumulative", "first_loss", "path", "cost")
"""Figures that read every trial of a study, or of a cell."""


def pair_seconds(study: Path) -> list[float]:
    """Seconds of each figure of a pair that the study has something for, the analysis in hand as in a report."""
    analysis = analyse_study(study)
    asked = Asked(open_study(study), analysis, analysis.comparisons[0].cell_id)
    taken = [_drawn(figure, asked) for figure in FIGURES if figure.where is Where.PAIR]
    return [seconds for seconds in taken if seconds is not None]


def study_seconds(study: Path) -> dict[str, float]:
    """Figure of a whole study → seconds, its analysis included. Raises ValueError where the study lacks its data."""
    taken = {}
    for figure in (each for each in FIGURES if each.name in OF_STUDY):
        begin = time.perf_counter()
        asked = Asked(open_study(study), analyse_study(study), factor="size")
        if _drawn(figure, asked) is None:
            raise ValueError(f"the study has nothing for {figure.name}")
        taken[figure.name] = time.perf_counter() - begin
    return taken


def _drawn(figure: Figure, asked: Asked) -> float | None:
    """Seconds; None where the study has nothing for it."""
    begin = time.perf_counter()
    data = figure.gather(asked)
    if not data.height:
        return None
    packed(figures.spec(figure.draw(data)))
    return time.perf_counter() - begin
