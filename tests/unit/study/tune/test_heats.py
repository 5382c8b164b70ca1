# SPDX-License-Identifier: Apache-2.0
"""Heats of a race over a clock and trials that are simulated: which settings race, when, and what is left for the rest
of the search."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from planned_confirmation import write

from quiclab.model.errors import ExitCode
from quiclab.spec.read import read_study
from quiclab.study.tune import course as course_module
from quiclab.study.tune import heats
from quiclab.study.tune.course import Course
from quiclab.study.tune.minutes import COMBINING_ENDS, FRESH, LEAST_SETTINGS, RACE_ENDS, STAGE_S, least_minutes
from quiclab.study.tune.planning import plan_tuning
from quiclab.study.tune.racing import standings
from quiclab.study.tune.result import TuningResult
from quiclab.study.tune.search_progress import SearchProgress, read_progress
from quiclab.study.tune.tuning_plan import Stage, TuneRequest, TuningPlan

_EMPTY = TuningResult("s", "1MB/p", "h3", "ttlb_ms", "ms", (), (), (), None, None, None, (), (), None, ())


@dataclass
class _Machine:
    """A machine on which a trial takes the planned time, and a setting changes it by so many per cent."""

    plan: TuningPlan
    worth: dict[str, float] = field(default_factory=dict)
    """Setting → per cent; all others are 1 % slower."""
    interrupted_in: str = ""
    now_s: float = 0.0
    ran: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Stage → settings in it."""
    blocks: dict[str, int] = field(default_factory=dict)

    def race(self) -> tuple[list[str], int, Course]:
        """Run a race, or go on with one. Returns the settings chosen, the exit code and the state."""
        progress = read_progress(self.plan.directory) or SearchProgress({}, 0.0, self.plan.trial_s, {})
        course = _SimulatedCourse(
            self.plan, _no_trials, lambda _: None, self.now_s - progress.spent_s, _EMPTY, progress
        )
        course.machine = self
        chosen, code = heats.race(course)
        course.note()
        return [each.text for each in chosen], code, course

    def answer(self, function: object, asked: Any) -> Any:
        """Answer in place of a process of its own."""
        if function is heats._round_stage:
            plan, name, alive, blocks = asked
            self.ran[name] = tuple(each.text for each in alive)
            self.blocks[name] = blocks
            return Stage(name, plan.directory / name, "", blocks, 1 + len(alive))
        directory, pooled, alive = asked
        texts = {each.name: each.text for each in (*self.plan.candidates, *self.plan.left_out)}
        blocks = self.blocks[directory.name]
        found = {name: [*pooled.get(name, []), *[self.worth.get(texts[name], 1.0)] * blocks] for name in alive}
        return found, standings(found)


class _SimulatedCourse(Course):
    machine: _Machine

    def run(self, stage: Stage, until: float) -> int:
        """Let the time of a stage pass."""
        if self.is_done(stage.name):
            return ExitCode.OK
        self.note_begun(stage.name, stage.blocks)
        if self.machine.interrupted_in == stage.name:
            self.machine.now_s += 40 * self.trial_s
            return ExitCode.INTERRUPTED
        self.machine.now_s += stage.blocks * stage.trials_a_block * self.trial_s + STAGE_S
        self.note_over(stage.name)
        return ExitCode.OK


def _no_trials(until_s: float) -> Any:
    raise AssertionError("no trial runs here")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Machine:
    """A search of few minutes, for which many settings are left to further heats."""
    study = write(tmp_path / "s", path='loss = "1 %"', client='"quinn"', h3='"quinn"')
    request = TuneRequest(study, "1MB/p", "h3", 200.0, ("client", "server", "tcp"), ())
    plan = plan_tuning(request, read_study(study / "spec.toml", {}))
    assert len(plan.left_out) > 2 * LEAST_SETTINGS
    plan.directory.mkdir(parents=True)
    made = _Machine(plan)
    monkeypatch.setattr(course_module.time, "monotonic", lambda: made.now_s)
    monkeypatch.setattr(heats, "in_fresh_process", made.answer)
    return made


def _share(machine: _Machine) -> float:
    return machine.now_s / (60 * machine.plan.minutes)


def test_settings_that_the_first_heat_leaves_time_for_race(machine: _Machine) -> None:
    """The first heat has no faster one, and those that were left out have one: it is found, and chosen."""
    best = machine.plan.left_out[1].text
    machine.worth[best] = -10.0
    chosen, code, course = machine.race()
    assert (chosen, code) == ([best], ExitCode.OK)
    assert machine.ran["heat-1-round-1"] == tuple(each.text for each in machine.plan.candidates)
    second = machine.ran["heat-2-round-1"]
    assert second == tuple(each.text for each in machine.plan.left_out[: len(second)])
    assert {1, 2} <= {each.heat for each in course.result.rounds}
    assert course.result.setting == best


def test_the_result_says_which_settings_raced(machine: _Machine) -> None:
    """Settings that raced and those that did not are all of the plan's, in its order, each once."""
    _, _, course = machine.race()
    raced = [text for name, texts in machine.ran.items() if name.endswith("-round-1") for text in texts]
    assert list(course.result.candidates) == raced
    every = [each.text for each in (*machine.plan.candidates, *machine.plan.left_out)]
    assert [*course.result.candidates, *course.result.left_out] == every
    assert course.result.setting is None


def test_without_any_gain_heats_have_all_that_fresh_blocks_do_not_need(machine: _Machine) -> None:
    """There is nothing to combine or to check: heats begin after the race's share, and end before that of the fresh
    blocks."""
    every = (*machine.plan.candidates, *machine.plan.left_out)
    minutes = least_minutes(machine.plan.trial_s, len(every), machine.plan.least_pairs)
    few, more = every[:LEAST_SETTINGS], every[LEAST_SETTINGS:]
    machine.plan = replace(machine.plan, minutes=float(minutes), candidates=few, left_out=more)
    chosen, code, course = machine.race()
    assert (chosen, code) == ([], ExitCode.OK)
    assert course.progress.heats[-1].ends > COMBINING_ENDS
    assert RACE_ENDS < _share(machine) <= 1 - FRESH + 1e-9


def test_after_a_gain_heats_end_with_the_share_of_the_race(machine: _Machine) -> None:
    """Combinations, fresh blocks and networks keep their time."""
    first = machine.plan.candidates[0].text
    machine.worth[first] = -10.0
    chosen, code, course = machine.race()
    assert (chosen[0], code) == (first, ExitCode.OK)
    assert all(each.ends == RACE_ENDS for each in course.progress.heats)
    assert len(course.progress.heats) > 1, "only one setting of the first heat went on, which left time"
    assert _share(machine) <= RACE_ENDS + 1e-9


def test_winners_of_all_heats_are_chosen_among(machine: _Machine) -> None:
    """The fastest one is first, whatever its heat; another key's is beside it, to be combined with it."""
    first = next(each for each in machine.plan.candidates)
    later = next(each for each in machine.plan.left_out[:LEAST_SETTINGS] if not each.keys & first.keys)
    machine.worth |= {first.text: -6.0, later.text: -20.0}
    chosen, _, course = machine.race()
    assert chosen == [later.text, first.text]
    assert course.result.setting == later.text


def test_a_search_that_goes_on_has_the_same_heats(machine: _Machine) -> None:
    """The time that an end took away makes no other settings race, and a race that is over has no further heat."""
    machine.interrupted_in = "heat-2-round-1"
    _, code, _ = machine.race()
    assert code == ExitCode.INTERRUPTED
    before = machine.ran.copy()
    machine.interrupted_in = ""
    _, code, course = machine.race()
    assert code == ExitCode.OK
    assert {name: machine.ran[name] for name in before} == before
    heats_then, ran = course.progress.heats, set(machine.ran)
    machine.now_s -= 3600 * 24  # as if time were left
    _, _, course = machine.race()
    assert (course.progress.heats, set(machine.ran)) == (heats_then, ran)


def test_a_heat_that_nobody_can_judge_ends_the_race(machine: _Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is too busy for the first heat judges nothing; later the heats before it stand."""
    answer = machine.answer
    spoiled = ["heat-1-round-1"]

    def spoiling(function: object, asked: Any) -> Any:
        if function is heats._after_round and asked[0].name in spoiled:
            return {}, ()
        return answer(function, asked)

    monkeypatch.setattr(heats, "in_fresh_process", spoiling)
    assert machine.race()[1] == ExitCode.NOT_JUDGED
    (machine.plan.directory / "progress.json").unlink()
    spoiled[0] = "heat-2-round-1"
    machine.now_s = 0.0
    _, code, course = machine.race()
    assert code == ExitCode.OK
    assert course.result.candidates == tuple(each.text for each in machine.plan.candidates)
