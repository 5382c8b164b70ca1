# SPDX-License-Identifier: Apache-2.0
"""Steps from raw artefacts to tables, metrics and the report, each made from the files of the one before."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress

from quiclab.cli.console import VisibleConsole
from quiclab.store.disk import disk_errors
from quiclab.store.layout import StudyDir

if TYPE_CHECKING:
    from quiclab.cli.documents import ReportDocument
    from quiclab.compare.model import StudyAnalysis
    from quiclab.compare.study import Study


Show = Callable[["Study", "StudyAnalysis", VisibleConsole], None]
"""Prints what an analysis found."""


def analyse(
    study_dir: StudyDir, *, again: bool = False, metric: str | None = None, show: Show | None = None
) -> ReportDocument:
    """Decode what is not decoded yet (everything, with `again`), test, print the result table, or what `show` prints in
    its place, and write the report; return what it says.

    `metric` is what the table and a page of its own are about, beside the usual one. Raises SpecError where the study
    has nothing to compare by it.
    """
    # Imported late: these take a while, which the measuring side never needs.
    from quiclab.cli.documents import ReportDocument
    from quiclab.cli.status_document import VERSION
    from quiclab.compare.analyse import analyse_study, with_notes
    from quiclab.compare.interim_analyses import remember_look
    from quiclab.compare.study import read_study
    from quiclab.report.page.metric_pages import metrics_of_pages
    from quiclab.report.page.write import write_report
    from quiclab.study.edited_limits import edited_limits

    console = VisibleConsole()
    make_tables_visibly(study_dir, console, again=again)
    with disk_errors(study_dir.tables):
        study = read_study(study_dir.root)
        metrics = metrics_of_pages(study, metric)
        edited = edited_limits(study_dir)
        analysis = with_notes(analyse_study(study_dir.root, metric), edited)
        remember_look(study, metrics)
        if show is not None:
            show(study, analysis, console)
        else:
            _show_all(study, analysis, console, of_paper=analysis.metric.name == metrics[0])
        report = write_report(study_dir.root, metric, edited)
    console.print(f"report: {report}", highlight=False, soft_wrap=True)
    return ReportDocument(VERSION, str(study_dir.root), str(report), analysis)


def _show_all(study: Study, analysis: StudyAnalysis, console: VisibleConsole, *, of_paper: bool) -> None:
    """Print the result table, what limits it, and why the arms differ; the claims of a paper where `of_paper`."""
    from quiclab.compare.papers.claims_section import claims_lines
    from quiclab.report.words.explanation_text import because_lines
    from quiclab.report.words.remarks import remark_lines
    from quiclab.report.words.shares import shares
    from quiclab.report.words.terminal import render

    render(analysis, console)
    claims = claims_lines(study, analysis) if of_paper else []
    for line in (*remark_lines(study, analysis), *shares(study), *claims, *because_lines(study, analysis)):
        console.print(line, highlight=False, markup=False)


def make_tables_visibly(study_dir: StudyDir, console: Console, *, again: bool = False) -> None:
    """Make the tables that are missing (all of them, with `again`), with a bar where there is something to decode."""
    from quiclab.study.tables import make_tables

    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("decoding", visible=False)

        def progress(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, visible=True)

        left_out = make_tables(study_dir, again=again, progress=progress)
    for trial_id in left_out:
        console.print(f"of trial {trial_id} the ledger has no row of a plan: it is left out")
