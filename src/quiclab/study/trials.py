# SPDX-License-Identifier: Apache-2.0
"""The loop over a study's trials, inside the sandbox: run a trial, judge it, keep it, go on.

The only place where the measuring and the analysing side meet: the runner leaves files, `verify` judges what is decoded
of them, the ledger remembers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from quiclab import __version__
from quiclab.errors import SpecError
from quiclab.plan.make import grow_plan, order_block
from quiclab.plan.rows import PlanRow
from quiclab.runner.laboratory import Laboratory, open_laboratory
from quiclab.runner.trial import run_trial
from quiclab.spec.model import Study
from quiclab.store.layout import Attempt, StudyDir, read_object, write_atomically
from quiclab.store.ledger import Ledger, open_ledger
from quiclab.study.observer import NOBODY, Beginning, Observer
from quiclab.study.system_calls import count_system_calls
from quiclab.study.trial import judge_attempt, keep_attempt
from quiclab.testbed.backend import choose_backend
from quiclab.testbed.host import facts
from quiclab.testbed.link import Backend

RunOne = Callable[[PlanRow, int], Path]
"""Runs an attempt at a trial, and says in which folder it is."""
Prepare = Callable[[Study, Path, Backend], tuple[Laboratory, RunOne]]


@dataclass(frozen=True)
class Outcome:
    """How many trials of a study ended how, when all of them were tried."""

    failed: int
    unproven: int
    void: int
    damaged: Mapping[str, str]
    """Verified trial → what its files lack by now."""

    @property
    def all_count(self) -> bool:
        """Whether every trial is verified and whole."""
        return not (self.failed or self.unproven or self.void or self.damaged)


def with_own_servers(study: Study, root: Path, backend: Backend) -> tuple[Laboratory, RunOne]:
    """Prepare the usual trials, whose servers are quiclab's."""
    laboratory = open_laboratory(study, root, backend)
    return laboratory, lambda row, attempt: run_trial(laboratory, row, attempt)


def run_trials(
    study: Study,
    study_dir: StudyDir,
    wanted: Backend | None = None,
    *,
    prepare: Prepare = with_own_servers,
    blocks: Mapping[str, int] = MappingProxyType({}),
    observer: Observer = NOBODY,
) -> Outcome:
    """Run everything that is not done yet, of some cells (`blocks`) more than the spec plans.

    Raises SpecError where the study was begun over another backend, HostError where this machine cannot run it.
    """
    backend, why = (wanted, "as asked") if wanted else choose_backend()
    _refuse_to_mix(study_dir, backend)
    laboratory, run_one = prepare(study, study_dir.root, backend)
    keep_host(study_dir, laboratory, backend)
    rows = grow_plan(study, blocks)
    observer.began(Beginning(study, backend, why, laboratory.cannot_run, rows))
    try:
        with open_ledger(study_dir) as ledger:
            ledger.adopt()
            ledger.plan(rows)
            for block in _blocks(rows):
                _Block(run_one, study.limits.attempts, study_dir, ledger, observer, block).run()
            attempts, damaged = ledger.attempts(), ledger.damaged()
    finally:
        observer.over()
    if study.count_system_calls:
        count_system_calls(laboratory, study_dir, observer)
    final = [tries[-1].status for tries in attempts.values()]
    return Outcome(final.count("failed"), final.count("unproven"), final.count("void"), damaged)


def keep_host(study_dir: StudyDir, laboratory: Laboratory, backend: Backend) -> None:
    """Write down the machine and the programs, as they are when the study is run."""
    told: dict[str, Any] = {**facts(), "quiclab": __version__, "programs": dict(laboratory.programs)}
    write_atomically(study_dir.host, json.dumps(told | {"link_backend": backend}, indent=1))


def _refuse_to_mix(study_dir: StudyDir, backend: Backend) -> None:
    """TUN and veth differ in timing: one study uses one of them."""
    if study_dir.host.exists():
        before = read_object(study_dir.host).get("link_backend", backend)
        if before != backend:
            hint = f"continue with --backend {before}, or choose another directory with --out"
            raise SpecError(f"{study_dir.root} was run over {before} and would now go on over {backend}", hint)


def _blocks(rows: Sequence[PlanRow]) -> Iterator[list[PlanRow]]:
    """Rows of each block together, in the order of the plan."""
    blocks: dict[str, list[PlanRow]] = {}
    for row in rows:
        blocks.setdefault(row.block_id, []).append(row)
    yield from blocks.values()


@dataclass(frozen=True)
class _Block:
    """Trials that are compared with one another, and count together or not at all."""

    run_one: RunOne
    limit: int
    """Attempts at most."""
    study_dir: StudyDir
    ledger: Ledger
    observer: Observer
    rows: Sequence[PlanRow]

    def run(self) -> None:
        """Run what it still lacks; a void trial voids the block, which is run again in a newly drawn order."""
        while (missing := self._missing()) is not None:
            number, rows = missing
            for row in order_block(self.rows, number):
                if row in rows and self._attempt(row, number) == "void":
                    break
        self.observer.block_over(self.rows)

    def _missing(self) -> tuple[int, list[PlanRow]] | None:
        """The number of the attempt and the trials to run; None where nothing is left, or no attempt."""
        attempts = self.ledger.attempts()
        last = {row.trial_id: attempts[row.trial_id][-1] for row in self.rows if row.trial_id in attempts}
        number = max((attempt.attempt for attempt in last.values()), default=1)
        if any(attempt.status == "void" and attempt.attempt == number for attempt in last.values()):
            self._void_rest(last, number)
            if number >= self.limit:
                return None
            number += 1
        missing = [row for row in self.rows if row.trial_id not in last or last[row.trial_id].attempt < number]
        return (number, missing) if missing else None

    def _void_rest(self, last: Mapping[str, Attempt], number: int) -> None:
        for attempt in last.values():
            if attempt.attempt == number and attempt.status != "void":
                self.ledger.void(attempt.trial_id)

    def _attempt(self, row: PlanRow, number: int) -> str:
        self.observer.running(row)
        judged = judge_attempt(self.run_one(row, number), row.trial_id, number)
        aside = keep_attempt(self.study_dir, self.ledger, judged)
        if aside is not None:
            self.observer.set_aside(row.trial_id, aside)
        self.observer.ended(row, judged.attempt)
        return judged.attempt.status
