# SPDX-License-Identifier: Apache-2.0
"""`quiclab explain`: where the time of a transfer went in each arm, and why the arms differ."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli import confirm
from quiclab.cli.explain_recordings import add_options, explain_recordings
from quiclab.cli.needed_tables import make_needed_tables
from quiclab.cli.voice import add_json, print_document
from quiclab.model.errors import ExitCode, SpecError, nearest

if TYPE_CHECKING:
    from quiclab.cli.console import VisibleConsole
    from quiclab.compare.model import Comparison, StudyAnalysis
    from quiclab.compare.study_tables import OpenedStudy
    from quiclab.why.accounts import Waterfall
    from quiclab.why.causes import Verdict

_DESCRIPTION = """\
Share out the time to the last byte of each arm, of pages the page load time, of a video the time to its start, cell by
cell: by why the sender had not sent earlier (set-up, link busy, slow start, a window after a loss, credit, ...) and by
what passes the time (service, propagation, endpoints). Both sums are exact in each transfer; the tables show means over
the pairs. Each reason names the table that decided it. docs/explanation/account.md defines the labels.

With --h2 and --h3, two recordings from elsewhere are compared instead, by what both can tell from one end.
"""

_EPILOG = """\
examples:
  quiclab explain STUDY                     every cell
  quiclab explain STUDY 5MB/loss            one cell
  quiclab explain STUDY --json              the same as JSON, times in ms
  quiclab explain STUDY --metric stall_ms   the stalls of videos
  quiclab explain STUDY --baseline h2-bbr   another arm in place of the spec's baseline
  quiclab explain STUDY 5MB/loss --confirm --dry-run   the plan of a run without its largest cause
  quiclab explain --h2 a.pcapng --h3 b.pcapng --keys keys.log   two captures from elsewhere
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
    parser.add_argument("study", nargs="?", type=Path, metavar="STUDY", help="study directory")
    parser.add_argument("cell", nargs="?", metavar="CELL", help="WORKLOAD/PATH (default: every cell)")
    parser.add_argument(
        "--metric",
        metavar="NAME",
        help="the time of a study that is explained, such as stall_ms of videos (default: what the study compares)",
    )
    parser.add_argument(
        "--baseline", metavar="ARM", help="the arm that others are compared with (default: the baseline of the spec)"
    )
    add_options(parser)
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
    from quiclab.why.accounts import waterfalls
    from quiclab.why.causes import verdicts
    from quiclab.why.confirm.records import unreadable

    if arguments.h2 or arguments.h3:
        if arguments.study is not None:
            raise SpecError(
                "explain takes a study or two recordings, not both",
                "leave one of them out; of several files of keys each needs a --keys of its own",
            )
        if arguments.metric is not None:
            told = "--metric belongs to a study: two recordings tell the time to the last byte"
            raise SpecError(told, "leave it out")
        if arguments.baseline is not None:
            raise SpecError("--baseline is an arm of a study: two recordings have none", "leave it out")
        return explain_recordings(arguments)
    if arguments.keys:
        raise SpecError("--keys belongs to two recordings", "leave it out, or name them: --h2 FILE --h3 FILE")
    if arguments.study is None:
        raise SpecError("explain needs a study or two recordings", "quiclab explain STUDY, or --h2 FILE --h3 FILE")
    make_needed_tables(arguments.study)
    study = open_study(arguments.study)
    files = readable(study.directory)
    comparable = None if arguments.metric is None else comparable_metric(arguments.metric)
    metric = asked_metric(files, comparable)
    for told in (*files.missing, *study.incomplete_accounts, *unreadable(study.directory)):
        print(f"quiclab: {told}", file=sys.stderr)
    analysis = analyse_study(study.directory, metric, arguments.baseline)
    found = waterfalls(study, _asked(analysis, arguments.cell), analysis.alpha, analysis.metric.name)
    causes = verdicts(study, found, analysis.alpha)
    note_look(study.directory, *{each.of.metric for each in found})
    if arguments.json:
        from quiclab.cli.explain_document import explain_document

        print_document(explain_document(study, found, causes, analysis.alpha))
    else:
        _print(study, analysis, list(zip(found, causes, strict=True)))
    return ExitCode.OK


def _asked(analysis: StudyAnalysis, cell: str | None) -> Sequence[Comparison]:
    comparisons = [each for each in analysis.comparisons if cell in (None, each.cell_id)]
    if not analysis.comparisons:
        raise SpecError("the study has no cell with two arms that could be compared yet", "run its blocks to their end")
    if not comparisons:
        cells = list(dict.fromkeys(each.cell_id for each in analysis.comparisons))
        raise SpecError(f"the study has no cell {cell!r}", nearest(cell or "", cells, "it has"))
    return comparisons


def _print(study: OpenedStudy, analysis: StudyAnalysis, found: Sequence[tuple[Waterfall, tuple[Verdict, ...]]]) -> None:
    from rich.text import Text

    from quiclab.cli.console import VisibleConsole
    from quiclab.compare import comparison_words
    from quiclab.report.words import account
    from quiclab.report.words.cause_lines import PARTED_BY_CAUSE, UNPROVEN
    from quiclab.report.words.headline import headline
    from quiclab.why.accounts import why_without

    console = VisibleConsole(highlight=False)
    if note := account.single_look_note(analysis):
        console.print(Text(note))
    if note := account.other_time_note(analysis.metric.name, found[0][0].of, None):
        console.print(Text(note))
    several = len({(each.baseline.arm, each.other.arm) for each in analysis.comparisons}) > 1
    for each, causes in found:
        place = comparison_words.cell_name(each.comparison, analysis)
        if several:
            place = f"{place}, {each.comparison.other.arm} against {each.comparison.baseline.arm}"
        console.print(Text(f"{place}: {headline(each, causes, analysis.alpha)}", style="bold"))
        _print_causes(console, each, causes)
        _print_confirmed(console, study, each, causes)
        if each.pairs:
            if parting := account.parting(each, analysis.alpha):
                console.print(Text(parting))
            if causes:
                console.print(Text(f"{PARTED_BY_CAUSE}. By wait:"))
            console.print(account.account_table(each, analysis.alpha, console.width))
            console.print(account.floor_table(each, analysis.alpha, console.width))
        if each.without:
            console.print(Text(account.left_out(each, why_without(study, each))))
        console.print()
    console.print(Text(account.limits([each for each, _ in found], analysis.alpha), style="dim"))
    if any(causes for _, causes in found):
        console.print(Text(UNPROVEN, style="dim"))


def _print_causes(console: VisibleConsole, waterfall: Waterfall, causes: tuple[Verdict, ...]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from quiclab.report.words.cause_lines import details, rest_ms, sentence

    if causes:
        rest = rest_ms(waterfall, causes) or 0.0
        least = f" (parts too small to be told: {rest:+.1f} ms together)".replace("-", "−") if abs(rest) >= 0.05 else ""
        console.print(Padding(Text(f"By cause{least}:"), (0, 0, 0, 2)))
    for number, verdict in enumerate(causes, start=1):
        console.print(Padding(Text(f"{number}. {sentence(verdict, waterfall)}"), (0, 0, 0, 2)))
        for line in details(verdict, waterfall, causes):
            console.print(Padding(Text(line, style="dim"), (0, 0, 0, 5)))


def _print_confirmed(
    console: VisibleConsole, study: OpenedStudy, waterfall: Waterfall, causes: tuple[Verdict, ...]
) -> None:
    """Prints the runs without a cause that no verdict of the cell speaks of: runs before the last one, and of causes
    that the cell's pairs show no more."""
    from rich.padding import Padding
    from rich.text import Text

    from quiclab.report.words import together
    from quiclab.report.words.confirmation import in_a_line
    from quiclab.why.confirm.joint_records import kept_together
    from quiclab.why.confirm.records import confirmations
    from quiclab.why.mechanisms import BY_NAME

    comparison = waterfall.comparison
    told_already = {verdict.tested.directory for verdict in causes if verdict.tested and verdict.status.names_one}
    for each in confirmations(study.directory):
        declared = each.declared
        if each.directory not in told_already and each.is_of(comparison):
            title = BY_NAME[name].title if (name := declared.mechanism) in BY_NAME else name
            told = in_a_line(declared, each.judgement, title, each.sound)
            console.print(Padding(Text(told), (0, 0, 0, 2)))
    titles = {name: mechanism.title for name, mechanism in BY_NAME.items()}
    arms = {comparison.baseline.arm, comparison.other.arm}
    for kept in kept_together(study.directory):
        if kept.cell == comparison.cell_id and kept.arm in arms:
            console.print(Padding(Text(together.in_a_line(kept, titles)), (0, 0, 0, 2)))
