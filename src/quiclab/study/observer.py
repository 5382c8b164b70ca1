# SPDX-License-Identifier: Apache-2.0
"""Events of a study while it runs, for a program that shows its progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quiclab.lab.testbed.link import Backend
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Study
from quiclab.store.layout import Attempt


@dataclass(frozen=True)
class Beginning:
    """Facts that are known before the first trial."""

    study: Study
    backend: Backend
    why: str
    """Reason for this backend, in words."""
    cannot_run: Mapping[str, str]
    """Arm → why each of its trials will fail."""
    rows: Sequence[PlanRow]
    """The whole plan, with what earlier runs have done."""


class Observer:
    """Told of each step, inside the sandbox. This one does nothing; subclasses do what they like between trials."""

    def began(self, beginning: Beginning) -> None:
        """Trials can be run."""

    def checking_machine(self) -> None:
        """The machine is checked for two seconds before the first trial (`study.machine_check`)."""

    def checked_machine(self, sentence: str) -> None:
        """The check is over; `sentence` has its finding and what helps, and is empty where the machine is fine."""

    def running(self, row: PlanRow) -> None:
        """A trial begins."""

    def ended(self, row: PlanRow, attempt: Attempt) -> None:
        """A trial has its verdict and is kept."""

    def set_aside(self, trial_id: str, folder: Path) -> None:
        """Tells that what stood in the place of a trial was never whole; it is in `folder` now."""

    def run_anew(self, block: Sequence[PlanRow], why: str) -> None:
        """Tells that what ran a block has gone, or sent no result: its trials that began have not ended, and begin
        again."""

    def block_over(self, block: Sequence[PlanRow], *, void: bool) -> None:
        """Nothing of a block is left to run, now or since an earlier run; or it stayed `void`, in all attempts of this
        round."""

    def at_once(self, number: int) -> None:
        """Another number of trials may run at a time from now on."""

    def again(self, blocks: Sequence[Sequence[PlanRow]]) -> None:
        """All others are over: another round begins, in which these blocks, which stayed void, are tried once each."""

    def stopping(self) -> None:
        """No further block begins; those that run are finished. Called in a signal handler."""

    def over(self) -> None:
        """All trials are run, or running them was given up."""

    def counting(self, arm: str) -> None:
        """The system calls of an arm are counted, in a trial that is not timed."""

    def counted(self, arm: str, problem: str | None) -> None:
        """Counting an arm's system calls is over; `problem` says why it failed, if it did."""

    def cannot_count(self, problem: str) -> None:
        """System calls cannot be counted on this machine, for the reason in `problem`."""


NOBODY = Observer()


class Both(Observer):
    """Two observers as one; the second hears of an event when the first has dealt with it."""

    def __init__(self, first: Observer, second: Observer) -> None:
        self._observers = (first, second)

    def began(self, beginning: Beginning) -> None:
        for each in self._observers:
            each.began(beginning)

    def checking_machine(self) -> None:
        for each in self._observers:
            each.checking_machine()

    def checked_machine(self, sentence: str) -> None:
        for each in self._observers:
            each.checked_machine(sentence)

    def running(self, row: PlanRow) -> None:
        for each in self._observers:
            each.running(row)

    def ended(self, row: PlanRow, attempt: Attempt) -> None:
        for each in self._observers:
            each.ended(row, attempt)

    def set_aside(self, trial_id: str, folder: Path) -> None:
        for each in self._observers:
            each.set_aside(trial_id, folder)

    def run_anew(self, block: Sequence[PlanRow], why: str) -> None:
        for each in self._observers:
            each.run_anew(block, why)

    def block_over(self, block: Sequence[PlanRow], *, void: bool) -> None:
        for each in self._observers:
            each.block_over(block, void=void)

    def at_once(self, number: int) -> None:
        for each in self._observers:
            each.at_once(number)

    def again(self, blocks: Sequence[Sequence[PlanRow]]) -> None:
        for each in self._observers:
            each.again(blocks)

    def stopping(self) -> None:
        for each in self._observers:
            each.stopping()

    def over(self) -> None:
        for each in self._observers:
            each.over()

    def counting(self, arm: str) -> None:
        for each in self._observers:
            each.counting(arm)

    def counted(self, arm: str, problem: str | None) -> None:
        for each in self._observers:
            each.counted(arm, problem)

    def cannot_count(self, problem: str) -> None:
        for each in self._observers:
            each.cannot_count(problem)
