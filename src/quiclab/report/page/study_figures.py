# SPDX-License-Identifier: Apache-2.0
"""The figures of a whole study on the report's page, each where the study has something for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import polars as pl

from quiclab import figures, wording
from quiclab.analysis import figure_data
from quiclab.analysis.factors import factor_data, factor_title, factors_of, leading
from quiclab.analysis.model import StudyAnalysis
from quiclab.analysis.study import Study
from quiclab.errors import QuiclabError
from quiclab.figures import _page_load as page_load
from quiclab.figures._asked import Asked, gather
from quiclab.figures._first_losses import first_loss
from quiclab.opened import OpenedStudy
from quiclab.report.page.packing import packed

MOST_PANELS = 12
"""Of one factor on the page: more take a reader's time to open and are better looked at by themselves."""


@dataclass(frozen=True)
class Part:
    """One drawing: of the whole study, of one cell, or along one factor."""

    name: str
    """Of its element on the page."""
    title: str
    """What tells it from the others; empty where there is one."""
    rest: str
    """What it leaves out, with the command that draws that too; empty where it is whole."""
    spec: Mapping[str, Any]


@dataclass(frozen=True)
class Section:
    """One question with its drawings, whose data are the file `NAME.csv`."""

    name: str
    question: str
    parts: tuple[Part, ...]

    @property
    def by_cell(self) -> bool:
        """Whether they are small enough to stand side by side."""
        return self.name in _OF_CELLS


def study_figures(study: Study, analysis: StudyAnalysis) -> list[Section]:
    """Those that have something to show, in the registry's order; the data of each is written beside the report."""
    found: list[Section] = []
    folder = study.directory / analysis.page / "data"
    for figure in figures.FIGURES:
        if figure.name not in PLACED:
            continue
        try:
            data, parts = PLACED[figure.name](figure, study, analysis)
        except (QuiclabError, pl.exceptions.PolarsError):  # tables that are not there, or of another version
            continue
        if parts:
            folder.mkdir(parents=True, exist_ok=True)
            data.write_csv(folder / f"{figure.name}.csv")
            found.append(Section(figure.name, figure.question, tuple(parts)))
    return found


Placed = tuple[pl.DataFrame, list[Part]]
"""All of a section's data, and its drawings."""


def _of_study(figure: figures.Figure, study: Study, analysis: StudyAnalysis) -> Placed:
    data = gather(figure.name, Asked(OpenedStudy(study.directory), analysis))
    shown = data.height and _says_more(figure.name, analysis)
    return data, [Part(figure.name, "", "", _spec(figure, data))] if shown else []


def _says_more(name: str, analysis: StudyAnalysis) -> bool:
    """Whether it tells what the map of differences does not: β and the best arm, only among several arms and sites."""
    arms = {c.other.arm for c in analysis.comparisons}
    if name == "improvement":
        return analysis.metric.name in ("plt_ms", "speed_index_ms") and len(analysis.workloads) > 1
    return len(arms) > 1 if name == "against_best" else True


def _of_factors(figure: figures.Figure, study: Study, analysis: StudyAnalysis) -> Placed:
    """A drawing for each factor that something can be followed along."""
    found = factors_of(study, analysis)
    parts, tables = [], []
    for name in leading(found):
        data = factor_data(analysis, name, found[name])
        tables.append(data.select(pl.lit(name).alias("factor"), pl.all()))
        shown, rest = _fewer(name, data)
        parts.append(Part(f"factor-{name}", factor_title(name), rest, _spec(figure, shown)))
    return pl.concat(tables) if tables else pl.DataFrame(), parts


def _fewer(name: str, data: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """The panels with the most values of the factor, in their order; and what is said of the rest."""
    values = data.group_by("panel", maintain_order=True).agg(pl.col("x").n_unique())
    if values.height <= MOST_PANELS:
        return data, ""
    most = values.sort("x", descending=True, maintain_order=True).head(MOST_PANELS)["panel"]
    rest = (
        f"{MOST_PANELS} of {wording.counted(values.height, 'panel')} are drawn here; the data has every cell. To draw "
        f"all: quiclab figure factor STUDY --factor {name}"
    )
    return data.filter(pl.col("panel").is_in(most.implode())), rest


def _of_cells(
    gathered: Callable[[OpenedStudy, pl.DataFrame], pl.DataFrame], told: str
) -> Callable[[figures.Figure, Study, StudyAnalysis], Placed]:
    """A drawing for each cell in which some trial tells `told`."""

    def placed(figure: figures.Figure, study: Study, analysis: StudyAnalysis) -> Placed:
        trials = figure_data.distributions(analysis).filter(kind="main")
        data = gathered(OpenedStudy(study.directory), trials)
        return data, list(_each_cell(figure, data, told, trials.filter(pl.col("value").is_not_null())))

    return placed


def _each_cell(figure: figures.Figure, data: pl.DataFrame, told: str, trials: pl.DataFrame) -> Iterator[Part]:
    for number, ((_, title), rows) in enumerate(data.group_by("cell_id", "cell_title", maintain_order=True), 1):
        if rows[told].null_count() < rows.height:
            untold = trials.filter(cell_title=title).join(rows, ["arm", "block"], "anti", maintain_order="left")
            counts = untold.group_by("arm", maintain_order=True).len().rows()
            rest = wording.listed([f"{wording.counted(count, 'trial')} of {arm}" for arm, count in counts])
            rest = f"Not told by {rest}." if rest else ""
            yield Part(f"{figure.name}-{number}", str(title), rest, _spec(figure, rows))


def _spec(figure: figures.Figure, data: pl.DataFrame) -> dict[str, Any]:
    return packed(figures.spec(figure.draw(data)))


_OF_CELLS: Mapping[str, Callable[[figures.Figure, Study, StudyAnalysis], Placed]] = MappingProxyType(
    {"first_loss": _of_cells(first_loss, "offset_bytes"), "main_image": _of_cells(page_load.main_image, "start_ms")}
)
PLACED: Mapping[str, Callable[[figures.Figure, Study, StudyAnalysis], Placed]] = MappingProxyType(
    {
        "against_best": _of_study,
        "factor": _of_factors,
        "proxy": _of_study,
        "migration": _of_study,
        **_OF_CELLS,
        "improvement": _of_study,
        "zero_rtt": _of_study,
        "video_quality": _of_study,
        "stall_reduction": _of_study,
    }
)
"""Figures that have a section of their own on the report's page."""
