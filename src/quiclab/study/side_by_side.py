# SPDX-License-Identifier: Apache-2.0
"""Blocks side by side, as many as the guard allows, each by a worker; one process moves the packets of all."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Self

from quiclab.errors import HostError, QuiclabError
from quiclab.plan.rows import PlanRow
from quiclab.processes import available_bytes
from quiclab.runner.commands import path_of
from quiclab.spec.link import lateness_bounds
from quiclab.spec.model import Study
from quiclab.store.layout import Attempt, StudyDir, judged_document
from quiclab.store.ledger import Ledger
from quiclab.study.blocks import Rows, RunAll
from quiclab.study.guard import Guard, arm_in_cell, strain_of
from quiclab.study.observer import Observer
from quiclab.study.weight import weight_of
from quiclab.study.worker import Done, Ready, Task, Told, Work, Worker, start_worker
from quiclab.testbed.link import Backend
from quiclab.testbed.link_process import SharedLinkProcess
from quiclab.testbed.turn import Turn

_BYTES_OF_A_WORKER = 600_000_000
"""Memory that a worker may need: its judge, the programs of its trial, and their logs."""
_PER_PROCESSOR = 4


def most_at_once() -> int:
    """Number of workers for which this machine has processors and memory; the guard decides how many have work."""
    return max(1, min(_PER_PROCESSOR * len(os.sched_getaffinity(0)), available_bytes() // _BYTES_OF_A_WORKER))


class SideBySide:
    """Context manager around the workers. Enter it in the sandbox, before this process has threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._workers: list[Worker] = []
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            links, starts = stack.enter_context(SharedLinkProcess()), Turn()
            stack.callback(self._end)
            for _ in range(self._most):
                self._workers.append(start_worker(links, starts, self._workers))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _end(self) -> None:
        for worker in self._workers:
            _end(worker)

    def begin(self, study: Study, study_dir: StudyDir, backend: Backend, ledger: Ledger, observer: Observer) -> RunAll:
        """Something that runs blocks of this study by these workers."""
        guard = Guard(self._most)
        course = _Course(Task(study, study_dir, backend), ledger, observer, guard, self._workers)
        course.remember()
        course.get_ready()
        observer.at_once(guard.at_once)
        return course.run_all


class _Course:
    """The way of blocks through the workers."""

    def __init__(self, task: Task, ledger: Ledger, observer: Observer, guard: Guard, workers: Sequence[Worker]) -> None:
        self._task = task
        self._ledger = ledger
        self._observer = observer
        self._guard = guard
        self._free = list(workers)
        self._busy: dict[Connection, tuple[Worker, int, Work]] = {}

    def remember(self) -> None:
        """Learn from the trials that an earlier run made alone."""
        last = {trial_id: tries[-1] for trial_id, tries in self._ledger.attempts().items()}
        for values in self._ledger.rows():
            attempt, row = last.get(values["trial_id"]), PlanRow(**values)
            if attempt is not None and attempt.status == "verified" and not self._guard.knows(arm_in_cell(row)):
                self._learn(row, attempt, only_alone=True)

    def get_ready(self) -> None:
        """Let all workers make ready, which would disturb trials. Raises the QuiclabError of a worker, HostError where
        one has ended."""
        for worker in self._free:
            try:
                worker.connection.send(self._task)
            except OSError:
                raise _ended() from None
        for worker in self._free:
            try:
                heard = worker.connection.recv()
            except (EOFError, OSError):
                raise _ended() from None
            if isinstance(heard, QuiclabError):
                raise heard
            assert isinstance(heard, Ready)

    def run_all(self, asked: Sequence[tuple[Rows, int]], alone: bool) -> Sequence[int | None]:
        """Run blocks, as `blocks.RunAll` says. Raises the QuiclabError of a worker, HostError where all workers have
        ended."""
        results: list[int | None] = [None] * len(asked)
        waiting = deque(enumerate(asked))
        while waiting or self._busy:
            while waiting and (work := self._next(waiting[0][1], alone)) is not None:
                self._give(waiting.popleft()[0], work)
            for connection in wait(list(self._busy)):
                assert isinstance(connection, Connection)
                worker, number, work = self._busy[connection]
                try:
                    heard = connection.recv()
                except (EOFError, OSError):
                    del self._busy[connection]
                    _end(worker)  # its judge might still keep what it was at
                    self._ledger.adopt()
                    waiting.appendleft((number, (work.rows, work.limit)))
                    if not self._busy and not self._free:
                        raise _ended() from None
                    continue
                if isinstance(heard, Done):
                    del self._busy[connection]
                    self._free.append(worker)
                    results[number] = heard.attempts
                    self._observer.block_over(work.rows, void=heard.attempts is not None)
                elif isinstance(heard, QuiclabError):
                    raise heard
                else:
                    self._tell(heard, work)
        return results

    def _next(self, asked: tuple[Rows, int], alone: bool) -> Work | None:
        """The work on a block that can begin now."""
        rows, limit = asked
        study = self._task.study
        weights = [weight_of(study, row) for row in rows]
        alone = alone or None in weights or not all(self._guard.knows(arm_in_cell(row)) for row in rows)
        running = [work for _, _, work in self._busy.values()]
        if not self._free or any(work.alone for work in running) or (alone and running):
            return None
        if not alone and running:
            taken = sum(max(weight_of(study, row) or 1 for row in work.rows) for work in running)
            if taken + max(weight or 1 for weight in weights) > self._guard.at_once:
                return None
        return Work(tuple(rows), limit, alone)

    def _give(self, number: int, work: Work) -> None:
        worker = self._free.pop()
        with suppress(OSError):  # a worker that has ended is noticed when it does not answer
            worker.connection.send(work)
        self._busy[worker.connection] = worker, number, work

    def _tell(self, told: Told, work: Work) -> None:
        getattr(self._observer, told.event)(*told.arguments)
        if told.event == "ended" and self._learn(*told.arguments, only_alone=work.alone):
            self._observer.at_once(self._guard.at_once)

    def _learn(self, row: PlanRow, attempt: Attempt, *, only_alone: bool) -> bool:
        """Have the guard learn from a trial. True: another number may run at a time."""
        document = judged_document(self._task.study_dir.folder(attempt))
        if document is None or not document.get("link"):
            return False
        study, arm = self._task.study, arm_in_cell(row)
        path = path_of(study, row)
        bound, *_ = lateness_bounds(path, study.limits.lateness_p99)
        strain = strain_of(document, path.base_rtt.ns, bound.ns)
        if only_alone:
            if not document["link"].get("shared"):
                self._guard.ran_alone(arm, strain)
            return False
        return self._guard.ran_beside_others(arm, strain)


def _end(worker: Worker) -> None:
    worker.connection.close()
    for process in worker.processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(process, 0)


def _ended() -> HostError:
    return HostError("a worker was ended from outside", "run it again: finished trials are kept")
