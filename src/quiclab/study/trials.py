# SPDX-License-Identifier: Apache-2.0
"""The loop over a study's trials, inside the sandbox: run a trial, judge it, keep it, go on.

The only place where the measuring and the analysing side meet: the runner leaves files, `verify` judges what is decoded
of them, the ledger remembers.

Other quiclab processes that measured on this machine while trials of a study ran, for its host.json.

Room on the disk while a study runs: what a trial is not to keep goes when its block is over.

Logs and captures take far more room than the tables that are made of them, and those of a trial that counts never go
before it has its tables.
The rule is about the whole study, so that a run which was killed in between is made up for by the next.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from quiclab import __version__
from quiclab.lab.runner.laboratory import Laboratory, open_laboratory
from quiclab.lab.runner.trial import run_trial
from quiclab.lab.testbed.backend import choose_backend
from quiclab.lab.testbed.host import host_facts
from quiclab.lab.testbed.link import Backend
from quiclab.lab.testbed.neighbours import current
from quiclab.model.errors import SpecError
from quiclab.model.plan_row import PlanRow, by_block
from quiclab.model.study import Study
from quiclab.plan.make import grow_plan
from quiclab.plan.order import as_kept
from quiclab.plan.part import WHOLE, Part
from quiclab.store.disk import read_object, write_atomically
from quiclab.store.keep_raw import KEEP_ALL, KeepRaw, leave_logs_out, raw_bytes
from quiclab.store.layout import BESIDE, MACHINE_CHECK, Attempt, StudyDir
from quiclab.store.ledger import Ledger, counting, open_ledger
from quiclab.study.blocks import ROUNDS_LATER, Block, Executor, InTurn, RunOne, run_blocks
from quiclab.study.contradicted import contradicted
from quiclab.study.dask.results import Results
from quiclab.study.disturbed import NONE, DisturbedBlocks, disturbed_blocks
from quiclab.study.failed_throughout import fail_what_never_worked
from quiclab.study.limits import void_what_is_disturbed
from quiclab.study.machine_check import LEAST_TRIALS, MachineCheck, keep_check
from quiclab.study.observer import NOBODY, Beginning, Both, Observer
from quiclab.study.sequential_run import planned_arms
from quiclab.study.side_by_side import SideBySide
from quiclab.study.specs import keep_versions
from quiclab.study.stopping import Stop
from quiclab.study.system_calls import count_system_calls
from quiclab.study.tables import make_tables_of
from quiclab.study.tables_on_disk import kept_metrics, without_tables
from quiclab.study.trial import settler
from quiclab.study.trial_tables import a_run_goes_on


class RoomMaker(Observer):
    """Leaves out the raw files that a study is not to keep, block by block."""

    def __init__(self, study_dir: StudyDir, ledger: Ledger, keep: KeepRaw) -> None:
        self._study_dir = study_dir
        self._ledger = ledger
        self._keep = keep
        self._kept: set[Path] = set()
        """Folders whose raw files are kept within a size."""
        self._kept_bytes = 0
        self.removed = 0
        """Attempts whose raw files were removed now."""
        self.removed_bytes = 0

    def block_over(self, block: Sequence[PlanRow], *, void: bool) -> None:  # noqa: ARG002
        if self._keep.what == "all":
            return
        attempts = self._ledger.attempts()
        for row in block:
            for attempt in attempts.get(row.trial_id, ()):
                self._see_to(attempt, row)

    def _see_to(self, attempt: Attempt, row: PlanRow) -> None:
        folder = self._study_dir.folder(attempt)
        if self._keep.keeps(attempt, row.block) and self._has_room(folder):
            return
        if attempt.status != "verified" or self._has_tables(attempt.trial_id):
            size = leave_logs_out(folder, self._keep.rule)
            self.removed += size > 0
            self.removed_bytes += size

    def _has_tables(self, trial_id: str) -> bool:
        """True if a trial has tables, by now at least: a run that was killed may not have made them."""
        if kept_metrics(self._study_dir, trial_id) is None:
            with a_run_goes_on():
                make_tables_of(self._study_dir, trial_id)
        return kept_metrics(self._study_dir, trial_id) is not None

    def _has_room(self, folder: Path) -> bool:
        if self._keep.what != "size" or folder in self._kept:
            return True
        size = raw_bytes(folder)
        if self._kept_bytes + size > self._keep.number:
            return False
        self._kept.add(folder)
        self._kept_bytes += size
        return True


class NeighbourWatch(Observer):
    """Looks for others before the first block and after each, and writes down those that were there."""

    def __init__(self, study_dir: StudyDir) -> None:
        self._study_dir = study_dir

    def began(self, beginning: Beginning) -> None:  # noqa: ARG002
        self._sample()

    def block_over(self, block: Sequence[PlanRow], *, void: bool) -> None:  # noqa: ARG002
        self._sample()

    def _sample(self) -> None:
        own = current()
        if own is None or not (others := own.others()):
            return
        told = read_object(self._study_dir.host)
        before = str(told.get(BESIDE, ""))
        new = [str(each) for each in others if str(each) not in before.split(", ")]
        if new:
            told[BESIDE] = ", ".join([*([before] if before else []), *new])
            write_atomically(self._study_dir.host, json.dumps(told, indent=1))


Prepare = Callable[[Study, Path, Backend], tuple[Laboratory, RunOne]]
Open = Callable[[Ledger, Observer, Sequence[PlanRow]], Executor]
"""Opens the executor of a study's blocks, when its ledger is open and has the plan: these rows."""


@dataclass(frozen=True)
class Outcome:
    """Numbers of a study's trials by how they ended, when all of them were tried."""

    failed: int
    unproven: int
    void: int
    """Trials of blocks that stayed void, those included that were not run again because another one was void."""
    damaged: Mapping[str, str]
    """Verified trial → what its files lack by now."""
    again: int = 0
    """Trials of void blocks that were run again when all others were over; all but `void` are not void any more."""
    left_out: int = 0
    """Attempts whose raw files were removed."""
    left_out_bytes: int = 0
    without_tables: Sequence[str] = ()
    """Verified trials that are whole, and have no tables: an earlier run was killed, or quiclab has a mistake."""
    disturbed: DisturbedBlocks = NONE
    """Blocks that stayed void."""
    failed_throughout: int = 0
    """Trials of such blocks that count as failed, because their endpoints failed in every attempt."""

    @property
    def all_count(self) -> bool:
        """True if every trial is verified and whole."""
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
    part: Part = WHOLE,
    rounds_later: int = ROUNDS_LATER,
    observer: Observer = NOBODY,
    side_by_side: SideBySide | None = None,
    keep_raw: KeepRaw = KEEP_ALL,
    stop: Stop | None = None,
    check_machine: bool = False,
) -> Outcome:
    """Run everything that is not done yet, of some cells (`blocks`) more than the spec plans; blocks that stayed void,
    now or in an earlier run, are tried again when all others are over. With a `part`, the rest of the plan is left for
    a later run. Blocks run one after another, or `side_by_side`. Trials keep their raw files by the rule `keep_raw`,
    those of earlier runs too. No block begins when `stop` is asked for: KeyboardInterrupt is raised after those that
    run. With `check_machine` the machine is checked first where enough trials are left (`machine_check.LEAST_TRIALS`).

    Raises SpecError where the study was begun over another backend, HostError where this machine cannot run it.
    """
    backend, why = (wanted, "as asked") if wanted else choose_backend()
    _refuse_to_mix(study_dir, backend)
    laboratory, run_one = prepare(study, study_dir.root, backend)
    keep_host(study_dir, laboratory, backend)
    # A probe's servers are of others: nothing is known of their programs.
    is_probe = study_dir.resolved.exists() and "probe" in read_object(study_dir.resolved)
    if not is_probe:
        keep_versions(study_dir, study, laboratory.programs)
    rows = part.rows_of(grow_plan(study, blocks, planned_arms(study_dir)))
    observer = Both(observer, NeighbourWatch(study_dir))
    stop = stop or Stop()

    def opened(ledger: Ledger, observer: Observer, rows: Sequence[PlanRow]) -> Executor:
        if check_machine and study.tolerated.value < 1:
            _check_machine(study, study_dir, ledger, backend, observer, rows)
        if side_by_side is not None:
            return side_by_side.begin(study, study_dir, backend, ledger, observer, stop)
        settle = settler(study_dir, ledger)
        return InTurn(lambda block: Block(run_one, settle, ledger, observer, block), stop)

    observer.began(Beginning(study, backend, why, laboratory.cannot_run, rows))
    outcome = run_plan(
        study,
        study_dir,
        rows,
        opened,
        blocks,
        rounds_later=rounds_later,
        observer=observer,
        keep_raw=keep_raw,
        stop=stop,
    )
    if study.count_system_calls and part.is_whole:
        count_system_calls(laboratory, study_dir, rows, observer)
    if not is_probe:
        with a_run_goes_on():
            told = contradicted(study_dir, study, laboratory.programs, rows)
            keep_versions(study_dir, study, laboratory.programs, told)
    return outcome


def run_plan(
    study: Study,
    study_dir: StudyDir,
    rows: Sequence[PlanRow],
    opened: Open,
    blocks: Mapping[str, int] = MappingProxyType({}),
    *,
    rounds_later: int,
    observer: Observer,
    keep_raw: KeepRaw,
    stop: Stop,
) -> Outcome:
    """Run the rows of a plan that are not done yet by an executor, and keep what comes of them. What an earlier run
    left is put in order first: results of workers that were not merged, and trials that count no more under the limits
    of now. The plan has, of some cells (`blocks`), more than the spec."""
    try:
        with open_ledger(study_dir) as ledger:
            ledger.adopt()
            ledger.plan(rows)
            Results(study_dir, ledger).take_up(lambda: grow_plan(study, blocks, planned_arms(study_dir)))
            rows = as_kept(rows, {row["trial_id"]: row["position"] for row in ledger.rows()})
            void_what_is_disturbed(study, study_dir, ledger, rows)
            room = RoomMaker(study_dir, ledger, keep_raw)
            observer = Both(observer, room)
            executor = opened(ledger, observer, rows)
            with stop.while_blocks_run():
                later = run_blocks(
                    list(by_block(rows).values()), study.limits.attempts, executor, observer, rounds_later
                )
            failed_throughout = fail_what_never_worked(study_dir, ledger, rows)
            attempts, damaged = ledger.attempts(), ledger.damaged()
    finally:
        observer.over()
    final = [tries[-1].status for tries in attempts.values()]
    return Outcome(
        final.count("failed"),
        final.count("unproven"),
        later.void,
        damaged,
        later.trials if rounds_later else 0,
        room.removed,
        room.removed_bytes,
        without_tables(study_dir, counting(attempts, damaged)),
        disturbed_blocks(rows, attempts),
        failed_throughout,
    )


def _check_machine(
    study: Study, study_dir: StudyDir, ledger: Ledger, backend: Backend, observer: Observer, rows: Sequence[PlanRow]
) -> None:
    """Check the machine, keep what was found, and tell the observer; not where few trials are left."""
    attempts = ledger.attempts()
    counted = {trial_id for trial_id, tries in attempts.items() if tries[-1].status == "verified"}
    if sum(row.trial_id not in counted for row in rows) < LEAST_TRIALS:
        return
    observer.checking_machine()
    check = MachineCheck.before_study(study, backend, begun=bool(attempts))
    if check is not None:
        keep_check(study_dir, check)
        observer.checked_machine(check.sentence)


def keep_host(study_dir: StudyDir, laboratory: Laboratory, backend: Backend) -> None:
    """Write down the machine and the programs, as they are when the study is run."""
    told: dict[str, object] = {**host_facts(), "quiclab": __version__, "programs": dict(laboratory.programs)}
    before = read_object(study_dir.host) if study_dir.host.exists() else {}
    # Of an earlier run: this one may have too few trials for a check of its own, or no neighbour.
    told |= {key: before[key] for key in (MACHINE_CHECK, BESIDE) if before.get(key) is not None}
    write_atomically(study_dir.host, json.dumps(told | {"link_backend": backend}, indent=1))


def _refuse_to_mix(study_dir: StudyDir, backend: Backend) -> None:
    """TUN and veth differ in timing: one study uses one of them."""
    if study_dir.host.exists():
        before = read_object(study_dir.host).get("link_backend", backend)
        if before != backend:
            hint = f"continue with --backend {before}, or choose another directory with --out"
            raise SpecError(f"{study_dir.root} was run over {before} and would now go on over {backend}", hint)
