# SPDX-License-Identifier: Apache-2.0
"""State of a search while it runs: its time, its result and its progress, all kept on the disk after each stage."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from quiclab.model.errors import RAN, ExitCode, SpecError
from quiclab.study.confirm.confirming_run import Trials, holding
from quiclab.study.run import in_sandbox_of
from quiclab.study.tune.result import TuningResult, keep_result
from quiclab.study.tune.search_progress import SearchProgress, keep_progress

if TYPE_CHECKING:
    from quiclab.study.tune.tuning_plan import Stage, TuningPlan

TrialsUntil = Callable[[float], Trials]
"""Makes what runs the trials of a stage, of which no block begins from a time on (by `time.monotonic`)."""
Tell = Callable[[str], None]


@dataclass
class Course:
    """State of a search while it runs."""

    plan: TuningPlan
    trials: TrialsUntil
    tell: Tell
    began: float
    """Time of its begin; of one that goes on, as if what it used up before were just over (`time.monotonic`)."""
    result: TuningResult
    progress: SearchProgress

    @property
    def trial_s(self) -> float:
        """Time of a trial, as the last whole stage took it."""
        return self.progress.trial_s

    def until(self, share: float) -> float:
        """Time at which this share of the minutes is over."""
        return self.began + share * 60 * self.plan.minutes

    def left_s(self, share: float) -> float:
        """Time until then."""
        return self.until(share) - time.monotonic()

    def is_over(self, share: float) -> bool:
        """True from that time on: what would run is left out."""
        return self.left_s(share) <= 0

    def keep(self, **changed: object) -> None:
        """Note what is known by now, and keep it: a search that is ended tells what it found."""
        self.result = replace(self.result, **changed)  # type: ignore[arg-type]
        keep_result(self.plan.directory, self.result)

    def is_due(self, name: str, share: float) -> bool:
        """True if a stage is to run: it has begun before, or its time is not over."""
        return name in self.progress.blocks or not self.is_over(share)

    def blocks_of(self, name: str, fitting: int) -> int:
        """Blocks of a stage: those that it began with, else those that fit."""
        return self.progress.blocks.get(name, fitting)

    def is_done(self, name: str) -> bool:
        """True if a stage was over before: what it measured is read, and nothing runs."""
        return name in self.progress.over

    def note(self, **changed: object) -> None:
        """Note how far the search is, and keep it."""
        spent_s = time.monotonic() - self.began
        self.progress = msgspec.structs.replace(self.progress, spent_s=spent_s, **changed)
        keep_progress(self.plan.directory, self.progress)

    def note_begun(self, name: str, blocks: int) -> None:
        """Note that a stage begins with so many blocks."""
        self.note(blocks={name: blocks, **self.progress.blocks})

    def note_over(self, name: str) -> None:
        """Note that a stage is over."""
        if not self.is_done(name):
            self.note(over=(*self.progress.over, name))

    def run(self, stage: Stage, until: float) -> int:
        """Run the blocks of a stage that it lacks; what a trial took here plans the next ones."""
        if self.is_done(stage.name):
            return ExitCode.OK
        is_whole = stage.name not in self.progress.blocks
        self.note_begun(stage.name, stage.blocks)
        began, trials = time.monotonic(), self.trials(until)
        with told_of_this_search(self.plan), holding(stage.directory, stage.spec) as (study_dir, study):
            code = in_sandbox_of(study_dir, lambda: trials(study, study_dir, {}))
        if code in RAN:
            if is_whole:
                self.note(trial_s=(time.monotonic() - began) / (stage.blocks * stage.trials_a_block))
            self.note_over(stage.name)
        return code


@contextmanager
def told_of_this_search(plan: TuningPlan) -> Iterator[None]:
    """Say what to do where a stage of a search that goes on has a spec that is not the one of now."""
    try:
        yield
    except SpecError as error:
        hint = f"move {plan.directory} away, and run the command again: it begins a new search"
        raise SpecError(error.message, hint, error.problems) from error
