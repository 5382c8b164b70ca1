# SPDX-License-Identifier: Apache-2.0
"""The figures of a whole study on the report's page, each where the study has something for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import polars as pl

from quiclab.compare.factors import axes_of, factor_title
from quiclab.compare.model import StudyAnalysis
from quiclab.compare.program_factors import pair_titles
from quiclab.compare.rows import distributions
from quiclab.compare.study import Study
from quiclab.compare.study_tables import OpenedStudy
from quiclab.model import number_text
from quiclab.model.errors import QuiclabError
from quiclab.report import figures
from quiclab.report.figures import Asked, Figure, Where
from quiclab.report.page.column_packing import packed

MOST_PANELS = 12
"""Panels of one factor on the page: more take a reader's time to open and are better looked at by themselves."""


@dataclass(frozen=True)
class Part:
    """One drawing: of the whole study, of one arm or cell, or along one factor."""

    name: str
    """Name of its element on the page."""
    title: str
    """Title that tells it from the others; empty where there is one."""
    rest: str
    """Part that it leaves out, with the command that draws that too; empty where it is whole."""
    spec: Mapping[str, object]


@dataclass(frozen=True)
class Section:
    """One question with its drawings; their data are the file `NAME.csv`."""

    name: str
    question: str
    parts: tuple[Part, ...]
    by_cell: bool
    """True if they are small enough to stand side by side."""


def study_figures(study: Study, analysis: StudyAnalysis) -> list[Section]:
    """Return the sections that have something to show, in the registry's order.

    The data of each are written beside the report.
    """
    try:
        asked = Asked(OpenedStudy(study.directory), analysis)
    except QuiclabError:  # no table of trials: the page says so elsewhere
        return []
    found: list[Section] = []
    folder = study.directory / analysis.page / "data"
    for figure in figures.FIGURES:
        if figure.where not in _PLACED:
            continue
        try:
            data, parts = _PLACED[figure.where](figure, asked)
        except (QuiclabError, pl.exceptions.PolarsError):  # tables that are not there, or of another version
            continue
        if parts:
            folder.mkdir(parents=True, exist_ok=True)
            data.write_csv(folder / f"{figure.name}.csv")
            found.append(Section(figure.name, figure.question, tuple(parts), figure.where is Where.CELL))
    return found


Placed = tuple[pl.DataFrame, list[Part]]
"""All data of a section, and its drawings."""


def _whole(figure: Figure, asked: Asked) -> Placed:
    arms = list(dict.fromkeys(each.other.arm for each in asked.analysis.comparisons))
    if figure.of_one_arm and len(arms) > 1:
        return _by_arm(figure, asked, arms)
    data = figures.gathered(figure, asked)
    return data, [Part(figure.name, "", "", _spec(figure, data))] if figure.is_worth_showing(asked, data) else []


def _by_arm(figure: Figure, asked: Asked, arms: Sequence[str]) -> Placed:
    """Return a drawing for each arm that is compared, with the title that its map of differences has."""
    titles = pair_titles(asked.files, asked.analysis)
    parts, tables = [], []
    for number, arm in enumerate(arms, 1):
        of_arm = replace(asked, other=arm)
        data = figures.gathered(figure, of_arm)
        tables.append(data)
        if figure.is_worth_showing(of_arm, data):
            parts.append(Part(f"{figure.name}-{number}", titles.get(arm, arm), "", _spec(figure, data)))
    return pl.concat(tables), parts


def _by_factor(figure: Figure, asked: Asked) -> Placed:
    """Return a drawing for each factor that something can be followed along."""
    parts, tables = [], []
    for name in axes_of(asked.files, asked.analysis):
        data = figures.gathered(figure, replace(asked, factor=name))
        if data.is_empty():  # no cell along it is judged
            continue
        told = data.with_columns(pl.col("arm", "x").cast(pl.String))  # programs are no numbers
        tables.append(told.select(pl.lit(name).alias("factor"), pl.all()))
        shown, rest = _fewer(name, data)
        parts.append(Part(f"{figure.name}-{name}", factor_title(name), rest, _spec(figure, shown)))
    return pl.concat(tables) if tables else pl.DataFrame(), parts


def _fewer(name: str, data: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Return the panels with the most values of the factor, in their order, and what is said of the rest."""
    values = data.group_by("panel", maintain_order=True).agg(pl.col("x").n_unique())
    if values.height <= MOST_PANELS:
        return data, ""
    most = values.sort("x", descending=True, maintain_order=True).head(MOST_PANELS)["panel"]
    rest = (
        f"{MOST_PANELS} of {number_text.counted(values.height, 'panel')} are drawn here; the data has every cell. To "
        f"draw all: quiclab figure factor STUDY --factor {name}"
    )
    return data.filter(pl.col("panel").is_in(most.implode())), rest


@dataclass(frozen=True)
class _AskedOfEveryCell(Asked):
    """All cells at once, so that their data come from the files in one go."""

    def trials_of_cell(self) -> pl.DataFrame:
        """Return the trials of all main cells."""
        return distributions(self.analysis).filter(kind="main")


def _by_cell(figure: Figure, asked: Asked) -> Placed:
    """Return a drawing for each cell that the figure has something to show about."""
    every = _AskedOfEveryCell(asked.study, asked.analysis)
    data = figures.gathered(figure, every)
    return data, list(_each_cell(figure, every, data))


def _each_cell(figure: Figure, asked: Asked, data: pl.DataFrame) -> Iterator[Part]:
    trials = asked.trials_of_cell().filter(pl.col("value").is_not_null())
    for number, ((_, title), rows) in enumerate(data.group_by("cell_id", "cell_title", maintain_order=True), 1):
        if figure.is_worth_showing(asked, rows):
            drawn = rows.select(pl.col("arm").cast(pl.String), "block")
            untold = trials.filter(cell_title=title).join(drawn, ["arm", "block"], "anti", maintain_order="left")
            counts = untold.group_by("arm", maintain_order=True).len().rows()
            rest = number_text.listed([f"{number_text.counted(count, 'trial')} of {arm}" for arm, count in counts])
            rest = f"Unknown for {rest}." if rest else ""
            yield Part(f"{figure.name}-{number}", str(title), rest, _spec(figure, rows))


def _spec(figure: Figure, data: pl.DataFrame) -> dict[str, object]:
    return packed(figures.spec(figure.draw(data)))


_PLACED: Mapping[Where, Callable[[Figure, Asked], Placed]] = MappingProxyType(
    {Where.STUDY: _whole, Where.FACTOR: _by_factor, Where.CELL: _by_cell}
)
"""Places that are sections of their own on the report's page."""
