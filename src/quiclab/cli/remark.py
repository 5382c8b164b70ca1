# SPDX-License-Identifier: Apache-2.0
"""`quiclab note` and `quiclab exclude`: what a person says of a single trial."""

from __future__ import annotations

import argparse
from pathlib import Path

from quiclab.cli.own_name import as_typed
from quiclab.model.errors import ExitCode, SpecError
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import look_into_ledger, refuse_damaged_ledger
from quiclab.store.no_study import need_ledger
from quiclab.store.remarks import Kind, Remark, read_remarks, say, take_back, write_remarks

_NOTE = """\
Note something about a trial; the report shows it. Without a trial, list the remarks on all of them.
"""
_NOTE_EPILOG = """\
examples:
  quiclab note studies/demo 92a54b225e319a74 "the client's log ends early"
  quiclab note studies/demo 92a54b225e319a74 --undo
  quiclab note studies/demo
"""
_EXCLUDE = """\
Exclude a trial by hand, with a reason. Nothing is deleted: the report and the terminal show the results both ways, with
all trials and without the blocks that hold an excluded one. The answer stays that of all trials.
"""
_EXCLUDE_EPILOG = """\
examples:
  quiclab exclude studies/demo 92a54b225e319a74 --because "a backup ran here"
  quiclab exclude studies/demo 92a54b225e319a74 --undo
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line both verbs."""
    note = verbs.add_parser("note", help="note something about a trial", description=_NOTE, epilog=_NOTE_EPILOG)
    exclude = verbs.add_parser(
        "exclude", help="exclude a trial, with a reason", description=_EXCLUDE, epilog=_EXCLUDE_EPILOG
    )
    note.add_argument("study", type=Path, metavar="STUDY", help="study directory")
    note.add_argument("trial", nargs="?", metavar="TRIAL", help="id of the trial, or the beginning of it")
    note.add_argument("text", nargs="?", metavar="TEXT", help="text of the note")
    note.add_argument("--undo", action="store_true", help="take the trial's last note back")
    note.set_defaults(run=_run_note)
    exclude.add_argument("study", type=Path, metavar="STUDY", help="study directory")
    exclude.add_argument("trial", metavar="TRIAL", help="id of the trial, or the beginning of it")
    exclude.add_argument("--because", metavar="REASON", help="why it should not count")
    exclude.add_argument("--undo", action="store_true", help="include it again")
    exclude.set_defaults(run=_run_exclude)


def _run_note(arguments: argparse.Namespace) -> int:
    study_dir = _study(arguments.study)
    if arguments.trial is None:
        for remark in read_remarks(study_dir.root):
            print(remark_line(remark))
        return ExitCode.OK
    return _change(study_dir, arguments.trial, "note", arguments.text, arguments.undo, 'write it: "…"')


def _run_exclude(arguments: argparse.Namespace) -> int:
    reason = 'a trial is excluded for a reason: --because "…"'
    return _change(_study(arguments.study), arguments.trial, "exclusion", arguments.because, arguments.undo, reason)


def _study(folder: Path) -> StudyDir:
    study_dir = StudyDir(folder.resolve())
    need_ledger(study_dir)
    refuse_damaged_ledger(study_dir)
    return study_dir


def _change(study_dir: StudyDir, asked: str, kind: Kind, text: str | None, undo: bool, hint: str) -> int:
    """Say or take back a remark. Raises SpecError for an unknown trial, a missing text, and nothing to take back."""
    text = " ".join((text or "").split())
    if undo == bool(text):
        raise SpecError("either words or --undo" if undo else "there is no text", hint)
    with study_dir.locked():
        trial_id = _trial(study_dir, asked)
        before = read_remarks(study_dir.root)
        after = take_back(before, trial_id, kind) if undo else say(before, trial_id, kind, text)
        if after == before:
            raise SpecError(f"trial {trial_id} has no {kind} to take back", "quiclab note STUDY lists what there is")
        write_remarks(study_dir.root, after)
    changed = next(remark for remark in reversed(after) if remark not in before)
    print(remark_line(changed))
    print(as_typed(f"the report tells it once it is written again: quiclab report {study_dir.root}"))
    return ExitCode.OK


def _trial(study_dir: StudyDir, asked: str) -> str:
    with look_into_ledger(study_dir) as ledger:
        ids = [row["trial_id"] for row in ledger.rows()]
    found = [trial_id for trial_id in ids if trial_id.startswith(asked)]
    if len(found) != 1:
        what = f"{len(found)} trials begin with {asked!r}" if found else f"the study has no trial {asked!r}"
        raise SpecError(what, "the report names trials by their ids, and so do the folders in trials/")
    return str(found[0])


def remark_line(remark: Remark) -> str:
    """Return a remark as one line of text."""
    word = "excluded because" if remark.kind == "exclusion" else "note"
    undone = f" (taken back {remark.undone_utc})" if remark.undone_utc else ""
    return f"{remark.trial_id} {remark.said_utc} {word}: {remark.text}{undone}"
