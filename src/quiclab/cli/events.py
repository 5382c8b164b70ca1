# SPDX-License-Identifier: Apache-2.0
"""`quiclab run --events FILE`: what happens in a run, as JSON lines, for a program that watches it.

Like `quiclab status` they show no result: a look at results before the end costs certainty.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from quiclab.cli.as_json import as_json
from quiclab.cli.status_document import VERSION, TrialCounts
from quiclab.lab.testbed.pressure import pressure
from quiclab.model.errors import HostError
from quiclab.model.plan_row import PlanRow
from quiclab.store.layout import Attempt
from quiclab.study.observer import Beginning, Observer


@dataclass(frozen=True)
class Began:
    """Trials can be run now. `--until` begins again after each of its looks that leaves a cell open."""

    version: int
    """Version of the events' form. It grows where a key goes or changes its meaning, and not where one is added."""
    directory: str
    """Directory of the study."""
    trials: int
    """Trials of this run, with those that earlier runs have done."""
    link_backend: str
    """Backend that carries packets to the link: `tun` or `veth`."""
    cannot_run: Mapping[str, str]
    """Arm → why each of its trials will fail."""


@dataclass(frozen=True)
class Running:
    """A trial begins."""

    trial_id: str
    cell_id: str
    arm: str
    block: int


@dataclass(frozen=True)
class Ended:
    """A trial has its verdict, and is kept with its tables."""

    trial_id: str
    cell_id: str
    arm: str
    block: int
    attempt: int
    """Number of the attempt at its block, from 1."""
    status: str
    """`verified`, `failed`, `unproven` or `void`."""
    reason: str
    """Reason of the status; empty where it is verified."""
    pressure_pct: Mapping[str, float]
    """Share of the last ten seconds in which a task of this machine waited for `cpu`, `io` or `memory`; what the kernel
    does not tell is left out."""


@dataclass(frozen=True)
class SetAside:
    """Folder in the place of a trial that was never whole, and was moved away."""

    trial_id: str
    folder: str
    """Path to which it was moved."""


@dataclass(frozen=True)
class RunAnew:
    """Block that is run again because what ran it has gone, or sent no result: its trials that began have not ended,
    and begin again."""

    cell_id: str
    block: int
    reason: str
    """Reason: what became of the worker."""


@dataclass(frozen=True)
class BlockOver:
    """Nothing of a block is left to run, now or since an earlier run; or it stayed void."""

    cell_id: str
    block: int
    void: bool
    """True if it stayed void, in all attempts of this round."""


@dataclass(frozen=True)
class AtOnce:
    """Another number of trials may run at a time from now on."""

    trials: int
    """The largest number, of any cell."""


@dataclass(frozen=True)
class Again:
    """All other blocks are over: those that stayed void are tried once more."""

    trials: int
    """Trials of these blocks."""


@dataclass(frozen=True)
class Stopping:
    """Ctrl-C was pressed: no further block begins, and those that run are finished."""


@dataclass(frozen=True)
class Over:
    """All trials were run, or running them was given up."""


@dataclass(frozen=True)
class Finished:
    """The last line: the command ends now, also after Ctrl-C. Without it the run was killed, or ended by an error."""

    exit_code: int
    """The exit code that the command ends with."""
    trials: TrialCounts
    """Numbers of the study's trials by how they ended."""


EVENTS: Mapping[str, type[Any]] = {
    "began": Began,
    "running": Running,
    "ended": Ended,
    "set_aside": SetAside,
    "run_anew": RunAnew,
    "block_over": BlockOver,
    "at_once": AtOnce,
    "again": Again,
    "stopping": Stopping,
    "over": Over,
    "finished": Finished,
}
"""Value of `event` → what else is in its line."""
_NAMES = {kind: name for name, kind in EVENTS.items()}


class Events(Observer):
    """Writes a line for each event, whole and at once, to a file that is open already."""

    def __init__(self, descriptor: int, directory: Path) -> None:
        """Write to a descriptor about the study in `directory`."""
        self._descriptor = descriptor
        self._directory = directory

    def began(self, beginning: Beginning) -> None:
        directory, rows = str(self._directory), len(beginning.rows)
        self.write(Began(VERSION, directory, rows, beginning.backend, dict(beginning.cannot_run)))

    def running(self, row: PlanRow) -> None:
        self.write(Running(row.trial_id, row.cell_id, row.arm, row.block))

    def ended(self, row: PlanRow, attempt: Attempt) -> None:
        place = row.trial_id, row.cell_id, row.arm, row.block
        self.write(Ended(*place, attempt.attempt, attempt.status, attempt.reason, pressure()))

    def set_aside(self, trial_id: str, folder: Path) -> None:
        self.write(SetAside(trial_id, str(folder)))

    def run_anew(self, block: Sequence[PlanRow], why: str) -> None:
        self.write(RunAnew(block[0].cell_id, block[0].block, why))

    def block_over(self, block: Sequence[PlanRow], *, void: bool) -> None:
        self.write(BlockOver(block[0].cell_id, block[0].block, void))

    def at_once(self, number: int) -> None:
        self.write(AtOnce(number))

    def again(self, blocks: Sequence[Sequence[PlanRow]]) -> None:
        self.write(Again(sum(map(len, blocks))))

    def stopping(self) -> None:
        self.write(Stopping())

    def over(self) -> None:
        self.write(Over())

    def write(self, event: Any) -> None:
        """Write one line. Raises HostError where the disk is full or the reader has gone."""
        when = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"event": _NAMES[type(event)], "when_utc": when, **as_json(event)}
        left = json.dumps(line, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError as error:
            told = f"cannot write events: {error.strerror}"
            raise HostError(told, "finished trials are kept: run it again, with another --events or none") from error


class PageEvents(Events):
    """Writer of events for a page that shows a run: what it does not take is lost, and the run goes on without it."""

    def write(self, event: Any) -> None:
        """Write one line, if the pipe takes it."""
        with suppress(HostError):
            super().write(event)
