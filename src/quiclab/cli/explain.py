# SPDX-License-Identifier: Apache-2.0
"""`quiclab explain`: where the time of a transfer went in each arm, and why the arms differ."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli import confirm, explain_recordings
from quiclab.cli.needed_tables import make_needed_tables
from quiclab.cli.own_name import as_typed
from quiclab.cli.voice import add_json, print_document
from quiclab.model.errors import ExitCode, SpecError, nearest
from quiclab.model.number_text import from_here
from quiclab.store.layout import StudyDir

if TYPE_CHECKING:
    from quiclab.cli.console import VisibleConsole
    from quiclab.compare.model import Comparison, StudyAnalysis
    from quiclab.compare.study_tables import OpenedStudy
    from quiclab.why.explanation import Explanation

_DESCRIPTION = """\
Share out the time to the last byte of each arm, of pages the page load time, of a video the time to its start, cell by
cell: by why the sender had not sent earlier (handshake, slow start, the congestion window after a loss, flow control,
...) and by what passes the time (service, propagation, endpoints). Both sums are exact in each transfer; the tables
show means over the pairs. Each wait names the table that decided it. docs/explanation/account.md defines the labels.

A recording from elsewhere (a capture with its keys if any, a qlog, a NetLog) in place of the study has the time of its
transfer shared out; two are compared by what both can tell from one end, of HTTP/2 and HTTP/3 or of one protocol. With
-o, the same is a page with the timeline and the packets behind it.
"""

_EPILOG = """\
examples:
  quiclab explain STUDY                     every cell, in a few lines each
  quiclab explain STUDY 5MB/loss            one cell, with the causes and waits behind its sentence
  quiclab explain STUDY --all               every cell like that
  quiclab explain STUDY --json              the same as JSON, times in ms
  quiclab explain STUDY --metric stall_ms   the stalls of videos
  quiclab explain STUDY --baseline h2-bbr   another arm in place of the spec's baseline
  quiclab explain STUDY 5MB/loss --confirm --dry-run   the plan of a run without its largest cause
  quiclab explain client.qlog -o why.html   one recording from elsewhere, as a page
  quiclab explain --page page.netlog.json page.pcapng --keys keys.log   the load of a page, from its client's files
  quiclab explain --lost client.pcapng server.pcapng   what lost the packets between two captures of one transfer
  quiclab explain old.pcapng new.pcapng --keys keys.log   two of them: two protocols, or two releases of one
  quiclab sql STUDY "SELECT * FROM account WHERE why = 'slow_start'"   the stretches behind it
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "explain",
        help="say why two arms differ: where the time of each goes",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument(
        "study", nargs="?", type=Path, metavar="STUDY|FILE", help="study directory, or a recording from elsewhere"
    )
    parser.add_argument(
        "cell",
        nargs="?",
        metavar="CELL|FILE",
        help="WORKLOAD/PATH (default: every cell, in short), or a second recording",
    )
    parser.add_argument("--all", action="store_true", help="print causes, waits and their numbers of every cell")
    parser.add_argument(
        "--metric",
        metavar="NAME",
        help="the time of a study that is explained, such as stall_ms of videos (default: what the study compares)",
    )
    parser.add_argument(
        "--baseline", metavar="ARM", help="the arm that others are compared with (default: the baseline of the spec)"
    )
    explain_recordings.add_options(parser)
    confirm.add_options(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the account of each cell, or of two recordings.

    Raises DecodeError for what cannot be read, SpecError for another cell.
    """
    confirm.refuse_without(arguments)
    if arguments.confirm:
        return confirm.run_confirm(arguments)
    from quiclab.compare.analyse import analyse_study
    from quiclab.compare.interim_analyses import note_look
    from quiclab.compare.selectable_metrics import asked_metric, readable
    from quiclab.compare.study_tables import open_study
    from quiclab.evidence.metrics.names import comparable_metric
    from quiclab.study.edited_limits import edited_limits
    from quiclab.why.confirm.records import unreadable
    from quiclab.why.explanation import explanations

    if explain_recordings.are_asked(arguments):
        return explain_recordings.explain_recordings(arguments)
    if arguments.study is None:
        raise SpecError("explain needs a study or recordings", "quiclab explain STUDY, or quiclab explain FILE [FILE]")
    make_needed_tables(arguments.study)
    study = open_study(arguments.study)
    files = readable(study.directory)
    comparable = None if arguments.metric is None else comparable_metric(arguments.metric)
    metric = asked_metric(files, comparable)
    edited = edited_limits(StudyDir(study.directory))
    for told in (*files.missing, *study.incomplete_accounts, *unreadable(study.directory), *edited):
        print(f"quiclab: {as_typed(told)}", file=sys.stderr)
    analysis = analyse_study(study.directory, metric, arguments.baseline)
    cells = explanations(study, analysis, _asked(analysis, arguments.cell))
    note_look(study.directory, *{each.waterfall.of.metric for each in cells})
    if arguments.json:
        from quiclab.cli.explain_documents import explain_document

        print_document(explain_document(study.directory, cells))
    else:
        _print(study, analysis, cells, whole=arguments.all or arguments.cell is not None)
    return ExitCode.OK


def _asked(analysis: StudyAnalysis, cell: str | None) -> Sequence[Comparison]:
    comparisons = [each for each in analysis.comparisons if cell in (None, each.cell_id)]
    if analysis.alone:
        raise SpecError("the study has one arm, which differs from nothing", "write a second [[arm]] into its spec")
    if not analysis.comparisons:
        raise SpecError("the study has no cell with two arms that could be compared yet", "run its blocks to their end")
    if not comparisons:
        cells = list(dict.fromkeys(each.cell_id for each in analysis.comparisons))
        raise SpecError(f"the study has no cell {cell!r}", nearest(cell or "", cells, "it has"))
    return comparisons


def _print(study: OpenedStudy, analysis: StudyAnalysis, cells: Sequence[Explanation], *, whole: bool) -> None:
    """Print the sentences of each cell, and what stands behind them where the `whole` is asked for."""
    from rich.text import Text

    from quiclab.cli.console import VisibleConsole
    from quiclab.report.words import account
    from quiclab.report.words.explanation_text import PARTED_BY_CAUSE, UNPROVEN, compared_in, headline, parting
    from quiclab.why.accounts import why_without

    console, alpha = VisibleConsole(highlight=False), analysis.alpha
    for note in (
        account.single_look_note(analysis),
        account.other_time_note(analysis.metric.name, cells[0].waterfall.of, None),
    ):
        if note:
            console.print(Text(note))
    for each in cells:
        waterfall = each.waterfall
        console.print(Text(f"{compared_in(each, analysis)}: {headline(each)}", style="bold"))
        if whole:
            _print_causes(console, each)
        else:
            _print_in_short(console, each)
        if whole and waterfall.pairs:
            if told := parting(each):
                console.print(Text(told))
            if each.causes:
                console.print(Text(f"{PARTED_BY_CAUSE}. By wait:"))
            console.print(account.account_table(waterfall, alpha, console.width))
            console.print(account.floor_table(waterfall, alpha, console.width))
        if waterfall.without:
            console.print(Text(account.left_out(waterfall, why_without(study, waterfall))))
        if whole:
            console.print()
    if whole:
        console.print(Text(account.limits(cells), style="dim"))
    if any(each.causes for each in cells):
        console.print(Text(UNPROVEN, style="dim"))
    if not whole:
        here = from_here(study.directory)
        told = f"What stands behind it: quiclab explain {here} {cells[0].comparison.cell_id}, or --all for every cell."
        console.print(Text(told))


def _print_in_short(console: VisibleConsole, explanation: Explanation) -> None:
    """Print what the headline of a cell leaves open: where the arms first differ, and what runs without a cause
    showed."""
    from rich.padding import Padding
    from rich.text import Text

    from quiclab.report.words.explanation_text import parting, run_lines

    told = parting(explanation) if explanation.waterfall.pairs else ""
    for line in filter(None, (told, *run_lines(explanation))):
        console.print(Padding(Text(line), (0, 0, 0, 2)))


def _print_causes(console: VisibleConsole, explanation: Explanation) -> None:
    """Print the causes with what stands behind each, and the runs that put causes to the test."""
    from rich.padding import Padding
    from rich.text import Text

    from quiclab.report.words.explanation_text import details, run_lines, sentence

    def line(text: str, indent: int = 2, style: str = "") -> None:
        console.print(Padding(Text(text, style=style), (0, 0, 0, indent)))

    if explanation.causes:
        rest = explanation.rest_ms or 0.0
        least = f" (parts too small to be told add up to {rest:+.1f} ms)".replace("-", "−") if abs(rest) >= 0.05 else ""
        line(f"By cause{least}:")
    for number, verdict in enumerate(explanation.causes, start=1):
        line(f"{number}. {sentence(verdict, explanation)}")
        for told in details(verdict, explanation):
            line(told, 5, "dim")
    for told in run_lines(explanation):
        line(told)
