# SPDX-License-Identifier: Apache-2.0
"""A worker: runs blocks one after another in a chamber of its own, while other workers run others.

    work ─▶ PID 1 of the chamber: runs trials ─ folder ─▶ judge: decodes, judges and keeps
    ◀─ what happened                          ◀─ verdict

Trials that are measured come first: of all workers only one at a time gets a trial ready, and judges work when no other
program wants a processor.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

from quiclab.lab.runner.laboratory import open_laboratory
from quiclab.lab.runner.onlooker import Onlooker
from quiclab.lab.runner.trial import run_trial
from quiclab.lab.testbed._process_tree import processes_of
from quiclab.lab.testbed.link import Backend
from quiclab.lab.testbed.link_process import SharedLinkProcess
from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.lab.testbed.patience import be_patient, work_last
from quiclab.lab.testbed.real_time import make_prompt
from quiclab.lab.testbed.sandbox import fork_chamber, fork_child
from quiclab.lab.testbed.turn import Turn
from quiclab.model.errors import ExitCode, QuiclabError
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Study
from quiclab.store.layout import Attempt, StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.blocks import Block, Settled
from quiclab.study.observer import Observer


@dataclass(frozen=True)
class Work:
    """Order to a worker."""

    rows: tuple[PlanRow, ...]
    """Trials of a block."""
    limit: int
    """Most attempts at it in all."""
    alone: bool
    """True if nothing runs beside it."""


@dataclass(frozen=True)
class Task:
    """Subject of all work of a worker."""

    study: Study
    study_dir: StudyDir
    backend: Backend


@dataclass(frozen=True)
class Ready:
    """The worker waits for work; it does nothing meanwhile."""


@dataclass(frozen=True)
class WorkerEvent:
    """Message of a worker while it works: the name of an event of `Observer`, with its arguments."""

    event: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Done:
    """The worker's last word on a block."""

    attempts: int | None
    """Number of attempts if it stayed void; else None."""


class Relay(Observer):
    """Tells the other side of a connection what happens to trials; that a block is over is its own to say."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def running(self, row: PlanRow) -> None:
        self._connection.send(WorkerEvent("running", (row,)))

    def ended(self, row: PlanRow, attempt: Attempt) -> None:
        self._connection.send(WorkerEvent("ended", (row, attempt)))

    def set_aside(self, trial_id: str, folder: Path) -> None:
        self._connection.send(WorkerEvent("set_aside", (trial_id, folder)))


class _Considerate(Onlooker):
    """Makes programs prompt for the transfer, and lets the next trial start then."""

    def __init__(self, starts: Turn) -> None:
        self._starts = starts
        self._pids: list[int] = []
        self._under_way = False

    def started(self, what: str, pid: int, argv: tuple[str, ...]) -> None:  # noqa: ARG002
        self._pids.append(pid)
        if self._under_way:
            make_prompt(pid)

    def begins(self) -> None:
        self._under_way = True
        for pid in processes_of(self._pids):
            make_prompt(pid)

    def began(self) -> None:
        self._starts.give_up()


@dataclass(frozen=True)
class Worker:
    """A worker as the process sees it that gives it work."""

    processes: tuple[int, int]
    """Ids of the keeper of its chamber, and of its judge."""
    connection: Connection


def start_worker(links: SharedLinkProcess, starts: Turn, others: Sequence[Worker]) -> Worker:
    """Fork a worker, which does nothing until it gets a `Task` and then `Work`. `others` were started before it: it
    lets go of their connections, so that each learns when its other side is gone."""
    ours, theirs = Pipe()
    to_judge, from_runner = Pipe()

    def run() -> int:
        for connection in (ours, from_runner, *(other.connection for other in others)):
            connection.close()
        return _run(theirs, to_judge, links, starts)

    keeper = fork_chamber(run)

    def judge() -> int:
        for connection in (ours, theirs, to_judge, *(other.connection for other in others)):
            connection.close()
        return _judge(from_runner, Path(f"/proc/{keeper}/root"))

    judging = fork_child(judge)
    for connection in (theirs, to_judge, from_runner):
        connection.close()
    return Worker((keeper, judging), ours)


def _run(asked: Connection, judge: Connection, links: SharedLinkProcess, starts: Turn) -> int:
    """Run blocks until there are no more; a QuiclabError is sent to the other side."""
    try:
        task: Task = asked.recv()
        judge.send(task.study_dir)
        _run_blocks(task, asked, judge, links, starts)
    except (EOFError, ConnectionError):  # the judge, or the process that gives the work, is gone
        return ExitCode.OK
    except QuiclabError as error:
        asked.send(error)
    return ExitCode.OK


def _run_blocks(task: Task, asked: Connection, judge: Connection, links: SharedLinkProcess, starts: Turn) -> None:
    be_patient()
    starts.take()
    try:
        laboratory = open_laboratory(task.study, task.study_dir.root, task.backend)
    finally:
        starts.give_up()
    beside_others = replace(laboratory, links=links)

    def settle(folder: Path, trial_id: str, number: int) -> Settled:
        judge.send((folder, trial_id, number))
        settled: Settled | QuiclabError = judge.recv()
        if isinstance(settled, QuiclabError):
            raise settled
        return settled

    with NetworkNamespace() as namespace:  # what it needs is loaded then
        namespace.run(lambda: None)
    judge.recv()
    with open_ledger(task.study_dir) as ledger:
        asked.send(Ready())
        while True:
            work: Work = asked.recv()
            where = laboratory if work.alone else beside_others

            def run_one(row: PlanRow, number: int, where: Any = where) -> Path:
                starts.take()
                try:
                    return run_trial(where, row, number, onlooker=_Considerate(starts))
                finally:
                    starts.give_up()

            attempts = Block(run_one, settle, ledger, Relay(asked), work.rows).run(work.limit)
            asked.send(Done(attempts))


def _judge(runner: Connection, root: Path) -> int:
    """Judge and keep attempts, whose folders are below `root`, until the runner is gone; a QuiclabError is sent to
    it."""
    work_last()
    os.environ["POLARS_MAX_THREADS"] = "1"
    try:
        study_dir: StudyDir = runner.recv()
        from quiclab.study.trial import settler

        with open_ledger(study_dir) as ledger:
            settle = settler(study_dir, ledger)
            runner.send(Ready())
            while True:
                folder, trial_id, number = runner.recv()
                try:
                    runner.send(settle(root / folder.relative_to("/"), trial_id, number))
                except QuiclabError as error:
                    runner.send(error)
    except EOFError:
        return ExitCode.OK
    except OSError:
        if root.exists():
            raise
        return ExitCode.OK  # the chamber was ended, and takes the attempt with it
