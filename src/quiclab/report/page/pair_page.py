# SPDX-License-Identifier: Apache-2.0
"""The pages of pairs, beside the report: figures over time, metrics and raw logs of trials that stand side by side."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import polars as pl

from quiclab.compare.model import StudyAnalysis
from quiclab.compare.study import Study
from quiclab.compare.study_tables import OpenedStudy
from quiclab.model import number_text
from quiclab.model.errors import QuiclabError
from quiclab.model.text_table import TextTable
from quiclab.processes import by_all_processors
from quiclab.report.page.critical_path import CriticalPath, critical_path
from quiclab.report.page.pair_figures import Absent, Drawn, figures_of
from quiclab.report.page.pairs import Cell, Pair, folder_of
from quiclab.report.page.rendering import plotly, render, script

_ROOT = "../../../"
"""Path from a pair's page to the study."""
WORTH_PROCESSES = 60
"""Pairs from which on all processors write pages: a new process takes a second to begin."""
_STATUS = {
    "verified": "counts",
    "failed": "failed: ranks worst",
    "unproven": "unproven: left out",
    "void": "invalid: run again",
}


def write_pairs(study: Study, analysis: StudyAnalysis, cells: list[Cell]) -> dict[str, list[Drawn]]:
    """Write the page of every pair and the script that they share; pages of former cells go.

    Returns what each page shows, by its file.
    """
    folder = study.directory / folder_of(analysis)
    if not cells:
        shutil.rmtree(folder, ignore_errors=True)
        return {}
    draft = folder.with_suffix(".partial")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    scripts = map(script, ("figures.js", "tables.js", "timeline.js"))
    (draft / "figures.js").write_text("\n".join((plotly(), *scripts)), encoding="utf-8")
    workshop = _Workshop(study, analysis, _metrics(study), draft)
    shown: dict[str, list[Drawn]] = {}
    numbered = list(enumerate(cells, 1))
    many = sum(len(cell.pairs) for cell in cells) >= WORTH_PROCESSES
    for part in by_all_processors(workshop.write, numbered) if many else map(workshop.write, numbered):
        shown |= part
    shutil.rmtree(folder, ignore_errors=True)
    draft.replace(folder)
    return shown


@dataclass(frozen=True)
class _Workshop:
    """Means with which every cell's pages are made."""

    study: Study
    analysis: StudyAnalysis
    metrics: dict[str, dict[str, tuple[float, str]]]
    draft: Path

    def write(self, numbered: tuple[int, Cell]) -> dict[str, list[Drawn]]:
        """The pages of one cell; what each shows."""
        number, cell = numbered
        opened = OpenedStudy(self.study.directory)
        shown: dict[str, list[Drawn]] = {}
        for pair in cell.pairs:
            page = self.draft / Path(pair.file).relative_to(folder_of(self.analysis))
            page.parent.mkdir(exist_ok=True)
            drawn, absent = figures_of(opened, self.analysis, pair, self.study)
            shown[pair.file] = [replace(each, spec={}) for each in drawn]
            path = _path(opened, pair, self.analysis.metric.name)
            html = _page(self.study, self.analysis, self.metrics, cell, pair, number, drawn, absent, path)
            page.write_text(html, encoding="utf-8", errors="xmlcharrefreplace")
        return shown


def _page(
    study: Study, analysis: StudyAnalysis, metrics: dict[str, dict[str, tuple[float, str]]], cell: Cell,
    pair: Pair, number: int, drawn: list[Drawn], absent: list[Absent], path: CriticalPath | None,
) -> str:  # fmt: skip
    before, after = cell.neighbours(pair)
    return render(
        "pair.html.j2",
        analysis=analysis,
        pair=pair,
        number=number,
        root=_ROOT,
        before=before,
        after=after,
        trials=_trials_table(analysis, pair),
        figures=drawn,
        path=path,
        command=_command(analysis, pair),
        absent=absent,
        metrics=_metrics_table(metrics, pair),
        logs=[(trial, [(folder, list(_files(study.directory, folder))) for folder in trial.folders])
              for trial in pair.trials],
    )  # fmt: skip


def _path(study: OpenedStudy, pair: Pair, metric: str) -> CriticalPath | None:
    """The critical path of the pair's verified trials; None where their tables have none."""
    trials = {trial.arm: trial.trial_id for trial in pair.trials if trial.status == "verified"}
    try:
        return critical_path(study, trials, metric)
    except (QuiclabError, pl.exceptions.PolarsError):  # tables of an older version
        return None


def _command(analysis: StudyAnalysis, pair: Pair) -> str:
    """Arguments after the name of a figure: it takes the same trials."""
    which = ["--cell", shlex.quote(pair.cell)]
    if pair.block is not None:
        which += ["--block", str(pair.block)]
    elif analysis.page != "report":  # which trial is the median depends on the metric
        which += ["--metric", analysis.metric.name]
    return " ".join(which)


def _trials_table(analysis: StudyAnalysis, pair: Pair) -> TextTable:
    rows = tuple(
        (
            trial.arm,
            trial.trial_id,
            str(trial.block),
            _STATUS.get(trial.status, trial.status),
            number_text.quantity(trial.value, analysis.metric.unit),
            str(len(trial.folders)),
        )
        for trial in pair.trials
    )
    headings = ("arm", "trial", "block", "status", analysis.metric.title, "attempts")
    return TextTable("The trials", "", headings, rows, "There is none.")


def _metrics(study: Study) -> dict[str, dict[str, tuple[float, str]]]:
    """trial_id → metric → (value, unit), of what is known."""
    found: dict[str, dict[str, tuple[float, str]]] = {}
    known = study.metrics.filter(pl.col("value").is_finite() & pl.col("trial_id").is_not_null())
    for trial_id, name, value, unit in known.select("trial_id", "name", "value", "unit").iter_rows():
        found.setdefault(trial_id, {})[name] = (value, unit or "")
    return found


def _metrics_table(metrics: dict[str, dict[str, tuple[float, str]]], pair: Pair) -> TextTable:
    of_trials = [metrics.get(trial.trial_id, {}) for trial in pair.trials]
    names = dict.fromkeys(name for each in of_trials for name in each)
    rows = tuple((name, *(number_text.quantity(*each.get(name, (None, ""))) for each in of_trials)) for name in names)
    return TextTable(
        "",
        "Their definitions: docs/reference/metrics.md.",
        ("metric", *(trial.arm for trial in pair.trials)),
        rows,
        "Nothing was measured of these trials.",
    )


def _files(study: Path, folder: str) -> Iterator[tuple[str, str, str]]:
    """(link from the page, name in the folder, size) of every file."""
    top = study / folder
    for place, folders, names in os.walk(top):
        folders.sort()
        for name in sorted(names):
            file = Path(place, name)
            size = number_text.size(file.stat().st_size)
            yield _ROOT + quote(str(file.relative_to(study))), str(file.relative_to(top)), size
