# SPDX-License-Identifier: Apache-2.0
"""The study directory: which file is where.

STUDY/spec.toml  resolved.json  host.json  ledger.sqlite  report.html
STUDY/paper.toml  paper.json                in a study that follows a paper
STUDY/trials/ID/{trial.json, raw/…}      STUDY/failed/ID-attemptN/{trial.json, raw/…}
STUDY/system-calls/ARM.json
STUDY/remarks.json                         on trials, by hand
STUDY/looks.jsonl                          when a result was seen, and of what
STUDY/requests.json  host-nat.json          in a probe
STUDY/history.json  builds/COMMIT/…         in a history of releases, or of commits
STUDY/tables/TABLE/ID.parquet            STUDY/metrics.parquet       STUDY/report/data/…
STUDY/report-METRIC.html  report-METRIC/    a report about another metric, where one was asked for
STUDY/confirm/NAME/  tune/NAME/{tuning.json, progress.json, fresh/, …}    studies that follow on it
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal, get_args

from quiclab.model.errors import BusyError, DecodeError
from quiclab.store.disk import check_name, disk_errors, reading_errors
from quiclab.store.folder_lock import LOCK, held_alone, kept_free
from quiclab.store.forms import misfit
from quiclab.store.own_files import read_own, refuse_strange_files

if TYPE_CHECKING:
    from quiclab.model.trial_record import TrialRecord
    from quiclab.store.trial_views import TrialRegister

Status = Literal["verified", "failed", "unproven", "void"]
"""Status of an attempt in the ledger. A verified one whose files are no longer whole is reported as `DAMAGED`."""

DAMAGED = "damaged"
"""Stand-in for the status of a verified trial whose files are not what its register says."""

BLOCK_VOID = "another trial of its block was void"
BLOCK_CUT = "its block was cut short and ran again as a whole"
WITH_ITS_BLOCK = frozenset({BLOCK_VOID, BLOCK_CUT})
"""Reasons of a void trial that are not its own."""
"""Reason of a void trial that was not at fault itself: it is not counted against its arm."""

FOLDERS = ("trials", "failed", "tables")
"""Folders of a study, which are made first."""

BESIDE = "measured_beside"
"""Member of host.json with the other quiclab processes that measured on the machine while trials ran."""
MACHINE_CHECK = "machine_check"
"""Member of host.json with what was found of the machine before the first trial; it differs from hour to hour."""

SEQUENTIAL = "sequential.json"
"""File of a study that goes on until it is decided, with how far it has grown."""
HISTORY = "history.json"
"""File of a study whose arms are releases of one program, with their dates."""
BUILDS = "builds"
"""Folder of a history of commits with the work tree of each, in a folder of its name."""
DECLARATION = "declared.json"
"""File of a study that puts a cause to the test, with what was declared before it ran."""
TOLERATED = "tolerated"
"""Member of a trial.json with the share of its time that the laboratory may add, by which it is judged."""

SUFFIXES = (".parquet", ".har")
"""Endings of the files that are made of a trial, one folder each below tables/."""


COPIED = "run the command as its owner, or work on a whole copy of the study"
"""Advice of a verb that writes into the study that it is given, where that may not be written."""
OUT_ELSEWHERE = "choose another directory with --out"
"""Advice of a verb that makes a study."""


@dataclass(frozen=True)
class Attempt:
    """Outcome of one attempt at a trial."""

    trial_id: str
    attempt: int
    status: str
    """A `Status`, or `DAMAGED` where the study's files are looked at."""
    reason: str

    def __post_init__(self) -> None:
        """Check id and attempt, which name folders. Raises DecodeError for what no plan could have made."""
        if not re.fullmatch(r"[\w-]+", str(self.trial_id)) or type(self.attempt) is not int:
            told = f"the ledger has an attempt {self.attempt!r} at a trial {self.trial_id!r}"
            raise DecodeError(told, "it is damaged, or no ledger of quiclab's")


@dataclass(frozen=True)
class StudyDir:
    """Paths of one study directory."""

    root: Path

    @property
    def ledger(self) -> Path:
        """Ledger (SQLite): every trial of the plan and its state."""
        return self.root / "ledger.sqlite"

    @property
    def spec(self) -> Path:
        """The spec as the user wrote it."""
        return self.root / "spec.toml"

    @property
    def resolved(self) -> Path:
        """The resolved spec as JSON."""
        return self.root / "resolved.json"

    @property
    def part(self) -> Path:
        """Record of what the latest run left out of the plan, as JSON; not there where that was nothing."""
        return self.root / "part.json"

    @property
    def paper(self) -> Path:
        """Claims of a paper on the study's question, as JSON."""
        return self.root / "paper.json"

    @property
    def host(self) -> Path:
        """Facts about the machine."""
        return self.root / "host.json"

    @property
    def hosts(self) -> Path:
        """Folder of facts about the machines of studies that were merged into this one, a file each."""
        return self.root / "hosts"

    @property
    def host_nat(self) -> Path:
        """Record of what a probe changes in its caller's network, while it runs; a probe that was killed leaves it
        behind."""
        return self.root / "host-nat.json"

    @property
    def tables(self) -> Path:
        """Folder of the tables, as Parquet."""
        return self.root / "tables"

    @property
    def metrics(self) -> Path:
        """File with all metrics of all trials."""
        return self.root / "metrics.parquet"

    @property
    def report(self) -> Path:
        """Page of the report."""
        return self.root / "report.html"

    def trial(self, trial_id: str) -> Path:
        """Folder of a trial that counts."""
        return self.root / "trials" / trial_id

    def failed(self, trial_id: str, attempt: int) -> Path:
        """Folder of an attempt that failed or was void."""
        return self.root / "failed" / f"{trial_id}-attempt{attempt}"

    def folder(self, attempt: Attempt) -> Path:
        """Folder of an attempt: only trials that count are under trials/."""
        if attempt.status in ("verified", DAMAGED):
            return self.trial(attempt.trial_id)
        return self.failed(attempt.trial_id, attempt.attempt)

    def drop_tables(self, trial_id: str) -> None:
        """Remove the tables of a trial, its metrics first: without them no other counts."""
        folders = [folder for folder in self.tables.iterdir() if folder.is_dir()] if self.tables.is_dir() else []
        with disk_errors(self.tables):
            for folder in sorted(folders, key=lambda folder: folder.name != "metrics"):
                for suffix in SUFFIXES:
                    (folder / f"{trial_id}{suffix}").unlink(missing_ok=True)

    def system_calls(self, arm: str) -> Path:
        """File with the system calls that an arm's programs made in a trial that was not timed."""
        return self.root / "system-calls" / f"{arm}.json"

    def system_calls_beside(self, trial_id: str) -> Path:
        """File with the system calls that the programs of a trial made when it ran once more, not timed."""
        return self.root / "system-calls" / "trials" / f"{trial_id}.json"

    @property
    def has_begun(self) -> bool:
        """True if a trial was planned or run: a run that was refused before leaves its spec, which binds nobody."""
        folders = (self.root / "trials", self.root / "failed")
        return self.ledger.exists() or any(any(folder.iterdir()) for folder in folders if folder.is_dir())

    def has_trials(self) -> bool:
        """True if a trial was run, whatever came of it."""
        return any(any((self.root / place).glob("*/trial.json")) for place in ("trials", "failed"))

    def create(self) -> None:
        """Make the folders; in a folder of a user's choice `store.place.begin_in` does. Raises HostError where that is
        not possible."""
        with disk_errors(self.root):
            for folder in FOLDERS:
                (self.root / folder).mkdir(parents=True, exist_ok=True)

    def remove_unfinished(self) -> None:
        """Remove folders that a killed run was moving in: they are never whole, and in no ledger. Hold the
        directory."""
        with disk_errors(self.root):
            for place in ("trials", "failed"):
                for folder in (self.root / place).glob(".incoming-*"):
                    shutil.rmtree(folder)

    @contextmanager
    def locked(self, elsewhere: str = COPIED) -> Iterator[None]:
        """Hold the directory: one run at a time. The kernel lets go when the process ends, however it ends.

        Raises BusyError where another run holds it, HostError where it may not be written; `elsewhere` is what can be
        done then.
        """
        check_name(self.root)
        with reading_errors():
            refuse_strange_files(self.root)
        with ExitStack() as held:
            try:
                with disk_errors(self.root, elsewhere=elsewhere):
                    held.enter_context(held_alone(self.root / LOCK))
            except BlockingIOError:
                hint = "wait for it" if elsewhere == COPIED else f"wait for it, or {elsewhere}"
                raise BusyError(f"another run is working in {self.root}", hint) from None
            yield

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Keep runs out of the directory, as `locked` does, without writing to it: also on a disk that cannot be
        written. Where no run has ever held it, none is kept out."""
        check_name(self.root)
        with reading_errors():
            refuse_strange_files(self.root)
        with ExitStack() as held:
            try:
                held.enter_context(kept_free(self.root / LOCK))
            except BlockingIOError:
                raise BusyError(f"another run is working in {self.root}", "wait for it") from None
            yield


def read_trial(folder: Path) -> TrialRecord | None:
    """Record of the trial in a folder, or None when it is not whole."""
    from quiclab.store.record_form import as_trial

    document = judged_document(folder)
    return None if document is None or _lacks(folder, document) else as_trial(document)


def read_record(folder: Path) -> TrialRecord | None:
    """Record of the judged trial in a folder, whose files need not be whole; None where it is not of its form."""
    from quiclab.store.record_form import as_trial

    document = judged_document(folder)
    with suppress(DecodeError):
        return None if document is None else as_trial(document)
    return None


def read_register(folder: Path) -> TrialRegister | None:
    """Verdict and register of a judged trial, as `judged_document` finds them."""
    from quiclab.store.record_form import view_of
    from quiclab.store.trial_views import TrialRegister

    return view_of(judged_document(folder), TrialRegister)


def logs_left_out(folder: Path) -> str | None:
    """Rule by which the raw files of a judged trial were not kept; None where they were."""
    from quiclab.store.record_form import view_of
    from quiclab.store.trial_views import TrialShortcomings

    found = view_of(judged_document(folder), TrialShortcomings)
    return found.logs_left_out if found else None


def damage(folder: Path, trial_id: str | None = None) -> str | None:
    """Describe what a trial's folder lacks of what its register lists, or that it is not of the trial `trial_id`, if
    given; None where it is whole."""
    if not folder.is_dir():
        return "its folder is gone"
    document = judged_document(folder)
    if document is None:
        return "its trial.json is missing or cannot be read"
    if trial_id not in (None, document["trial_id"]):
        return "its trial.json is that of another trial"
    return _lacks(folder, document)


def _lacks(folder: Path, document: Mapping[str, object]) -> str | None:
    """The part of `damage` that its trial.json tells."""
    from quiclab.model.trial_record import TrialRecord
    from quiclab.store.record_form import as_trial, form_of

    if (wrong := misfit(document, form_of(TrialRecord))) is not None:
        return f"in its trial.json {wrong}"
    for item in as_trial(document).artefacts:
        file, path = folder / item.path, PurePosixPath(item.path)
        if path.is_absolute() or ".." in path.parts:
            return f"its register names {item.path}, which is outside of its folder"
        if not file.is_file():
            return f"{item.path} is missing"
        if (size := file.stat().st_size) != item.bytes:
            return f"{item.path} has {size} bytes instead of {item.bytes}"
    return None


def judged_document(folder: Path) -> dict[str, object] | None:
    """Content of the trial.json of a judged trial, if it has everything that it must have; the files beside it need not
    be whole, and what else it has may be anything."""
    from quiclab.store.record_form import view_of
    from quiclab.store.trial_views import TrialRegister

    try:
        document: dict[str, object] = json.loads(read_own(folder / "trial.json"))
    except (OSError, ValueError, RecursionError):
        return None
    register = view_of(document, TrialRegister)
    if register is None or register.status not in get_args(Status):
        return None
    document.setdefault("artefacts", [])
    return document
