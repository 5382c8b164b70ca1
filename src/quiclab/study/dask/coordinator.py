# SPDX-License-Identifier: Apache-2.0
"""The loop over a study's blocks where workers of a cluster run them: grant a lease, wait, take the result in.

All is decided here and kept in the ledger; Dask is never asked to repeat or to move a block. What a worker sends counts
while its lease is the newest of the block and has not ended (`store/leases.py`).
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quiclab.lab.endpoints.senders import senders_of
from quiclab.model import number_text
from quiclab.model.errors import HostError
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Study
from quiclab.plan.duration import expected_duration
from quiclab.plan.make import grow_plan
from quiclab.plan.part import Part
from quiclab.store.keep_raw import KeepRaw
from quiclab.store.layout import Attempt, StudyDir
from quiclab.store.leases import Lease
from quiclab.store.ledger import Ledger
from quiclab.study.blocks import Executor, Rows
from quiclab.study.dask import remote
from quiclab.study.dask.cluster import Cluster, Task
from quiclab.study.dask.cluster_observer import ClusterObserver
from quiclab.study.dask.members import Member, Members
from quiclab.study.dask.results import Results
from quiclab.study.observer import Beginning, Observer
from quiclab.study.specs import traces_of
from quiclab.study.stopping import Stop
from quiclab.study.trials import Outcome, run_plan

_TICK_S = 0.2
_MOST_LEASES = 3
"""Leases of a block that end without a result before it is given up: it may be what ends its workers."""
_WAIT_FOR_ANY_S = 60
"""Time in which no worker is there that takes blocks, after which nobody is waited for."""
_WAIT_FOR_ANOTHER_S = 15
"""Time in which workers are there, and all were left out, after which no other is waited for."""
_SPARE_S = 30
"""Time that a worker must have left beyond twice the expected time of a block, to begin it."""


@dataclass(frozen=True)
class Asked:
    """Blocks to be run, and how."""

    study: Study
    study_dir: StudyDir
    part: Part
    backend: str | None
    keep_raw: KeepRaw
    anyway: bool
    """True if arms may lack their programs."""


@dataclass
class _Running:
    """A block under way."""

    lease: Lease
    member: Member
    rows: Sequence[PlanRow]
    task: Task


def run_on_cluster(
    asked: Asked, files: Mapping[str, bytes], cluster: Cluster, observer: ClusterObserver, stop: Stop
) -> Outcome:
    """Run the blocks that were not begun yet on the workers of a cluster; the study is held. `files` are the spec and
    what it names, by path.

    No block begins when `stop` is asked for: KeyboardInterrupt is raised after those that run. Raises HostError where
    no worker is left, and for blocks that were given up.
    """
    study, study_dir = asked.study, asked.study_dir
    members = Members(cluster, study_dir, files, asked.backend, observer, anyway=asked.anyway)

    def opened(ledger: Ledger, heard: Observer, rows: Sequence[PlanRow]) -> Executor:
        return _Coordinator(asked, ledger, cluster, members, files, observer, heard, stop, rows)

    # Workers get blocks that were not begun; rounds later belong to a run without a cluster.
    rows = asked.part.rows_of(grow_plan(study, {}))
    return run_plan(
        study, study_dir, rows, opened, rounds_later=0, observer=observer, keep_raw=asked.keep_raw, stop=stop
    )


def files_of(spec_file: Path, study: Study) -> dict[str, bytes]:
    """The spec and the files beside it that it names, by their path from there. Others must be where they are on each
    worker, too."""
    folder = spec_file.resolve().parent
    pages = [Path(each.page.har) for each in study.workloads if each.page is not None and each.page.har is not None]
    named = [file.resolve() for file in (*traces_of(study), *pages)]
    beside = {str(file.relative_to(folder)): file.read_bytes() for file in named if file.is_relative_to(folder)}
    return {**beside, "spec.toml": spec_file.read_bytes()}


class _Coordinator:
    def __init__(
        self,
        asked: Asked,
        ledger: Ledger,
        cluster: Cluster,
        members: Members,
        files: Mapping[str, bytes],
        cluster_observer: ClusterObserver,
        observer: Observer,
        stop: Stop,
        rows: Sequence[PlanRow],
    ) -> None:
        self._asked = asked
        self._ledger = ledger
        self._cluster = cluster
        self._members = members
        self._files = dict(files)
        self._cluster_observer = cluster_observer
        self._observer = observer
        self._stop = stop
        self._rows = rows
        self._results = Results(asked.study_dir, ledger)
        self._blocks: dict[str, Rows] = {}
        """Blocks that were asked for, by their id."""
        self._waiting: deque[str] = deque()
        self._running: dict[str, _Running] = {}
        """Blocks under way, by the address of their worker."""
        self._without_result: Counter[str] = Counter()
        self._given_up: dict[str, str] = {}
        """Block → how its last lease ended."""
        self._no_worker_since: float | None = None
        self._begun = False

    def run_all(self, asked: Sequence[tuple[Rows, int]], *, alone: bool) -> Sequence[int | None]:  # noqa: ARG002
        """Grant and merge until nothing of these blocks is left that workers can have: no worker runs two at a time.

        Raises HostError for blocks that were given up.
        """
        self._blocks = {rows[0].block_id: rows for rows, _ in asked}
        attempts = self._ledger.attempts()
        self._waiting.extend(
            block_id for block_id, rows in self._blocks.items() if not any(row.trial_id in attempts for row in rows)
        )
        if not self._waiting and self._members.facts is not None:
            self._begin()
        try:
            while self._running or (self._waiting and not self._stop.asked):
                self._step()
                time.sleep(_TICK_S)
        except BaseException:
            self._end_at_once()
            raise
        attempts = self._ledger.attempts()
        begun = [rows for rows in self._blocks.values() if any(row.trial_id in attempts for row in rows)]
        if unfinished := sum(any(_is_open(attempts.get(row.trial_id)) for row in rows) for rows in begun):
            self._cluster_observer.not_for_workers(unfinished)
        if self._given_up:
            raise HostError(
                f"{number_text.counted(len(self._given_up), 'block')} ended {_MOST_LEASES} times without a result, and "
                "will not be tried again now",
                "run the same command again, or look into what ends their workers; all other trials are kept",
                tuple(f"{self._cell_of(block_id)}: {reason}" for block_id, reason in self._given_up.items()),
            )
        return [self._void_attempts(rows) for rows in self._blocks.values()]

    def _void_attempts(self, rows: Rows) -> int | None:
        """Number of attempts at a block if it stayed void."""
        attempts = self._ledger.attempts()
        last = [attempts[row.trial_id][-1] for row in rows if row.trial_id in attempts]
        return max(each.attempt for each in last) if any(each.status == "void" for each in last) else None

    def _step(self) -> None:
        gone = self._members.refresh()
        for address in self._running.keys() & gone.keys():
            running = self._running.pop(address)
            running.task.drop()
            self._ledger.leases.end(running.lease, "lost")
            self._cluster_observer.lost(running.member.name, running.rows)
            self._again(running, f"{running.member.name} was lost")
        for address in [address for address, each in self._running.items() if each.task.is_over]:
            self._take_in(self._running.pop(address))
        if not self._stop.asked:
            self._grant()
        self._give_up_waiting()

    def _grant(self) -> None:
        for member in self._members.free(set(self._running)):
            block_id = next((each for each in self._waiting if member.has_time_for(self._needed_s(each))), None)
            if block_id is None:
                continue
            self._begin()
            self._waiting.remove(block_id)
            rows = self._blocks[block_id]
            lease = self._ledger.leases.grant(block_id, member.name)
            for row in rows:
                self._observer.running(row)
            name = f"quiclab-block-{block_id}-{lease.fence}-{time.time_ns()}"
            backend = (self._members.facts or {}).get("link_backend")
            # How much room all trials may take together only this study knows.
            keep = "all" if self._asked.keep_raw.what == "size" else self._asked.keep_raw.rule
            arguments = (self._files, block_id, backend, keep, lease.fence)
            task = self._cluster.ask(member.address, name, remote.run_block, *arguments)
            self._running[member.address] = _Running(lease, member, rows, task)

    def _take_in(self, running: _Running) -> None:
        """Merge what a worker sent, or say why it does not count."""
        lease, member, rows = running.lease, running.member, running.rows
        try:
            fence, packed, trouble = running.task.answer()
        except Exception as error:  # what the work raised, or what Dask says in its place
            fence, packed, trouble = lease.fence, b"", f"{type(error).__name__}: {error}"
        finally:
            running.task.drop()
        if trouble:
            self._ledger.leases.end(lease, "failed")
        else:
            trouble = self._results.take_in(lease, fence, packed, member.machine, rows)
        if trouble:
            self._cluster_observer.no_result(member.name, rows, trouble)
            self._members.failed(member, trouble)
            self._again(running, trouble)
            return
        member.failures = 0
        self._settled(rows)

    def _settled(self, rows: Sequence[PlanRow]) -> None:
        attempts = self._ledger.attempts()
        tries = [(each, row) for row in rows for each in attempts[row.trial_id]]
        for each, row in sorted(tries, key=lambda pair: pair[0].attempt):
            self._observer.ended(row, each)
        self._over(rows)

    def _over(self, rows: Sequence[PlanRow]) -> None:
        self._observer.block_over(rows, void=self._void_attempts(rows) is not None)

    def _again(self, running: _Running, reason: str) -> None:
        """Have a block granted again, after all others; or give it up."""
        block_id = running.lease.block_id
        self._without_result[block_id] += 1
        if self._without_result[block_id] < _MOST_LEASES:
            self._waiting.append(block_id)
        else:
            self._given_up[block_id] = reason

    def _begin(self) -> None:
        """Tell what is known before the first trial, once a worker has said what it has."""
        if not self._begun:
            self._begun = True
            backend = (self._members.facts or {}).get("link_backend", "tun")
            told = Beginning(self._asked.study, backend, "on all workers", self._members.cannot_run, self._rows)
            self._observer.began(told)
            attempts = self._ledger.attempts()
            for rows in self._blocks.values():
                if all(row.trial_id in attempts for row in rows):
                    self._over(rows)

    def _give_up_waiting(self) -> None:
        """Raise HostError where nobody is there to run what is left."""
        now = time.monotonic()
        waits = self._waiting and not self._running and not self._stop.asked
        if not waits or not (self._members.nobody or self._members.hopeless):
            self._no_worker_since = None
            return
        self._no_worker_since = self._no_worker_since or now
        patience = _WAIT_FOR_ANOTHER_S if self._members.hopeless else _WAIT_FOR_ANY_S
        if now - self._no_worker_since > patience:
            raise HostError(
                f"no worker is left that takes blocks, and {len(self._waiting)} of {len(self._blocks)} are to be run",
                "start workers, or mend those that were left out; the same command goes on: finished trials are kept",
            )

    def _end_at_once(self) -> None:
        addresses = list(self._running)
        for running in self._running.values():
            self._ledger.leases.end(running.lease, "stopped")
        if addresses and not self._cluster.is_local:
            self._cluster.stop(addresses, remote.stop_at_once)
        for running in self._running.values():
            running.task.drop()

    def _needed_s(self, block_id: str) -> float:
        senders = senders_of(self._asked.study)
        expected = sum(expected_duration(row, self._asked.study, senders).s for row in self._blocks[block_id])
        return 2 * expected + _SPARE_S

    def _cell_of(self, block_id: str) -> str:
        row = self._blocks[block_id][0]
        return f"{row.cell_id} block {row.block}"


def _is_open(tries: Sequence[Attempt] | None) -> bool:
    return not tries or tries[-1].status == "void"
