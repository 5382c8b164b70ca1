# SPDX-License-Identifier: Apache-2.0
"""An opened study (`quiclab.open`): its tables, its comparisons as a table, and its figures, for a notebook or a
script.

>>> study = quiclab.open("demo-study")  # doctest: +SKIP
>>> study.differences.filter(kind="main").select("path", "workload", "outcome")  # doctest: +SKIP
>>> study.figure("sequence", cell="5MB/loss", blocks=[3])  # doctest: +SKIP
"""

from __future__ import annotations

import html
import warnings
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from quiclab.compare.study_tables import OpenedStudy, shows_results
from quiclab.model.errors import DecodeError, QuiclabError, SpecError
from quiclab.model.number_text import counted
from quiclab.model.terminal_escape import visible
from quiclab.store.disk import check_name
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import refuse_damaged_ledger

if TYPE_CHECKING:
    from quiclab.compare.model import StudyAnalysis

_OF_A_TRIAL = ("kind", "cell_id", "workload", "path", "arm", "block", "status")
"""Columns of `trials` that `metrics` has as well."""


class ExploredStudy(OpenedStudy):
    """A study directory to explore: `trials`, `metrics`, `differences`, `table(…)`, `sql(…)`, `figure(…)`.

    Nothing is read before it is asked for, and nothing in the directory is changed, but that a result was seen is kept
    in its looks.jsonl: of `metrics`, `differences`, figures of more than one block, and queries of `metrics` and
    `account`.
    """

    def table(self, name: str) -> pl.DataFrame:
        """A whole table. Raises SpecError for one that is not there, DecodeError for one that cannot be read."""
        rows = super().table(name)
        if shows_results(name):
            self._keep_look()
        return rows

    def sql(self, query: str) -> pl.DataFrame:
        """Answer a query in DuckDB's SQL, where every table is a view. Raises QueryError for a wrong query, DecodeError
        for a table that cannot be read."""
        answer = super().sql(query)
        if shows_results(query):
            self._keep_look()
        return answer

    def _keep_look(self, metric: str | None = None) -> None:
        """Keep that a result is seen; of a study that nobody may write in it is not kept."""
        from quiclab.compare.interim_analyses import note_look

        note_look(self.directory, metric)

    @property
    def metrics(self) -> pl.DataFrame:
        """Every metric of every verified trial, a row each, behind what the trial is: its kind (`main` or `aa`), cell,
        workload, path, arm, block and status. Failed trials have no row: they are in `trials`."""
        last = self.trials.sort("attempt").unique("trial_id", keep="last", maintain_order=True)
        told = last.select("trial_id", *_OF_A_TRIAL)
        columns = ("trial_id", *_OF_A_TRIAL)
        return super().metrics.join(told, on="trial_id", how="left").select(*columns, pl.exclude(columns))

    @property
    def differences(self) -> pl.DataFrame:
        """Comparisons by the study's own metric, a row each, A/A cells (`kind` is `aa`) too: what the report tells of
        each, as in its `report/data/differences.csv`."""
        return self.differences_by(None)

    def differences_by(self, metric: str | None) -> pl.DataFrame:
        """Comparisons by another metric, such as `ttfb_ms`. Raises SpecError for a metric that cannot be compared."""
        from quiclab.compare.rows import differences

        found = differences(analysis := self._analysis(metric))
        self._keep_look(analysis.metric.name)
        return found

    @property
    def figures(self) -> dict[str, str]:
        """Names that `figure` takes, each with the question that the figure answers."""
        from quiclab.report.figures import FIGURES

        return {figure.name: figure.question for figure in FIGURES}

    def figure(self, name: str, **asked: Any) -> Any:
        """Draw a figure, which a notebook shows: a `plotly.graph_objects.Figure`, to be changed or written as well.

        `asked` is as in `figure_data`. Raises SpecError for an unknown figure and for what the study lacks.
        """
        from quiclab.report.figures import FIGURES
        from quiclab.report.page.standalone_figure import plotly_figure

        data = self.figure_data(name, **asked)
        return plotly_figure(next(figure for figure in FIGURES if figure.name == name), data)

    def figure_data(
        self,
        name: str,
        *,
        cell: str | None = None,
        blocks: Sequence[int] = (),
        metric: str | None = None,
        other: str | None = None,
        factor: str | None = None,
        packets: int = 40,
        from_ms: float = 0.0,
        until_ms: float | None = None,
        shape: str = "box",
    ) -> pl.DataFrame:
        """Gather the numbers that a figure draws. The words mean what the options of `quiclab figure` mean.

        Without `cell` they are of the cell in which the arms differ most, without `blocks` of each arm's median trial.
        Raises SpecError for an unknown figure and for what the study lacks.
        """
        from quiclab.report.figures import FIGURES, Asked, Where, Window, gathered

        figure = next((figure for figure in FIGURES if figure.name == name), None)
        if figure is None:
            raise SpecError(f"there is no figure {name!r}", f"there are {', '.join(self.figures)}")
        if len(blocks) > 1 and not figure.overlaid:
            raise SpecError(f"{name} shows one block at a time", "name one block")
        asked = Asked(
            OpenedStudy(self.directory), self._analysis(metric), cell, next(iter(blocks), None), other, factor,
            tuple(blocks[1:]), Window(packets, from_ms, until_ms), shape,
        )  # fmt: skip
        try:
            data = gathered(figure, asked)
        except pl.exceptions.PolarsError as error:
            told = f"a table is of another version, or damaged: {str(error).splitlines()[0]}"
            raise DecodeError(told, f"`quiclab report {self.directory} --again` makes the tables anew") from error
        if not data.height:
            raise SpecError(f"this study has nothing that {name} could show: it needs {', '.join(figure.tables)}")
        if figure.where is not Where.PAIR:
            self._keep_look(asked.analysis.metric.name)
        return data

    @cached_property
    def _analysis(self) -> Any:
        """Function from a metric's name to the analysis by it, each of which is made once."""
        from quiclab.compare.analyse import analyse_study
        from quiclab.evidence.metrics.names import comparable_metric

        def analysis(metric: str | None) -> StudyAnalysis:
            if self.is_decoded:
                told = f"{self.directory} has tables of decoded logs, in which nothing is compared"
                raise SpecError(told, "give the folder that `quiclab run` made")
            name = None if metric is None else comparable_metric(metric)
            if name is not None and not self.table("metrics").filter(pl.col("value").is_finite(), name=name).height:
                raise SpecError(f"{name} cannot be compared: no trial of this study has a value for it")
            return analyse_study(self.directory, name)

        return cache(analysis)

    def __repr__(self) -> str:
        """Name, cells, arms, and how many trials came to what. Nothing in it controls a terminal."""
        heading, lines = self._summary()
        return "\n".join(visible(line) for line in (heading, *(f"  {what}: {told}" for what, told in lines)))

    def _repr_html_(self) -> str:
        """Small table of the same, for a notebook; names, which may be a stranger's, are escaped."""
        heading, lines = self._summary()
        rows = "".join(f"<tr><th>{html.escape(what)}</th><td>{html.escape(told)}</td></tr>" for what, told in lines)
        return f"<table><caption>{html.escape(heading)}</caption>{rows}</table>"

    def _summary(self) -> tuple[str, list[tuple[str, str]]]:
        if self.is_decoded:
            return f"decoded logs in {self.directory}", [("tables", ", ".join(self.tables))]
        try:
            return f"study {self._name} in {self.directory}", self._lines()
        except (QuiclabError, pl.exceptions.PolarsError) as error:
            return f"study in {self.directory}", [("cannot be read", str(error))]

    @property
    def _name(self) -> str:
        from quiclab.compare.study import read_study

        return read_study(self.directory).name

    def _lines(self) -> list[tuple[str, str]]:
        trials = self.trials
        main, controls = trials.filter(kind="main"), trials.filter(kind="aa")
        axes = (counted(main[axis].n_unique(), axis) for axis in ("workload", "path"))
        cells = f"{main['cell_id'].n_unique()} ({' × '.join(axes)})"
        if controls.height:
            cells += f", and {counted(controls['cell_id'].n_unique(), 'A/A cell')}"
        baselines = set(main["baseline_arm"])
        others = main.filter(~pl.col("arm").is_in(list(baselines)))["arm"].unique().sort()
        arms = (*(f"{arm} (baseline)" for arm in sorted(baselines)), *others)
        last = trials.sort("attempt").unique("trial_id", keep="last", maintain_order=True)
        by_status = last["status"].value_counts(sort=True).rows()
        again = trials.height - last.height
        ran = ", ".join(f"{count} {status}" for status, count in by_status)
        if again:
            ran += f"; {counted(again, 'earlier attempt')} invalid"
        return [("cells", cells), ("arms", ", ".join(arms)), ("trials", ran)]


def open_study(directory: str | Path) -> ExploredStudy:
    """Open a study directory, or a folder of tables that `quiclab decode` made. Raises DecodeError if there is neither,
    or its ledger is damaged; warns of tables that another version of quiclab made."""
    check_name(Path(directory))
    study = ExploredStudy(Path(directory).expanduser().resolve(), decoded=True)
    refuse_damaged_ledger(StudyDir(study.directory))
    for told in study.other_versions:
        warnings.warn(told, stacklevel=2)
    return study
