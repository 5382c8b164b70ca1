# SPDX-License-Identifier: Apache-2.0
"""What `quiclab run` and `quiclab probe` show of a study's trials: a bar, what went wrong, and the sum of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.markup import escape
from rich.progress import TaskID
from rich.status import Status

from quiclab import wording
from quiclab.cli.console import VisibleConsole
from quiclab.cli.live_view import LiveProgress
from quiclab.cli.tally import Place, Tally
from quiclab.cli.voice import complaints
from quiclab.errors import ExitCode, HostError
from quiclab.plan.duration import expected_duration
from quiclab.plan.rows import PlanRow
from quiclab.store.layout import Attempt
from quiclab.study.observer import Beginning, Observer
from quiclab.study.trials import Outcome
from quiclab.testbed.pressure import pressure
from quiclab.units import ByteCount


def tell(outcome: Outcome, again: str = "The same command") -> int:
    """Say what did not go well; exit code 0, or 1 when trials failed or are damaged, or blocks stayed void. `again` is
    what tries void blocks once more."""
    console = VisibleConsole(file=complaints())
    if outcome.again:
        mended = outcome.again - outcome.void
        console.print(
            f"{outcome.again} trials of void blocks were run again later: {mended} of them are not void any more"
        )
    if outcome.failed or outcome.unproven or outcome.void:
        nobody_knows = f", {outcome.unproven} are unproven" if outcome.unproven else ""
        told = f"{outcome.failed} trials failed{nobody_knows} and {outcome.void} stayed void"
        console.print(f"[yellow]{told}: the reasons are in the report[/yellow]")
    if outcome.void:
        console.print(VOID_REMEDY.format(again=again), style="yellow", highlight=False)
    if outcome.left_out:
        size = ByteCount(round(outcome.left_out_bytes, -5))
        console.print(
            f"logs and captures of {wording.counted(outcome.left_out, 'attempt')} were not kept: {size}",
            highlight=False,
        )
    if outcome.without_tables:
        first, *others = (f"trial {each}" for each in outcome.without_tables)
        which = f"{first} has" if not others else f"{first} and {wording.counted(len(others), 'other')} have"
        console.print(f"{which} no tables yet: `quiclab report` makes them, or says what is wrong", style="yellow")
    for trial_id, lacks in outcome.damaged.items():
        console.print(f"trial {trial_id} is damaged: {lacks}. It has no result and is not run again", style="yellow")
    return ExitCode.OK if outcome.all_count else ExitCode.TRIALS_FAILED


VOID_REMEDY = (
    "A void trial counts for no arm: the laboratory was at fault, mostly because the machine was busy. "
    "{again} tries them again; `quiclab doctor` tests whether this machine keeps time, and says what helps."
)


def _absent(beginning: Beginning) -> HostError:
    """What to install before a study begins, some of whose arms lack their programs."""
    return HostError(
        f"{len(beginning.cannot_run)} of {len(beginning.study.arms)} arms cannot run: their programs are not here",
        "install them first, or add --anyway: the other arms are compared, and each trial of these fails",
        tuple(f"arm {arm!r}: {reason}" for arm, reason in beginning.cannot_run.items()),
    )


class Bar(Observer):
    """Progress in expected seconds, so that the remaining time is right although trials differ in length."""

    def __init__(self, *, anyway: bool = True) -> None:
        """Prepare a bar; without `anyway` a study does not begin where arms lack their programs."""
        self._anyway = anyway
        self._console = VisibleConsole()
        self._progress = LiveProgress(self._console, pressure)
        self._tally = Tally()
        self._expected: dict[str, float] = {}
        self._task = TaskID(0)
        self._skipped = 0.0
        self._started = time.monotonic()
        self._ran: set[str] = set()
        """Blocks that were run now, in whole or in part."""
        self._at_once = self._most_at_once = 1
        self._most_under_way = 0
        self._status: Status | None = None

    @property
    def is_drawn(self) -> bool:
        """Whether it is drawn while trials run: in a terminal."""
        return self._console.is_terminal

    def show_medians(self, metric: str, medians: Mapping[Place, str]) -> None:
        """Show a median of each arm in each cell too, as it is in `medians` by then."""
        self._progress.medians = metric, medians

    def began(self, beginning: Beginning) -> None:
        if beginning.cannot_run and not self._anyway:
            raise _absent(beginning)
        self._console.print(f"link: {beginning.backend} ({beginning.why})", highlight=False)
        for arm, reason in beginning.cannot_run.items():
            self._console.print(f"arm {arm}: its trials will fail: {reason}", style="yellow", highlight=False)
        self._expected = {row.trial_id: expected_duration(row, beginning.study).s for row in beginning.rows}
        total = sum(self._expected.values())
        self._tally = self._progress.tally = Tally(beginning.rows)
        self._progress.start()
        self._started = time.monotonic()
        self._task = self._progress.add_task("", total=total, now="", trials="", left=f"about {total:.0f} s left")

    def checking_machine(self) -> None:
        self._progress.update(self._task, now="testing this machine for 2 s".ljust(32))

    def checked_machine(self, sentence: str) -> None:
        if sentence:
            self._note(f"[yellow]{escape(sentence)}[/yellow]")
        self._started = time.monotonic()

    def running(self, row: PlanRow) -> None:
        self._ran.add(row.block_id)
        self._tally.running(row)
        self._most_under_way = max(len(self._tally.under_way), self._most_under_way)
        now = f"{row.cell_id} {row.arm}" if self._at_once == 1 else f"{self._at_once} at a time: {row.cell_id}"
        self._progress.update(self._task, now=now[:32].ljust(32))

    def at_once(self, number: int) -> None:
        self._at_once, self._most_at_once = number, max(number, self._most_at_once)

    def ended(self, row: PlanRow, attempt: Attempt) -> None:
        self._tally.ended(row, attempt)
        if attempt.status != "verified":
            place = f"{row.cell_id} {row.arm} block {row.block}"
            self._note(f"[yellow]{attempt.status}[/yellow] {place}: {escape(attempt.reason)}")

    def set_aside(self, trial_id: str, folder: Path) -> None:
        self._note(f"[yellow]what stood in the place of trial {trial_id} was never whole: it is in {folder}[/yellow]")

    def run_anew(self, block: Sequence[PlanRow], why: str) -> None:  # noqa: ARG002 - the one that knows tells it
        self._tally.run_anew(block)

    def block_over(self, block: Sequence[PlanRow], *, void: bool) -> None:
        expected = sum(self._expected[row.trial_id] for row in block)
        if block[0].block_id not in self._ran:
            self._skipped += expected  # done by an earlier run
        self._tally.block_over(block, void=void)
        trials = f"{self._tally.over}/{self._tally.planned} trials"
        if self._tally.void:
            trials += f", {self._tally.void} void"
        self._progress.update(self._task, advance=expected, trials=trials, left=self._left())

    def again(self, blocks: Sequence[Sequence[PlanRow]]) -> None:
        trials = [row for block in blocks for row in block]
        self._note(f"{len(trials)} trials are void so far: their blocks are run again now")
        more = sum(self._expected[row.trial_id] for row in trials)
        self._progress.update(self._task, total=(self._progress.tasks[self._task].total or 0) + more)

    def stopping(self) -> None:
        self._note("Finishing the blocks under way: press Ctrl-C again to stop at once")

    def over(self) -> None:
        self._progress.tally = None
        whole = self._tally.over + self._tally.void == self._tally.planned
        if self._task in self._progress.task_ids and whole:
            self._progress.update(self._task, now="all trials".ljust(32), left="done")
        self._progress.stop()
        if self._most_under_way > 1:
            told = (
                f"side by side: at most {self._most_at_once} trials at a time were allowed, {self._at_once} at the end"
            )
            self._note(f"{told}, by how long programs waited for a processor; the first of each arm ran alone")
        elif self._most_at_once > 1 and whole:
            self._note("all trials ran alone: docs/how-to/run-side-by-side.md says which ones always do")

    def counting(self, arm: str) -> None:
        self._status = self._console.status(f"counting the system calls of {arm}")
        self._status.start()

    def counted(self, arm: str, problem: str | None) -> None:
        if self._status is not None:
            self._status.stop()
        if problem is not None:
            self._note(f"[yellow]system calls of {arm}: {escape(problem)}[/yellow]")

    def cannot_count(self, problem: str) -> None:
        self._note(f"[yellow]system calls are not counted: {escape(problem)}[/yellow]")

    def _note(self, text: str) -> None:
        """Something to read above the bar."""
        self._console.print(text, highlight=False)

    def _left(self) -> str:
        task = self._progress.tasks[self._task]
        measured = task.completed - self._skipped
        pace = (time.monotonic() - self._started) / measured if measured > 0 else 1.0
        left = max(0.0, (task.total or 0) - task.completed) * pace
        return f"{int(left // 60)}:{int(left % 60):02d} left"
