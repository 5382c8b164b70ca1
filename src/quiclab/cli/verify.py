# SPDX-License-Identifier: Apache-2.0
"""`quiclab verify`: decode and judge a study's raw files again, and hold every number against what the study says."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.voice import add_json, add_quiet, print_document
from quiclab.model import number_text
from quiclab.model.errors import ExitCode
from quiclab.store.layout import StudyDir
from quiclab.store.no_study import need_ledger

if TYPE_CHECKING:
    from quiclab.study.differences import Difference
    from quiclab.study.verification import Verification

_DESCRIPTION = """\
Decode the raw files of every trial again, judge them by the code of this quiclab, make their tables anew, and compare
each number with what the study says: its tables, its ledger and each trial.json; and what each trial was asked for with
the spec. For a study or bundle from somebody else, or one that lay in an archive.

It writes nothing into the study, and starts nothing that the study names. It shows that the numbers follow from the raw
files, not that these are of a network: whoever has keys can write a capture. Which programs ran is taken from host.json
as it stands there. The report's page is not looked at; `quiclab report` writes it anew from the tables.
"""

_EPILOG = """\
examples:
  quiclab verify studies/demo
  quiclab verify studies/demo --cell 1MB/loss
  quiclab verify studies/demo --json            every difference, for programs

exit codes: 0 every number follows, 1 some do not, 8 none differs but not all could be verified (damaged trials, too)
"""
_NAMED = 5
"""Most attempts that are named of those that could not be verified for one reason."""
_SHOWN = 8
"""Differences of one attempt that are printed."""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "verify",
        help="judge a study's raw files again and compare every number",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("study", type=Path, metavar="STUDY", help="study directory, or an unpacked bundle")
    parser.add_argument(
        "--cell", action="append", default=[], metavar="WORKLOAD/PATH", help="only this cell; again for more cells"
    )
    add_quiet(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Raises DecodeError for a folder that holds no study, SpecError for a cell that it has not."""
    study_dir = StudyDir(arguments.study.resolve())
    need_ledger(study_dir, "give the folder that `quiclab run` made, or an unpacked bundle")
    from quiclab.cli.console import VisibleConsole
    from quiclab.study.verification import verification

    judged = 0
    with VisibleConsole().status("judging again") as status:

        def done() -> None:
            nonlocal judged
            judged += 1
            status.update(f"judging again: {number_text.counted(judged, 'attempt')}")

        found = verification(study_dir, arguments.cell, done)
    _print(found)
    if arguments.json:
        from quiclab.cli.as_json import as_json

        print_document(as_json(document(study_dir, found)))
    return _code(found)


def _code(found: Verification) -> ExitCode:
    if found.differs:
        return ExitCode.TRIALS_FAILED
    return ExitCode.OK if found.is_whole and found.attempts else ExitCode.NOT_JUDGED


def document(study_dir: StudyDir, found: Verification) -> object:
    """Findings, as `--json` has them."""
    from quiclab import __version__
    from quiclab.cli.documents import VerifyDocument
    from quiclab.cli.status_document import VERSION
    from quiclab.study.verification import NOT_CHECKED

    return VerifyDocument(
        VERSION,
        str(study_dir.root),
        int(_code(found)),
        __version__,
        found.run_by or None,
        found.other_tables,
        found.attempts,
        found.differences,
        found.unchecked,
        NOT_CHECKED,
    )


def _print(found: Verification) -> None:
    from quiclab import __version__
    from quiclab.study.verification import NOT_CHECKED, State, is_this_version

    for each in found.attempts:
        if each.state is State.DIFFERS:
            print(f"{each.arm} in {each.cell_id}, block {each.block} (trial {each.trial_id}, attempt {each.attempt}):")
            _print_differences(each.differences)
    if found.differences:
        print("The study as a whole:")
        _print_differences(found.differences)
    for reason in dict.fromkeys(each.reason for each in found.attempts if each.reason):
        names = [f"{each.trial_id} attempt {each.attempt}" for each in found.attempts if each.reason == reason]
        more = [f"{len(names) - _NAMED} more (--json has them)"] if len(names) > _NAMED else []
        listed = number_text.listed([*names[:_NAMED], *more])
        print(f"Not verified: {number_text.counted(len(names), 'attempt')}: {reason}. Trial {listed}.")
    for told in found.unchecked:
        print(told)
    states = Counter(each.state.value for each in found.attempts)
    if not is_this_version(found):
        made = [f"it was run by quiclab {found.run_by}"] if found.run_by not in ("", __version__) else []
        made += [f"tables were made by {each}" for each in found.other_tables]
        print(
            f"This is quiclab {__version__}; {'; '.join(made)}. What differs may be defined otherwise by now: judge it "
            "by the version that made it, too."
        )
    whole = "every number follows from its raw files" if states["same"] else "no number was verified"
    told = f"{states['same']} of {number_text.counted(len(found.attempts), 'attempt')}: {whole}"
    told += f"; {states['differs']} differ" if states["differs"] else ""
    told += f"; {states['not_verified']} could not be verified" if states["not_verified"] else ""
    print(f"{told}.")
    print(NOT_CHECKED)


def _print_differences(differences: tuple[Difference, ...]) -> None:
    for each in differences[:_SHOWN]:
        print(f"  {each.place}, {each.what}: {each.kept} is kept, {each.found} is expected by {each.by}")
    if len(differences) > _SHOWN:
        print(f"  and {len(differences) - _SHOWN} more (--json has them)")
