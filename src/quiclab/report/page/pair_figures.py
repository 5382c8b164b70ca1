# SPDX-License-Identifier: Apache-2.0
"""The figures of one pair: every figure of single trials for which its tables have something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from quiclab.compare.model import StudyAnalysis
from quiclab.compare.study import Study
from quiclab.compare.study_tables import OpenedStudy
from quiclab.model.errors import QuiclabError
from quiclab.report import figures
from quiclab.report.figures import Asked, Chosen, Where
from quiclab.report.page.column_packing import packed
from quiclab.report.page.pairs import Pair


@dataclass(frozen=True)
class Drawn:
    """A figure as a page carries it."""

    name: str
    question: str
    spec: Mapping[str, object]


@dataclass(frozen=True)
class Absent:
    """A figure that could not be drawn, and why."""

    question: str
    why: str


@dataclass(frozen=True)
class AskedOfPair(Asked):
    """The trials of a pair, whatever the study's comparisons say of its cell."""

    pair: Pair | None = None
    read: Study | None = None
    """The study's files, where they are read already."""

    @cached_property
    def files(self) -> Study:
        """The study's files: of a study of many pairs they are not read again for each."""
        return self.read or super().files

    def chosen(self) -> Chosen:
        """Return the verified trials of the pair: others have no tables."""
        assert self.pair is not None
        trials = {trial.arm: trial.trial_id for trial in self.pair.trials if trial.status == "verified"}
        return Chosen(self.pair.cell, f"{self.pair.cell_title} ({self.pair.title})", trials)

    def trials_by_arm(self) -> dict[str, list[str]]:
        """Return the trials of the pair alone, also where they are the median trials of a cell."""
        return {arm: [trial] for arm, trial in self.chosen().trials.items()}


class _ReadOnce(OpenedStudy):
    """A study that reads the tables of single trials once, however many figures of a pair ask for them."""

    def __init__(self, study: OpenedStudy) -> None:
        vars(self).update(vars(study))  # its files are listed already
        self._read: dict[tuple[str, str], pl.DataFrame | None] = {}

    def trial_table(self, name: str, trial_id: str) -> pl.DataFrame | None:
        """Return the table of a trial as the study has it; it is read the first time only."""
        key = (name, trial_id)
        if key not in self._read:
            self._read[key] = super().trial_table(name, trial_id)
        return self._read[key]


def figures_of(
    study: OpenedStudy, analysis: StudyAnalysis, pair: Pair, files: Study | None = None
) -> tuple[list[Drawn], list[Absent]]:
    """Figures that can be drawn, in the order of the registry, and those that cannot."""
    drawn: list[Drawn] = []
    absent: list[Absent] = []
    asked = AskedOfPair(_ReadOnce(study), analysis, pair.cell, pair.block, pair=pair, read=files)
    for figure in figures.FIGURES:
        if figure.where is not Where.PAIR:
            continue
        try:
            data = figures.gathered(figure, asked)
            if data.height and figure.is_worth_showing(asked, data):
                drawn.append(Drawn(figure.name, figure.question, packed(figures.spec(figure.draw(data)))))
                continue
            if data.height:
                absent.append(Absent(figure.question, "these trials have nothing to compare in it"))
                continue
            names = dict.fromkeys(Path(table).parent.name or table for table in figure.tables)
            why = f"these trials have nothing of the kind in {', '.join(names)}"
        except QuiclabError as error:
            why = str(error)
        except pl.exceptions.PolarsError as error:  # tables of an older version lack columns
            why = f"a table is of another version or damaged: {str(error).splitlines()[0]}"
        absent.append(Absent(figure.question, why))
    return drawn, absent
