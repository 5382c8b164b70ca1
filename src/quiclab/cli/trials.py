# SPDX-License-Identifier: Apache-2.0
"""Display of a study's trials by `quiclab run` and `quiclab probe`: a bar, what went wrong, and the sum of it."""

from __future__ import annotations

import math
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from rich.markup import escape
from rich.progress import TaskID
from rich.status import Status

from quiclab.cli.console import VisibleConsole
from quiclab.cli.live_view import LiveProgress
from quiclab.cli.tally import Place, Tally
from quiclab.cli.voice import complaints
from quiclab.evidence.verify.disturbed import PREFIX
from quiclab.lab.endpoints.senders import senders_of
from quiclab.lab.testbed.pressure import pressure
from quiclab.model import number_text
from quiclab.model.errors import ExitCode, HostError
from quiclab.model.plan_row import PlanRow
from quiclab.model.units import ByteCount
from quiclab.plan.duration import expected_duration
from quiclab.store.layout import Attempt
from quiclab.study.blocks import ROUNDS_LATER
from quiclab.study.observer import Beginning, Observer
from quiclab.study.pace import Pace
from quiclab.study.progress import kind_of_reason
from quiclab.study.trials import Outcome

_FEW_ATTEMPTS = 10
"""Trials after which it is told how many of them were disturbed: fewer tell little of the rest."""
_MANY_REPEATS = 1 / 3
"""Share of disturbed trials from which on it is told: a run then takes about twice as long."""


def tell(outcome: Outcome, again: str | None = "The same command", *, tables_follow: bool = True) -> int:
    """Say what did not go well. Returns the exit code: 1 where trials failed, are unproven or damaged; else 8 where
    cells that are compared lack pairs, since the laboratory disturbed them in every attempt; else 0. `again` is what
    tries those once more; with None they are left to what is told later. Tables that are missing are told unless they
    follow."""
    console = VisibleConsole(file=complaints())
    if outcome.failed or outcome.unproven:
        nobody_knows = f", {outcome.unproven} are unproven" if outcome.unproven else ""
        throughout = outcome.failed_throughout
        always = f" ({throughout} in every attempt, in blocks that stayed disturbed)" if throughout else ""
        told = f"{number_text.counted(outcome.failed, 'trial')} failed{always}{nobody_knows}"
        console.print(f"{told}: the reasons are in the report", style="yellow", highlight=False)
    if again is not None and (blocks := {**outcome.disturbed.compared, **outcome.disturbed.controls}):
        console.print(_disturbed(outcome, blocks, again), style="yellow", highlight=False)
    if outcome.left_out:
        size = ByteCount(round(outcome.left_out_bytes, -5))
        console.print(
            f"logs and captures of {number_text.counted(outcome.left_out, 'attempt')} were not kept: {size}",
            highlight=False,
        )
    if outcome.without_tables and not tables_follow:
        first, *others = (f"trial {each}" for each in outcome.without_tables)
        which = f"{first} has" if not others else f"{first} and {number_text.counted(len(others), 'other')} have"
        console.print(f"{which} no tables yet: `quiclab report` makes them, or says what is wrong", style="yellow")
    for trial_id, lacks in outcome.damaged.items():
        console.print(f"trial {trial_id} is damaged: {lacks}. It has no result and is not run again", style="yellow")
    if outcome.failed or outcome.unproven or outcome.damaged:
        return ExitCode.TRIALS_FAILED
    return ExitCode.NOT_JUDGED if outcome.disturbed.compared else ExitCode.OK


def _disturbed(outcome: Outcome, blocks: Mapping[str, int], again: str) -> str:
    """Say which blocks count for no arm, and what to do."""
    where = number_text.listed([f"{number_text.counted(number, 'block')} of {cell}" for cell, number in blocks.items()])
    mended = outcome.again - outcome.void
    told = f"{mended} of {outcome.again} repeated trials now count. " if mended > 0 else ""
    return (
        f"{told}Disturbed in every attempt, and left out: {where}. {again} tries them again; `quiclab doctor` says "
        "what would help."
    )


def _absent(beginning: Beginning) -> HostError:
    """Error that says what to install before a study begins, some of whose arms lack their programs."""
    return HostError(
        f"{len(beginning.cannot_run)} of {len(beginning.study.arms)} arms cannot run: their programs are not here",
        "install them first, or add --anyway: the other arms are compared, and each trial of these fails",
        tuple(f"arm {arm!r}: {reason}" for arm, reason in beginning.cannot_run.items()),
    )


class Bar(Observer):
    """Progress in expected seconds, since trials differ in length; where it is not drawn, a line every minute."""

    def __init__(
        self,
        *,
        anyway: bool = True,
        rounds_later: int = ROUNDS_LATER,
        goes_on: bool = False,
        until_s: float = math.inf,
    ) -> None:
        """Prepare a bar; without `anyway` a study does not begin where arms lack their programs. `rounds_later` is how
        often blocks that stayed void are tried once more. A run that `goes_on` has told of link and machine before. No
        block begins from `until_s` on, by the clock of `time.monotonic`."""
        self._anyway = anyway
        self._until_s = until_s
        self._goes_on = goes_on
        self._rounds_later = rounds_later
        self._console = VisibleConsole()
        self._progress = LiveProgress(self._console, pressure)
        self._tally = Tally()
        self._pace = Pace((), {}, 1, 0)
        self._task = TaskID(0)
        self._every_minute = EveryMinute(self.print_progress)
        self._told_of_repeats, self._told_of_rounds = goes_on, False
        self._at_once = self._most_at_once = 1
        self._most_under_way = 0
        self._status: Status | None = None

    @property
    def is_drawn(self) -> bool:
        """True if it is drawn while trials run: in a terminal."""
        return self._console.is_terminal

    def show_medians(self, metric: str, medians: Mapping[Place, str]) -> None:
        """Show a median of each arm in each cell too, as it is in `medians` by then."""
        self._progress.medians = metric, medians

    def began(self, beginning: Beginning) -> None:
        if beginning.cannot_run and not self._anyway:
            raise _absent(beginning)
        if not self._goes_on:
            self._console.print(f"link: {beginning.backend} ({beginning.why})", highlight=False)
            planned = {row.arm_name for row in beginning.rows}
            for arm, reason in beginning.cannot_run.items():
                if arm not in planned:
                    continue  # a history makes a release ready when it asks for it
                self._console.print(f"arm {arm}: its trials will fail: {reason}", style="yellow", highlight=False)
        senders = senders_of(beginning.study)
        expected = {row.trial_id: expected_duration(row, beginning.study, senders).s for row in beginning.rows}
        self._pace = Pace(beginning.rows, expected, beginning.study.limits.attempts, self._rounds_later)
        self._tally = self._progress.tally = Tally(beginning.rows)
        self._progress.start()
        self._task = self._progress.add_task("", total=self._pace.total_s, now="", trials="", left=self._left)
        if not self.is_drawn:
            self._every_minute.start()

    def checking_machine(self) -> None:
        self._progress.update(self._task, now="testing this machine for 2 s")

    def checked_machine(self, sentence: str) -> None:
        if sentence:
            self._note(f"[yellow]{escape(sentence)}[/yellow]")
        self._started = time.monotonic()

    def running(self, row: PlanRow) -> None:
        self._tally.running(row)
        self._most_under_way = max(len(self._tally.under_way), self._most_under_way)
        now = f"{row.cell_id} {row.arm}" if self._at_once == 1 else f"{self._at_once} at a time: {row.cell_id}"
        self._progress.update(self._task, now=now)

    def at_once(self, number: int) -> None:
        self._at_once, self._most_at_once = number, max(number, self._most_at_once)

    def ended(self, row: PlanRow, attempt: Attempt) -> None:
        self._tally.ended(row, attempt)
        self._pace.ended(row, void=attempt.status == "void")
        if attempt.status in ("failed", "unproven"):
            place = f"{row.cell_id} {row.arm} block {row.block}"
            self._note(f"[yellow]{attempt.status}[/yellow] {place}: {escape(attempt.reason)}")
        self._advance()
        self._tell_of_many_repeats()

    def set_aside(self, trial_id: str, folder: Path) -> None:
        self._note(f"[yellow]what stood in the place of trial {trial_id} was never whole: it is in {folder}[/yellow]")

    def run_anew(self, block: Sequence[PlanRow], why: str) -> None:  # noqa: ARG002 - the one that knows tells it
        self._tally.run_anew(block)

    def block_over(self, block: Sequence[PlanRow], *, void: bool) -> None:
        self._tally.block_over(block, void=void)
        self._pace.block_over(block, void=void)
        self._advance()

    def again(self, blocks: Sequence[Sequence[PlanRow]]) -> None:
        self._pace.again()
        if not self._told_of_rounds:
            self._told_of_rounds = True
            self._note(
                f"{number_text.counted(len(blocks), 'block')} disturbed in every attempt so far: tried again now"
            )

    def stopping(self) -> None:
        self._note("Finishing the blocks under way: press Ctrl-C again to stop at once")

    def over(self) -> None:
        self._every_minute.stop()
        self._progress.tally = None
        whole = self._tally.over + self._tally.void == self._tally.planned
        if self._task in self._progress.task_ids and whole:
            self._progress.update(self._task, now="all trials", left=lambda: "done")
        self._progress.stop()
        if repeated := self._tally.repeated:
            self._note(escape(told_repeats(repeated)))
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

    def print_progress(self) -> None:
        """Print how far the run is, for those who read its output later or elsewhere."""
        tally = self._tally
        things = "pair" if tally.pairs_only else "block"
        told = f"{tally.blocks_over} of {number_text.counted(tally.blocks_planned, things)}"
        if repeated := len(tally.repeated):
            told += f", {number_text.counted(repeated, 'trial')} repeated"
        self._note(f"{told}, about {number_text.span(self._left_s())} left")

    def _note(self, text: str) -> None:
        """Something to read above the bar."""
        self._console.print(text, highlight=False, soft_wrap=not self.is_drawn)

    def _advance(self) -> None:
        trials = f"{self._tally.over}/{self._tally.planned} trials"
        if repeated := len(self._tally.repeated):
            trials += f", {repeated} repeated"
        self._progress.update(self._task, completed=self._pace.done_s, trials=trials)

    def _left_s(self) -> float:
        """Expected time to the end, in seconds."""
        return min(self._pace.left_s(), max(0.0, self._until_s - time.monotonic()))

    def _left(self) -> str:
        left_s = max(1, round(self._left_s()))
        if not self._tally.attempts:
            return f"about {number_text.span(left_s)} left"
        return f"{left_s // 60}:{left_s % 60:02d} left"

    def _tell_of_many_repeats(self) -> None:
        """Say it once where so many trials are disturbed that the run takes much longer."""
        disturbed, attempts = self._tally.disturbed, self._tally.attempts
        if self._told_of_repeats or attempts < _FEW_ATTEMPTS or len(disturbed) <= _MANY_REPEATS * attempts:
            return
        self._told_of_repeats = True
        left_s = self._left_s()
        end = time.strftime("%H:%M", time.localtime(time.time() + left_s))
        causes = escape(told_causes(disturbed))
        self._note(
            f"{len(disturbed)} of {attempts} trials were disturbed and are repeated: {causes}.\n"
            f"The run will end at about {end} ({number_text.span(left_s)}); `quiclab doctor` says what would help here."
        )


# A line every minute, for output that nobody draws a bar on: a pipe, a file, the log of a job.
MINUTE_S = 60.0


class EveryMinute:
    """Calls a function again and again from a thread of its own, until it is stopped."""

    def __init__(self, call: Callable[[], None], every_s: float = MINUTE_S) -> None:
        """Prepare it; the first call comes after `every_s`."""
        self._call, self._every_s = call, every_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        """Begin to count."""
        self._thread.start()

    def stop(self) -> None:
        """End it; no call is under way afterwards, and none comes. It may not have been started."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while not self._over.wait(self._every_s):
            self._call()


# Trials that the laboratory disturbed and that were repeated: how many, and why, in one line.
_MOST_REASONS = 4
_DISTURBED = re.compile(rf"^{PREFIX}[^:]*: (?P<cause>.+)$")


def _cause(reason: str) -> str:
    """Say what disturbed a trial, from the reason in its verdict (`verify.disturbed`), without the numbers of one."""
    found = _DISTURBED.search(reason)
    return found["cause"] if found else reason


def told_causes(reasons: Iterable[str]) -> str:
    """Say how often each cause disturbed a trial, the most frequent first: `24 × other programs used the CPU, 7 × the
    client waited for a processor`. A cause that is the only one has no number."""
    causes = [_cause(reason) for reason in reasons]
    counts = Counter(kind_of_reason(cause) for cause in causes)
    latest = {kind_of_reason(cause): cause for cause in causes}
    told = []
    for kind, number in counts.most_common(_MOST_REASONS):
        such_as = "such as " if number > 1 and kind != latest[kind] else ""
        told.append(("" if len(counts) == 1 else f"{number} × ") + such_as + latest[kind])
    if others := counts.total() - sum(number for _, number in counts.most_common(_MOST_REASONS)):
        told.append(f"{others} × something else")
    return ", ".join(told)


def told_repeats(reasons: list[str]) -> str:
    """Say how many trials were repeated, and why."""
    return f"{number_text.counted(len(reasons), 'trial')} repeated: {told_causes(reasons)}"
