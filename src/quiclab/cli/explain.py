# SPDX-License-Identifier: Apache-2.0
"""`quiclab explain`: where the time of a transfer went in each arm, and why the arms differ."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab.errors import ExitCode, SpecError

if TYPE_CHECKING:
    from quiclab.analysis.accounts import Step, Waterfall
    from quiclab.analysis.model import Comparison, StudyAnalysis
    from quiclab.opened import OpenedStudy

_DESCRIPTION = """\
Share out the time to the last byte of each arm, cell by cell: by why the sender had not sent earlier (set-up, link
busy, slow start, a window after a loss, credit, pacing, ...) and by what passes the time (service, propagation,
endpoints). Both sums are exact in each transfer; the tables show means over the pairs. Each reason names the table that
decided it. docs/explanation/account.md defines the labels.
"""

_EPILOG = """\
examples:
  quiclab explain STUDY                   every cell
  quiclab explain STUDY 5MB/loss          one cell
  quiclab explain STUDY --json            the same as JSON, times in ms
  quiclab sql STUDY "SELECT * FROM account WHERE why = 'slow_start'"   the stretches behind it
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "explain",
        help="say why two arms differ: where the time of each goes",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("study", type=Path, metavar="STUDY", help="study directory")
    parser.add_argument("cell", nargs="?", metavar="CELL", help="WORKLOAD/PATH (default: every cell)")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the account of each cell. Raises DecodeError for a folder without tables, SpecError for another cell."""
    from quiclab.analysis.accounts import waterfalls
    from quiclab.analysis.analyse import analyse_study
    from quiclab.opened import open_study

    study = open_study(arguments.study)
    analysis = analyse_study(study.directory)
    found = waterfalls(study, _asked(analysis, arguments.cell), analysis.alpha)
    if arguments.json:
        print(json.dumps([_document(each) for each in found], indent=2, allow_nan=False))
    else:
        _print(study, analysis, found)
    return ExitCode.OK


def _asked(analysis: StudyAnalysis, cell: str | None) -> Sequence[Comparison]:
    comparisons = [each for each in analysis.comparisons if cell in (None, each.cell_id)]
    if not comparisons:
        cells = list(dict.fromkeys(each.cell_id for each in analysis.comparisons))
        near = get_close_matches(cell or "", cells, 1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise SpecError(f"the study has no cell {cell!r}", f"{meant}it has {', '.join(cells) or 'none'}")
    return comparisons


def _print(study: OpenedStudy, analysis: StudyAnalysis, found: Sequence[Waterfall]) -> None:
    from rich.text import Text

    from quiclab.analysis import comparison_words
    from quiclab.analysis.accounts import why_without
    from quiclab.cli.console import VisibleConsole
    from quiclab.report.words import account

    console = VisibleConsole(highlight=False)
    for each in found:
        place = comparison_words.place(each.comparison, analysis)
        console.print(Text(f"{place}: {account.because(each, analysis.alpha)}", style="bold"))
        if each.pairs:
            if parting := account.parting(each, analysis.alpha):
                console.print(Text(parting))
            console.print(account.account_table(each, analysis.alpha))
            console.print(account.floor_table(each, analysis.alpha))
        if each.without:
            console.print(Text(account.left_out(each, why_without(study, each))))
        console.print()
    console.print(Text(account.limits(found, analysis.alpha), style="dim"))


def _document(waterfall: Waterfall) -> dict[str, Any]:
    comparison = waterfall.comparison
    return {
        "cell": comparison.cell_id,
        "baseline": comparison.baseline.arm,
        "other": comparison.other.arm,
        "pairs": waterfall.pairs,
        "pairs_without_account": waterfall.without,
        "served_bytes": dict(zip(("baseline", "other"), waterfall.served_bytes, strict=True)),
        "why": [_step(step) for step in waterfall.steps],
        "what": [_step(step) for step in waterfall.floor],
        "roles": [_step(step) for step in waterfall.roles],
        "total": _step(waterfall.total) if waterfall.pairs else None,
    }


def _step(step: Step) -> dict[str, Any]:
    interval = step.interval_ms
    document: dict[str, Any] = {
        "label": step.label,
        "baseline_ms": step.baseline_ms,
        "other_ms": step.other_ms,
        "difference_ms": step.difference_ms,
        "interval_ms": interval and [_finite(interval.low), _finite(interval.high)],
        "interval_confidence": interval and interval.confidence,
        "p": step.p,
        "p_adjusted": step.p_adjusted,
    }
    if step.fine:
        tables = dict(zip(("baseline", "other"), step.evidence, strict=True))
        document |= {"sums_up": step.fine, "decided_by": tables}
    return document


def _finite(value: float) -> float | None:
    """A bound; None where there is none, as JSON has no infinity."""
    return value if abs(value) < float("inf") else None
