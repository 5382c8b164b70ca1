# SPDX-License-Identifier: Apache-2.0
"""The loop of `quiclab run`, inside the sandbox: run a trial, judge it, keep it, go on.

The only place where the measuring and the analysing side meet: the runner leaves files, `verify` judges them, the
ledger remembers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from quiclab import __version__
from quiclab.cli.console import VisibleConsole
from quiclab.cli.system_calls import count_system_calls
from quiclab.decoders import decode_trial
from quiclab.errors import ExitCode, SpecError
from quiclab.plan.duration import expected_duration
from quiclab.plan.make import grow_plan, order_block
from quiclab.plan.rows import PlanRow
from quiclab.runner.laboratory import Laboratory, open_laboratory
from quiclab.runner.trial import run_trial
from quiclab.spec.model import Study
from quiclab.store.layout import Attempt, StudyDir, move_in, read_object, write_atomically
from quiclab.store.ledger import Ledger, open_ledger
from quiclab.testbed.backend import choose_backend
from quiclab.testbed.host import facts
from quiclab.testbed.link import Backend
from quiclab.verify.trial import judge

RunOne = Callable[[PlanRow, int], Path]
"""Runs an attempt at a trial, and says in which folder it is."""
Prepare = Callable[[Study, Path, Backend], tuple[Laboratory, RunOne]]


def _with_own_servers(study: Study, root: Path, backend: Backend) -> tuple[Laboratory, RunOne]:
    laboratory = open_laboratory(study, root, backend)
    return laboratory, lambda row, attempt: run_trial(laboratory, row, attempt)


def run_trials(
    study: Study,
    study_dir: StudyDir,
    wanted: Backend | None = None,
    prepare: Prepare = _with_own_servers,
    blocks: Mapping[str, int] = MappingProxyType({}),
) -> int:
    """Run everything that is not done yet, of some cells (`blocks`) more than the spec plans.

    Exit code 0, or 1 when trials failed or are damaged, or blocks stayed void.
    """
    console = VisibleConsole()
    backend, why = (wanted, "as asked") if wanted else choose_backend()
    _refuse_to_mix(study_dir, backend)
    laboratory, run_one = prepare(study, study_dir.root, backend)
    console.print(f"link: {backend} ({why})", highlight=False)
    for arm, reason in laboratory.cannot_run.items():
        console.print(f"arm {arm}: its trials will fail: {reason}", style="yellow", highlight=False)
    write_atomically(study_dir.host, json.dumps(_host(laboratory) | {"link_backend": backend}, indent=1))
    rows = grow_plan(study, blocks)
    with open_ledger(study_dir) as ledger:
        ledger.adopt()
        ledger.plan(rows)
        with _Bar(study, rows, console) as bar:
            for block in _blocks(rows):
                _run_block(run_one, study.limits.attempts, study_dir, ledger, block, bar)
        attempts, damaged = ledger.attempts(), ledger.damaged()
    if study.count_system_calls:
        count_system_calls(laboratory, study_dir, console)
    final = [tries[-1] for tries in attempts.values()]
    failed, unproven, void = (
        sum(attempt.status == status for attempt in final) for status in ("failed", "unproven", "void")
    )
    if failed or unproven or void:
        nobody_knows = f", {unproven} are unproven" if unproven else ""
        told = f"{failed} trials failed{nobody_knows} and {void} stayed void: the reasons are in the report"
        console.print(f"[yellow]{told}[/yellow]")
    for trial_id, lacks in damaged.items():
        console.print(f"trial {trial_id} is damaged: {lacks}. It has no result and is not run again", style="yellow")
    return ExitCode.TRIALS_FAILED if failed or unproven or void or damaged else ExitCode.OK


def _refuse_to_mix(study_dir: StudyDir, backend: Backend) -> None:
    """TUN and veth differ in timing: one study uses one of them."""
    if study_dir.host.exists():
        before = read_object(study_dir.host).get("link_backend", backend)
        if before != backend:
            hint = f"continue with --backend {before}, or choose another directory with --out"
            raise SpecError(f"{study_dir.root} was run over {before} and would now go on over {backend}", hint)


def _host(laboratory: Laboratory) -> dict[str, Any]:
    """The machine and the programs, as they are when the study is run."""
    return {**facts(), "quiclab": __version__, "programs": dict(laboratory.programs)}


def _blocks(rows: Sequence[PlanRow]) -> Iterator[list[PlanRow]]:
    """Rows of each block together, in the order of the plan."""
    blocks: dict[str, list[PlanRow]] = {}
    for row in rows:
        blocks.setdefault(row.block_id, []).append(row)
    yield from blocks.values()


def _run_block(
    run_one: RunOne, limit: int, study_dir: StudyDir, ledger: Ledger, block: list[PlanRow], bar: _Bar
) -> None:
    """Run what this block still lacks; a void trial voids the block, which is run again in a newly drawn order."""
    while True:
        attempts = ledger.attempts()
        last = {row.trial_id: attempts[row.trial_id][-1] for row in block if row.trial_id in attempts}
        number = max((attempt.attempt for attempt in last.values()), default=1)
        if any(attempt.status == "void" and attempt.attempt == number for attempt in last.values()):
            _void_rest(ledger, last, number)
            if number >= limit:
                bar.done(block)
                return
            number += 1
        missing = [row for row in block if row.trial_id not in last or last[row.trial_id].attempt < number]
        if not missing:
            bar.done(block)
            return
        for row in order_block(block, number):
            if row in missing and _run_one(run_one, study_dir, ledger, row, number, bar) == "void":
                break


def _void_rest(ledger: Ledger, last: dict[str, Attempt], number: int) -> None:
    for attempt in last.values():
        if attempt.attempt == number and attempt.status != "void":
            ledger.void(attempt.trial_id)


def _run_one(run_one: RunOne, study_dir: StudyDir, ledger: Ledger, row: PlanRow, attempt: int, bar: _Bar) -> str:
    bar.show(row)
    folder = run_one(row, attempt)
    verdict = judge(folder, decode_trial(folder).tables)
    ended = Attempt(row.trial_id, attempt, verdict.status, verdict.reason)
    # A report between two attempts has made tables of the one that is void now: their metrics say that they are whole.
    (study_dir.tables / "metrics" / f"{row.trial_id}.parquet").unlink(missing_ok=True)
    aside = move_in(folder, study_dir.folder(ended))
    ledger.record(ended)
    if aside is not None:
        bar.note(f"[yellow]what stood in the place of trial {row.trial_id} was never whole: it is in {aside}[/yellow]")
    if verdict.status != "verified":
        bar.note(
            f"[yellow]{verdict.status}[/yellow] {row.cell_id} {row.arm} block {row.block}: {escape(verdict.reason)}"
        )
    return verdict.status


class _Bar:
    """Progress in expected seconds, so that the remaining time is right although trials differ in length."""

    def __init__(self, study: Study, rows: Sequence[PlanRow], console: Console) -> None:
        self._expected = {row.trial_id: expected_duration(row, study).s for row in rows}
        self._progress = Progress(
            TextColumn("{task.fields[now]}"),
            BarColumn(),
            TextColumn("{task.fields[trials]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
        )
        self._task: TaskID | None = None
        self._total = len(rows)
        self._done = 0
        self._skipped = 0.0
        self._started = time.monotonic()
        self._ran = False

    def __enter__(self) -> _Bar:
        self._progress.start()
        total = sum(self._expected.values())
        self._task = self._progress.add_task("", total=total, now="", trials="", left=f"about {total:.0f} s left")
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, row: PlanRow) -> None:
        """This trial runs now."""
        assert self._task is not None
        self._ran = True
        self._progress.update(self._task, now=f"{row.cell_id} {row.arm}"[:32].ljust(32))

    def note(self, text: str) -> None:
        """Something to read above the bar."""
        self._progress.console.print(text, highlight=False)

    def done(self, block: Sequence[PlanRow]) -> None:
        """A block is over."""
        assert self._task is not None
        expected = sum(self._expected[row.trial_id] for row in block)
        if not self._ran:
            self._skipped += expected  # done by an earlier run
        self._ran = False
        self._done += len(block)
        self._progress.update(self._task, advance=expected, trials=f"{self._done}/{self._total} trials")
        if self._done < self._total:
            self._progress.update(self._task, left=self._left())
        else:
            self._progress.update(self._task, now="all trials".ljust(32), left="done")

    def _left(self) -> str:
        assert self._task is not None
        task = self._progress.tasks[self._task]
        measured = task.completed - self._skipped
        pace = (time.monotonic() - self._started) / measured if measured > 0 else 1.0
        left = max(0.0, (task.total or 0) - task.completed) * pace
        return f"{int(left // 60)}:{int(left % 60):02d} left"
