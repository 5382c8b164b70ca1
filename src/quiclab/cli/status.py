# SPDX-License-Identifier: Apache-2.0
"""`quiclab status`: how far a study is, from another shell, while it runs or when it has stopped."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.own_name import as_typed
from quiclab.cli.run_options import part_again
from quiclab.cli.voice import add_json, print_document
from quiclab.evidence.verify.disturbed import PREFIX
from quiclab.lab.testbed.pressure import pressure
from quiclab.model.errors import ExitCode
from quiclab.model.name_lines import name_lines
from quiclab.store.layout import DECLARATION, StudyDir
from quiclab.store.no_study import need_ledger, no_study

if TYPE_CHECKING:
    from rich.table import Table

    from quiclab.cli.status_document import StatusDocument
    from quiclab.study.progress import Progress

_EPILOG = """\
examples:
  quiclab status studies/demo
  watch quiclab status studies/demo       again every two seconds
  quiclab status studies/demo --json
"""
_MOST_TROUBLE = 5


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "status",
        help="say how far a study is, while it runs or when it has stopped",
        description="Say whether a study is being run, how many of its trials ended how, what went wrong, and how long "
        "the rest takes at the pace of the latest trials. It writes nothing, and shows no result: a look at results "
        "before the end costs certainty, and `quiclab run --until` takes it.",
        epilog=_EPILOG,
    )
    parser.add_argument("study", type=Path, metavar="STUDY", help="directory that `quiclab run` made")
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print it. Raises DecodeError for what is no study."""
    from quiclab.cli.as_json import as_json
    from quiclab.study.edited_limits import edited_limits
    from quiclab.study.progress import progress
    from quiclab.study.specs import load_study

    study_dir = StudyDir(arguments.study.resolve())
    if not study_dir.spec.is_file():
        raise no_study(study_dir, "spec.toml")
    need_ledger(study_dir)
    found = progress(load_study(study_dir.spec), study_dir)
    for told in edited_limits(study_dir):
        print(f"quiclab: {as_typed(told)}", file=sys.stderr)
    document = status_document(study_dir, found)
    if arguments.json:
        print_document(as_json(document))
    else:
        _print(study_dir, found, document)
    return ExitCode.OK


def status_document(study_dir: StudyDir, found: Progress) -> StatusDocument:
    """Status of a study, as `--json` has it."""
    from quiclab.cli.run_document import trial_counts
    from quiclab.cli.status_document import VERSION, CellStatus, StatusDocument, TroubleEntry

    cells: dict[tuple[str, str], list[str | None]] = {}
    for row in found.plan:
        cells.setdefault((row.cell_id, row.arm), []).append(found.status.get(row.trial_id))
    return StatusDocument(
        VERSION,
        str(study_dir.root),
        found.holder is not None,
        found.holder or None,
        trial_counts([found.status.get(row.trial_id) for row in found.plan]),
        tuple(CellStatus(*place, trial_counts(ended)) for place, ended in cells.items()),
        1000 * found.left_s,
        None if found.since_last_s is None else 1000 * found.since_last_s,
        tuple(TroubleEntry(each.status, each.reason, each.attempts, each.latest) for each in found.trouble),
        pressure(),
    )


def _print(study_dir: StudyDir, found: Progress, document: StatusDocument) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from quiclab.cli.console import VisibleConsole
    from quiclab.model import number_text
    from quiclab.report.words.arm_heads import fitting

    console = VisibleConsole(highlight=False)
    whole = asdict(document.trials)
    console.print(Text(f"{number_text.from_here(study_dir.root)}: {_at_work(found)}", style="bold"))
    span = number_text.span(found.left_s)
    told = f", about {span} left" if found.holder is not None else f"; the rest takes about {span}"
    left = told if found.left else ""
    of_part = len(found.rows) < len(found.plan)
    part = f" of this part ({len(found.plan)} are planned)" if of_part else ""
    over = len(found.rows) - found.left
    console.print(Text(f"{over} of {number_text.counted(len(found.rows), 'trial')} over{part}{left}"))
    if found.since_last_s is not None:
        console.print(Text(f"the last one began {number_text.span(found.since_last_s)} ago"))
    if found.holder is not None and document.pressure_pct:
        waits = ", ".join(f"{name} {share:.0f} %" for name, share in document.pressure_pct.items())
        console.print(Text(f"waited for in the last 10 s (pressure of the machine): {waits}"))
    kinds = [kind for kind in whole if kind in ("planned", "verified", "not_run") or whole[kind]]
    wide = _cells_table(document, kinds, _ANY_WIDTH)
    console.print(fitting(console.width, wide, partial(_cells_table, document, kinds, _NARROW_NAME)))
    if found.trouble:
        console.print(Text("What went wrong, attempts that were run again included:"))
    for each in found.trouble[:_MOST_TROUBLE]:
        which = ", the last one" if each.attempts > 1 else ""
        status = "disturbed" if each.status == "void" else each.status
        told = f"{each.attempts} × {status}{which}: {each.reason.removeprefix(PREFIX)} ({each.latest})"
        console.print(Padding(Text(told), (0, 0, 0, 2)))
    if len(found.trouble) > _MOST_TROUBLE:
        console.print(Text(f"{len(found.trouble) - _MOST_TROUBLE} more reasons: --json has all"))
    if found.with_their_block:
        told = number_text.counted(found.with_their_block, "attempt")
        console.print(Text(f"  {told} more ran again with such a trial of the same block: nothing was wrong with them"))
    if found.holder is None:
        for line in _to_go_on(study_dir, found):
            print(as_typed(line))


_ANY_WIDTH, _NARROW_NAME = 10_000, 14
"""Columns of the names of cells and arms: more than any takes, and few, where the numbers leave no room for more."""


def _cells_table(document: StatusDocument, kinds: Sequence[str], width: int) -> Table:
    """Numbers of trials of each arm in each cell, whose names are broken between their words."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("cell", "arm", *(kind.replace("_", " ") for kind in kinds)):
        table.add_column(heading, justify="left" if heading in ("cell", "arm") else "right")
    for cell in document.cells:
        numbers = asdict(cell.trials)
        names = (name_lines(name, width) for name in (cell.cell_id, cell.arm))
        table.add_row(*map(Text, names), *(str(numbers[kind] or "–") for kind in kinds))
    return table


def _to_go_on(study_dir: StudyDir, found: Progress) -> list[str]:
    """Lines with the commands that go on with a study: with the part that its latest run was about, and with the rest
    of the plan, where these have trials left. One that confirms a cause is judged by the command that began it."""
    from quiclab.model import number_text
    from quiclab.store.go_on import going_on, may_grow
    from quiclab.store.growth import read_growth
    from quiclab.study.selection import kept_part

    confirming = None
    if (study_dir.root / DECLARATION).exists():  # what reads it takes long to import
        from quiclab.why.confirm.records import read_confirmation

        confirming = read_confirmation(study_dir.root)
    if confirming is None:
        run, part = going_on(study_dir.root), kept_part(study_dir)
        grown = read_growth(study_dir.root)
        if part.is_whole and grown is not None and may_grow(grown):
            return [f"to go on: {run}"]
        of_part = part.rows_of(found.plan)
        again = " ".join([f"quiclab run {number_text.from_here(study_dir.root)}", *map(shlex.quote, part_again(part))])
        if not found.left_of(set(found.plan) - set(of_part)):
            return [f"to go on: {again}"] if found.left_of(of_part) else []
        rest = f"with the rest of the plan: {run}"
        if part.shard is not None:
            rest = f"with all shards: quiclab merge STUDY {number_text.from_here(study_dir.root)} OTHER …"
        return [f"to go on: {again}", f"to go on {rest}"] if found.left_of(of_part) else [f"to go on {rest}"]
    if not found.left:
        return []
    declared, study = confirming.declared, study_dir.root.parent.parent
    # The words are of a file that may have come from anywhere, and are printed to be copied into a shell.
    words = shlex.join([declared.cell, "--confirm", "--cause", declared.mechanism])
    return [f"to go on: quiclab explain {number_text.from_here(study)} {words}"]


def _at_work(found: Progress) -> str:
    if found.holder is None:
        return "no process works on it"
    return f"process {found.holder} works on it" if found.holder else "a process works on it"
