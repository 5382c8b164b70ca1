# SPDX-License-Identifier: Apache-2.0
"""Blocks side by side, as many as the guard allows, each by a worker; one process moves the packets of all."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Self

from quiclab.lab.runner.commands import arm_of, path_of, workload_of
from quiclab.lab.testbed.link import Backend
from quiclab.lab.testbed.link_process import SharedLinkProcess
from quiclab.lab.testbed.sandbox import raise_if_interrupted
from quiclab.lab.testbed.turn import Turn
from quiclab.model.errors import HostError, QuiclabError
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Study
from quiclab.model.units import Bitrate
from quiclab.processes import available_bytes
from quiclab.spec.link import busiest_rate, lateness_bounds
from quiclab.store.layout import Attempt, StudyDir, read_record
from quiclab.store.ledger import Ledger
from quiclab.study.blocks import Executor, Rows
from quiclab.study.guard import Guards, arm_in_cell, strain_of
from quiclab.study.observer import Observer
from quiclab.study.stopping import Stop, deaf_to_ctrl_c
from quiclab.study.worker import Done, Ready, Task, Work, Worker, WorkerEvent, start_worker

_BYTES_OF_A_WORKER = 600_000_000
"""Memory that a worker may need: its judge, the programs of its trial, and their logs."""
_PER_PROCESSOR = 4
_AHEAD = 12
"""Blocks among which one is looked for that can begin."""
_Waiting = tuple[int, tuple[Rows, int]]
"""Number of a block, its trials, and how many attempts at it there may be."""


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
            with deaf_to_ctrl_c():
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

    def begin(
        self, study: Study, study_dir: StudyDir, backend: Backend, ledger: Ledger, observer: Observer, stop: Stop
    ) -> Executor:
        """Make these workers ready for a study. Returns what runs its blocks by them."""
        course = _Course(Task(study, study_dir, backend), ledger, observer, Guards(self._most), self._workers, stop)
        course.remember()
        course.get_ready()
        observer.at_once(course.at_once)
        return course


def up_to(jobs: int | None) -> AbstractContextManager[SideBySide | None]:
    """Workers for so many trials at a time, for as many as this machine has room for (None), or no worker where it is
    one."""
    return nullcontext() if jobs == 1 else SideBySide(jobs or most_at_once())


class _Course:
    """The way of blocks through the workers."""

    def __init__(
        self,
        task: Task,
        ledger: Ledger,
        observer: Observer,
        guards: Guards,
        workers: Sequence[Worker],
        stop: Stop,
    ) -> None:
        self._task = task
        self._ledger = ledger
        self._observer = observer
        self._guards = guards
        self._free = list(workers)
        self._stop = stop
        self._busy: dict[Connection, tuple[Worker, int, Work]] = {}

    @property
    def at_once(self) -> int:
        """The largest number of trials that may run at a time, of any cell."""
        return self._guards.highest

    def remember(self) -> None:
        """Learn from the trials that an earlier run made alone."""
        last = {trial_id: tries[-1] for trial_id, tries in self._ledger.attempts().items()}
        for values in self._ledger.rows():
            attempt, row = last.get(values["trial_id"]), PlanRow(**values)
            if attempt is not None and attempt.status == "verified" and not self._knows(row):
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

    def run_all(self, asked: Sequence[tuple[Rows, int]], *, alone: bool) -> Sequence[int | None]:
        """Run blocks, as `Executor` says. Raises the QuiclabError of a worker, HostError where all workers have
        ended."""
        results: list[int | None] = [None] * len(asked)
        waiting: deque[_Waiting] = deque((number, (tuple(rows), limit)) for number, (rows, limit) in enumerate(asked))
        while waiting or self._busy:
            raise_if_interrupted()
            if not self._busy:
                self._stop.check()
            while not self._stop.asked and (begins := self._first_to_begin(waiting, alone)) is not None:
                number, work = begins
                waiting.remove((number, (work.rows, work.limit)))
                self._give(number, work)
            for connection in wait(list(self._busy)):
                assert isinstance(connection, Connection)
                worker, number, work = self._busy[connection]
                try:
                    heard = connection.recv()
                except (EOFError, OSError):
                    del self._busy[connection]
                    _end(worker)  # its judge might still keep what it was at
                    self._ledger.adopt()
                    self._observer.run_anew(work.rows, "its worker was ended from outside")
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

    def _first_to_begin(self, waiting: Iterable[_Waiting], alone: bool) -> tuple[int, Work] | None:
        """The first block that can begin now, with its number: the next one, or one of a few behind it, so that a cell
        which needs the machine for itself does not hold up the others, and has its turn all the same."""
        for number, (rows, limit) in islice(waiting, _AHEAD):
            if (work := self._work(rows, limit, alone)) is not None:
                return number, work
        return None

    def _work(self, rows: Rows, limit: int, alone: bool) -> Work | None:
        """The work on a block, if it can begin now."""
        study, running = self._task.study, [work for _, _, work in self._busy.values()]
        alone = alone or not all(weight_of(study, row) and self._knows(row) for row in rows)
        if not self._free or any(work.alone for work in running) or (alone and running):
            return None
        blocks = [rows, *(work.rows for work in running)]
        taken = sum(max(weight_of(study, row) or 1 for row in block) for block in blocks)
        if running and taken > min(self._guards.guard_of(block[0]).at_once for block in blocks):
            return None
        return Work(tuple(rows), limit, alone)

    def _knows(self, row: PlanRow) -> bool:
        """True if a trial like this ran alone."""
        return self._guards.guard_of(row).knows(arm_in_cell(row))

    def _give(self, number: int, work: Work) -> None:
        worker = self._free.pop()
        with suppress(OSError):  # a worker that has ended is noticed when it does not answer
            worker.connection.send(work)
        self._busy[worker.connection] = worker, number, work

    def _tell(self, told: WorkerEvent, work: Work) -> None:
        getattr(self._observer, told.event)(*told.arguments)
        if told.event == "ended" and self._learn(*told.arguments, only_alone=work.alone):
            self._observer.at_once(self.at_once)

    def _learn(self, row: PlanRow, attempt: Attempt, *, only_alone: bool) -> bool:
        """Have the guard learn from a trial. True: another number may run at a time."""
        trial = read_record(self._task.study_dir.folder(attempt))
        if trial is None or not trial.link.is_told:
            return False
        study, arm = self._task.study, arm_in_cell(row)
        path = path_of(study, row)
        bound, *_ = lateness_bounds(path)
        strain = strain_of(trial, path.base_rtt.ns, bound.ns)
        if only_alone:
            if not trial.link.shared:
                self._guards.guard_of(row).ran_alone(arm, strain)
            return False
        return self._guards.guard_of(row).ran_beside_others(arm, strain)


def _end(worker: Worker) -> None:
    worker.connection.close()
    for process in worker.processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(process, 0)


def _ended() -> HostError:
    return HostError("a worker was ended from outside", "run it again: finished trials are kept")


# Trials that may run beside others, and those that need the whole machine.
_LIGHT = Bitrate(20_000_000)
"""Rate up to which a trial counts once."""
_FASTEST = Bitrate(100_000_000)
"""Rate beyond which a trial runs alone: at 200 Mbit/s the link of one never sleeps."""


def weight_of(study: Study, row: PlanRow) -> int | None:
    """Number of trials at up to 20 Mbit/s that a trial counts as; None runs alone.

    Browsers and players have many processes, programs on a slow processor need a quiet one, and competitors are as many
    programs as they are flows.
    """
    workload, arm, rate = workload_of(study, row), arm_of(study, row), busiest_rate(path_of(study, row))
    if workload.kind != "object" or workload.competition is not None or rate is None or rate > _FASTEST:
        return None
    if any(program.is_slow for _, program, _ in arm.programs()):
        return None
    return max(1, -(-rate.bit_per_s // _LIGHT.bit_per_s))
