# SPDX-License-Identifier: Apache-2.0
"""A study judged again: the raw files of every attempt are decoded and judged by today's code, its tables are made in
memory, and every number is held against what the study says.

Nothing is written into the study, and nothing that it names is started. It shows that the numbers follow from the raw
files, and not that these are what a network carried.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import msgspec

from quiclab import __version__
from quiclab.evidence.made_by import made_by, tables_made_by
from quiclab.evidence.verify.artefacts import register
from quiclab.evidence.verify.disturbed import disturbance_problem
from quiclab.evidence.verify.trial import judge_document
from quiclab.logs.decoders import decode_trial, with_verdict
from quiclab.model.errors import DecodeError, SpecError
from quiclab.model.trial_record import TrialRecord
from quiclab.processes import by_all_processors
from quiclab.store.disk import read_object
from quiclab.store.layout import BLOCK_CUT, WITH_ITS_BLOCK, Attempt, StudyDir, damage, read_register, read_trial
from quiclab.store.ledger import borrowed_ledger
from quiclab.store.own_files import first_unreadable, is_own_file
from quiclab.store.record_form import as_json, as_trial
from quiclab.study.as_specified import (
    SPEC,
    AskedOfTrial,
    asked_differences,
    link_differences,
    planned_again,
    what_lacks,
)
from quiclab.study.beside_trials import blocks_in_ledger, doubts_by_looks, doubts_by_remarks, unknown_folders
from quiclab.study.differences import Difference, json_differences
from quiclab.study.failed_throughout import failure_of, said, voids_its_block
from quiclab.study.kept_tables import study_table_differences, trial_table_differences
from quiclab.study.stored_twice import account_differences, clock_differences, content_differences, usual_pages
from quiclab.study.tables import LedgerTrials, processes_for, raw_bytes, told_by
from quiclab.study.trial import Weighed
from quiclab.study.trial_tables import tables_of

_JUDGED = ("status", "reason", "proof", "disturbance")
"""Members of a trial.json that follow from its raw files."""
_ASIDE = ("position",)
"""Members of a plan's row that may differ from the plan that is made today."""
NOT_CHECKED = (
    "Not checked: that the raw files are of a network, that the programs which ran are those that host.json names, "
    "that no attempt was left out at the end, that the study was begun with the level, the metric and the limits "
    "trial, ready and attempts that spec.toml and resolved.json agree on (the limit disturbance is in each trial.json, "
    "and was compared), that looks.jsonl has every interim look, that sequential.json has the rule by "
    "which the study was begun, what remarks.json excludes, and what report.html says."
)
"""Sentence about everything that no verification tells."""
LEDGER = "the ledger"
"""Source of what became of a trial."""
_TRIAL = "its trial.json"
_MOST = 1000
"""Most differences of one attempt that are told."""


class State(enum.StrEnum):
    """Result of judging an attempt again."""

    SAME = "same"
    DIFFERS = "differs"
    NOT_VERIFIED = "not_verified"


@dataclass(frozen=True)
class VerifiedAttempt:
    """One attempt that was judged again."""

    trial_id: str
    """Name of the trial."""
    attempt: int
    """Number of the attempt, from 1."""
    cell_id: str
    """The cell: `WORKLOAD/PATH`."""
    arm: str
    """Name of the arm."""
    block: int
    """Number of the block; -1 where nothing says so."""
    state: State
    """Result: every number follows from raw files, spec and ledger, some do not, or it could not be told."""
    reason: str
    """Reason for which it could not be verified; empty where it was."""
    differences: tuple[Difference, ...]
    """Differences found."""


@dataclass(frozen=True)
class Verification:
    """Result of judging a study again."""

    attempts: tuple[VerifiedAttempt, ...]
    """Every attempt."""
    differences: tuple[Difference, ...]
    """Differences in resolved.json, and in the tables of the whole study, `trials` and `metrics`."""
    unchecked: tuple[str, ...]
    """Sentences about everything else that could not be verified."""
    run_by: str
    """Version of quiclab by which it was run; empty where nothing says so."""
    other_tables: tuple[str, ...]
    """Versions of quiclab, other than this one, that have made tables of it."""

    @property
    def differs(self) -> bool:
        """True if anything is not what the raw files give."""
        return bool(self.differences) or any(each.state is State.DIFFERS for each in self.attempts)

    @property
    def is_whole(self) -> bool:
        """True if everything could be verified."""
        return not self.unchecked and all(each.state is not State.NOT_VERIFIED for each in self.attempts)


def verification(
    study_dir: StudyDir, cells: Sequence[str] = (), done: Callable[[], None] = lambda: None
) -> Verification:
    """Judge the attempts of a study again, of some cells alone where there are `cells`. `done` is called after each.

    Raises DecodeError for what is no study, SpecError for a cell that it has not, BusyError where a run is at work.
    """
    with study_dir.undisturbed(), borrowed_ledger(study_dir) as ledger:
        told = told_by(ledger)
        run = blocks_in_ledger(told.planned, told.attempts)
        spec = planned_again(study_dir, run)
        unchecked = [
            *([spec.problem] if spec.problem else []),
            *spec.doubts,
            *what_lacks(spec.rows, told.attempts, partial(_block_of, told)),
        ]
        known = {str(row["cell_id"]) for row in told.planned.values()}
        if unknown := [each for each in cells if each not in known]:
            raise SpecError(f"the study has no cell {unknown[0]!r}", f"it has {', '.join(sorted(known)) or 'none'}")
        void = _void_by_themselves(told)
        asked = [
            _Asked(
                study_dir,
                each,
                told.planned.get(trial_id),
                spec.about_trial(trial_id),
                is_last=each == tries[-1],
                void_beside=(_block_of(told, trial_id), each.attempt) in void,
            )
            for trial_id, tries in told.attempts.items()
            for each in tries
            if not cells or told.planned.get(trial_id, {}).get("cell_id") in cells
        ]
        asked.sort(key=lambda each: raw_bytes(each.folder), reverse=True)  # so that shares are alike
        at_most = processes_for([raw_bytes(each.folder) for each in asked])
        pages = usual_pages([each.folder for each in asked])
        asked = [replace(each, page=pages.get(str((each.row or {}).get("workload")))) for each in asked]
        if not cells:
            unchecked += unknown_folders(study_dir, [each.folder for each in asked])
        unchecked += [*doubts_by_looks(study_dir, run), *doubts_by_remarks(study_dir)]
        found = by_all_processors(_verified, asked, at_most=at_most, done=done)
        differences = [*spec.differences, *study_table_differences(study_dir, told)]
        if told.counting and not is_own_file(study_dir.metrics, study_dir.root):
            unchecked.append("There is no metrics.parquet: no report was made, or it was removed.")
        run_by, trouble = _run_by(study_dir)
        unchecked += [trouble] if trouble else []
        versions = {tables_made_by(study_dir.root, trial_id) for trial_id in told.counting} - {made_by(), None}
        return Verification(
            tuple(sorted(found, key=lambda each: (each.cell_id, each.block, each.arm, each.trial_id, each.attempt))),
            tuple(differences),
            tuple(unchecked),
            run_by,
            tuple(sorted(each for each in versions if each is not None)),
        )


@dataclass(frozen=True)
class _Asked:
    """One attempt to be judged again."""

    study_dir: StudyDir
    attempt: Attempt
    row: Mapping[str, object] | None
    """Row of the plan, by the ledger."""
    spec: AskedOfTrial
    is_last: bool
    void_beside: bool
    """True if another trial of its block was void in the same attempt, by a reason of its own."""
    page: tuple[object, str] | None = None
    """Page that most trials of its workload expect, with words that say how many do; None where it loads none."""

    @property
    def folder(self) -> Path:
        """Folder of the attempt: where its verdict puts it, else where another one would."""
        told = self.study_dir.folder(self.attempt)
        return told if told.is_dir() else self._elsewhere or told

    @property
    def is_elsewhere(self) -> bool:
        """True if its folder is not where its verdict in the ledger puts it: that was another one."""
        return not self.study_dir.folder(self.attempt).is_dir() and self._elsewhere is not None

    @property
    def _elsewhere(self) -> Path | None:
        others = (replace(self.attempt, status=status) for status in ("verified", "failed"))
        found = (self.study_dir.folder(each) for each in others)
        return next((each for each in found if self._is_mine(each)), None)

    def _is_mine(self, folder: Path) -> bool:
        """True if a folder is there and says that it is of this attempt."""
        register = read_register(folder) if folder.is_dir() else None
        return register is not None and register.attempt == self.attempt.attempt


def _verified(asked: _Asked) -> VerifiedAttempt:
    """Judge one attempt again; whatever its files bring about is its own."""
    attempt, row = asked.attempt, asked.row or {}
    reason, differences = "", list[Difference]()
    try:
        reason = _why_not(asked) or ""
        if not reason:
            differences = _compared(asked)
    except Exception as error:  # of files that may come from anywhere
        reason = f"its files cannot be judged: {type(error).__name__}: {error}"
    state = State.NOT_VERIFIED if reason else State.DIFFERS if differences else State.SAME
    block = row.get("block")
    where = (str(row.get("cell_id", "")), str(row.get("arm_name") or row.get("arm", "")))
    number = block if isinstance(block, int) else -1
    return VerifiedAttempt(attempt.trial_id, attempt.attempt, *where, number, state, reason, tuple(differences[:_MOST]))


def _why_not(asked: _Asked) -> str | None:
    """Reason for which an attempt cannot be judged again; None where it can."""
    if (lacks := damage(asked.folder)) is not None:
        return f"it is damaged: {lacks}"
    if (closed := first_unreadable(asked.folder)) is not None:
        return f"its files may not all be read ({closed.relative_to(asked.folder)})"
    trial = read_trial(asked.folder)
    if trial is not None and trial.logs_left_out:
        return f"its raw files were not kept (--keep-raw {trial.logs_left_out})"
    if trial is not None and trial.keys_left_out:
        return "its keys were left out (quiclab bundle --with-keys packs them)"
    return None


def _compared(asked: _Asked) -> list[Difference]:
    """Everything of an attempt that is not what its raw files, its spec and the ledger give."""
    folder, attempt = asked.folder, asked.attempt
    document = read_object(folder / "trial.json")
    today: dict[str, object] = json.loads(json.dumps(document))
    tables = dict(decode_trial(folder).tables)
    weighed = Weighed(tables)
    verdict = judge_document(today, folder, tables, weighed.disturbance)
    today = json.loads(json.dumps(today))
    trial = as_trial(today)
    # What all else follows from stands first: the rest may only be its consequence.
    found = [*_record_differences(asked, document)]
    found += [
        each for name in _JUDGED for each in json_differences("trial.json", document.get(name), today.get(name), name)
    ]
    registered = {each.path: as_json(each) for each in as_trial(document).artefacts}
    there = {each.path: as_json(each) for each in register(folder)}
    found += json_differences("trial.json", registered, there, "artefacts")
    if asked.is_elsewhere:
        place = f"its folder, {folder.relative_to(asked.study_dir.root)}"
        other = "verified" if folder.parent.name == "trials" else "failed, unproven or invalid"
        found.append(Difference("ledger.sqlite", "status", attempt.status, other, place))
    if not (_may_be_void(asked, trial) or _may_have_failed(asked, today)):
        for name, kept, now in (("status", attempt.status, verdict.status), ("reason", attempt.reason, verdict.reason)):
            found += json_differences("ledger.sqlite", kept, now, name)
    if attempt.status == "verified" and asked.is_last:
        made = tables_of(attempt.trial_id, with_verdict(tables, folder), trial, weighed.account)
        found += trial_table_differences(asked.study_dir, attempt.trial_id, made, trial)
    return found


def _record_differences(asked: _Asked, document: Mapping[str, object]) -> Iterator[Difference]:
    """Differences between a trial.json and what spec, ledger and raw files say of the same, apart from its verdict."""
    folder, attempt, spec = asked.folder, asked.attempt, asked.spec
    yield from account_differences(folder, document)
    yield from clock_differences(document)
    yield from json_differences("trial.json", document.get("trial_id"), attempt.trial_id, "trial_id", LEDGER)
    yield from json_differences("ledger.sqlite", attempt.attempt, document.get("attempt"), "attempt", _TRIAL)
    if spec.links is not None:
        yield from link_differences(folder, spec.links)
    if spec.members is not None:
        yield from asked_differences(document, spec.members, spec.tolerated)
    if spec.content is not None:
        yield from content_differences(document, spec.content, SPEC)
    if asked.page is not None:
        expected, by = asked.page
        yield from json_differences("trial.json", document.get("expected"), expected, "expected", by)
    if asked.row is not None:
        yield from json_differences("ledger.sqlite", asked.row, document.get("row"), "row", _TRIAL)
    if spec.is_readable:
        kept = document.get("row")
        mine, theirs = (
            {key: value for key, value in (row or {}).items() if key not in _ASIDE}
            for row in (kept if isinstance(kept, dict) else {}, spec.row)
        )
        yield from json_differences("trial.json", mine, theirs, "row", SPEC)


def _may_be_void(asked: _Asked, trial: TrialRecord) -> bool:
    """True if the ledger may have voided an attempt that was judged otherwise: with its block, or as the study
    tolerates less by now than when it ran."""
    attempt = asked.attempt
    if attempt.status != "void":
        return False
    if attempt.reason in WITH_ITS_BLOCK:
        return attempt.reason == BLOCK_CUT or asked.void_beside
    tolerated = asked.spec.tolerated
    now = msgspec.structs.replace(trial, tolerated=tolerated[0]) if tolerated else trial
    return disturbance_problem(now) == attempt.reason


def _may_have_failed(asked: _Asked, today: Mapping[str, object]) -> bool:
    """True if the ledger may call an attempt failed that was judged otherwise, as every attempt failed in a block that
    stayed void."""
    failure = failure_of(today)
    return asked.attempt.status == "failed" and failure is not None and asked.attempt.reason == said(failure)


def _void_by_themselves(told: LedgerTrials) -> set[tuple[object, int]]:
    """Blocks with the numbers of the attempts at which a trial of theirs was void by a reason of its own."""
    return {
        (_block_of(told, trial_id), each.attempt)
        for trial_id, tries in told.attempts.items()
        for each in tries
        if voids_its_block(each)
    }


def _block_of(told: LedgerTrials, trial_id: str) -> object:
    return told.planned.get(trial_id, {}).get("block_id")


def _run_by(study_dir: StudyDir) -> tuple[str, str]:
    """Version of quiclab that ran a study, by its host.json, and a sentence where that file cannot be read."""
    try:
        return str(read_object(study_dir.host).get("quiclab", "")), ""
    except DecodeError as error:
        return "", f"Which programs ran on which machine is not known: {error.message}."


def is_this_version(found: Verification) -> bool:
    """True if nothing says that another version of quiclab ran a study or made its tables."""
    return found.run_by in ("", __version__) and not found.other_tables
