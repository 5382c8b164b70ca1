# SPDX-License-Identifier: Apache-2.0
"""The figures of a whole study on the report's page, each where the study has something for it."""

from __future__ import annotations

import polars as pl

from quiclab import figures
from quiclab.errors import QuiclabError
from quiclab.opened import OpenedStudy
from quiclab.report.gather import Asked, gather
from quiclab.report.model import StudyAnalysis
from quiclab.report.packing import packed
from quiclab.report.pair_figures import Drawn
from quiclab.report.study import Study

_OF_STUDY = ("against_best", "proxy", "migration", "improvement", "zero_rtt", "video_quality", "stall_reduction",
             "main_image")  # fmt: skip


def study_figures(study: Study, analysis: StudyAnalysis) -> list[Drawn]:
    """In the order of their names above; the data of each is written beside the report."""
    drawn: list[Drawn] = []
    known = {figure.name: figure for figure in figures.FIGURES}
    for name in _OF_STUDY:
        try:
            data = gather(name, Asked(OpenedStudy(study.directory), analysis))
        except (QuiclabError, pl.exceptions.PolarsError):  # tables that are not there, or of another version
            continue
        if data.height and _says_more(name, analysis):
            folder = study.directory / "report" / "data"
            folder.mkdir(parents=True, exist_ok=True)
            data.write_csv(folder / f"{name}.csv")
            drawn.append(Drawn(name, known[name].question, packed(figures.spec(known[name].draw(data)))))
    return drawn


def _says_more(name: str, analysis: StudyAnalysis) -> bool:
    """Whether it tells what the map of differences does not: β and the best arm, only among several arms and sites."""
    arms = {c.other.arm for c in analysis.comparisons}
    if name == "improvement":
        return analysis.metric.name in ("plt_ms", "speed_index_ms") and len(analysis.workloads) > 1
    return len(arms) > 1 if name == "against_best" else True
