# SPDX-License-Identifier: Apache-2.0
"""The race of a search: heats, one after the other, each a race of the next settings by successive halving.

The first heat has the settings for which the minutes surely suffice. A heat often takes less than that: settings that
are not faster drop out, all of them at times. What it leaves is time for a further one. Like `search.py` this loads
nothing that reads tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.model.errors import RAN, ExitCode
from quiclab.model.number_text import counted, percent
from quiclab.processes import in_fresh_process
from quiclab.study.tune.course import Course
from quiclab.study.tune.minutes import RACE_ENDS, blocks_in, heat_of, heats_end
from quiclab.study.tune.racing import FINALISTS, Standing, combined, in_order, survivors
from quiclab.study.tune.result import RacedSetting, RaceRound
from quiclab.study.tune.search_progress import Heat

if TYPE_CHECKING:
    from quiclab.study.tune.candidates import Candidate
    from quiclab.study.tune.tuning_plan import Stage, TuningPlan

_RACE = "race"
"""Part of a search that is over when no further heat begins."""


@dataclass(frozen=True)
class _Entry:
    """A heat with its settings."""

    number: int
    ends: float
    """Share of the minutes at which its rounds end."""
    racing: tuple[Candidate, ...]
    waiting: tuple[Candidate, ...]
    """Settings that have not raced after it."""
    winners: tuple[Standing, ...]
    """Settings that gained in the heats before, the fastest first."""

    def round_name(self, number: int) -> str:
        """Name of the stage of a round."""
        return f"heat-{self.number}-round-{number}"


def race(course: Course) -> tuple[tuple[Candidate, ...], int]:
    """Run heats as long as settings have not raced and there is time for them. Returns the winners that may be
    combined, the fastest first, and the exit code of the runs."""
    plan, number = course.plan, 0
    waiting, winners = (*plan.candidates, *plan.left_out), tuple[Standing, ...]()
    by_name = {each.name: each for each in waiting}
    while heat := _next_heat(course, number + 1, len(waiting), bool(winners)):
        number += 1
        racing, waiting = waiting[: heat.settings], waiting[heat.settings :]
        found, code = _heat(course, _Entry(number, heat.ends, racing, waiting, winners))
        if code not in RAN:
            return (), code
        if code == ExitCode.NOT_JUDGED:
            break  # a machine that is too busy for this heat is so for the next one
        winners = in_order((*winners, *found))
    if not course.result.rounds:
        return (), ExitCode.NOT_JUDGED
    course.note_over(_RACE)
    chosen = combined({name: each.keys for name, each in by_name.items()}, winners, plan.matters_pct)
    return tuple(by_name[name] for name in chosen), ExitCode.OK


def _next_heat(course: Course, number: int, waiting: int, won: bool) -> Heat | None:
    """The heat of that number: the one that began before, else as many settings as there is time for; None where there
    is time for too few.

    The first one is as planned. Further ones have the race's share of the minutes, and where no setting has gained, so
    that nothing is to be combined or checked, all that the fresh blocks do not need.
    """
    plan, begun = course.plan, course.progress.heats
    if number <= len(begun):
        return begun[number - 1]
    if course.is_done(_RACE) or not waiting:
        return None
    heats = [Heat(len(plan.candidates), RACE_ENDS)]
    if begun:
        shares = [RACE_ENDS] if won else [RACE_ENDS, heats_end(plan.minutes, course.trial_s, plan.least_pairs)]
        heats = [Heat(heat_of(waiting, course.left_s(ends), course.trial_s), ends) for ends in shares]
    heat = next((each for each in heats if each.settings), None)
    if heat is not None:
        course.note(heats=(*begun, heat))
    return heat


def _heat(course: Course, entry: _Entry) -> tuple[tuple[Standing, ...], int]:
    """Run rounds of a heat until its finalists have run one, and return those that gain, with the exit code:
    `NOT_JUDGED` where nothing was measured."""
    by_name = {each.name: each for each in entry.racing}
    if entry.number > 1:
        course.tell(_heat_text(entry))
    alive, gaining, pooled = tuple(by_name), tuple[Standing, ...](), dict[str, list[float]]()
    number, is_last = 0, False
    while alive and not is_last and (not number or course.is_due(entry.round_name(number + 1), entry.ends)):
        number, is_last = number + 1, len(alive) <= FINALISTS
        name = entry.round_name(number)
        # Rounds have more than the fewest blocks in the race's own share alone.
        blocks = blocks_in(course.left_s(RACE_ENDS), len(alive), course.trial_s, len(entry.waiting))
        asked = (course.plan, name, [by_name[each] for each in alive], course.blocks_of(name, blocks))
        stage = in_fresh_process(_round_stage, asked)
        code = course.run(stage, course.until(entry.ends))
        if code not in (*RAN, ExitCode.INTERRUPTED):
            return (), code
        pooled, found = in_fresh_process(_after_round, (stage.directory, pooled, alive))
        if not found:
            return (), code if code == ExitCode.INTERRUPTED else ExitCode.NOT_JUDGED
        alive = survivors(found)
        gaining = tuple(each for each in found if each.name in alive)
        _note_round(course, entry, stage, found)
        if code == ExitCode.INTERRUPTED:
            return (), code
        best = f"best {by_name[found[0].name].text} ({percent(found[0].difference_pct)})"
        measured = f"{counted(len(found), 'setting')}, {counted(stage.blocks, 'block')}"
        course.tell(f"heat {entry.number}, round {number}: {measured}; {len(alive)} go on; {best}")
    return gaining, ExitCode.OK


def _note_round(course: Course, entry: _Entry, stage: Stage, found: Sequence[Standing]) -> None:
    every = (*course.plan.candidates, *course.plan.left_out)
    texts = {each.name: each.text for each in every}
    settings = tuple(RacedSetting(texts[each.name], each.difference_pct, each.blocks) for each in found)
    best = in_order((*entry.winners, *found))[0]
    course.keep(
        candidates=tuple(each.text for each in every[: len(every) - len(entry.waiting)]),
        left_out=tuple(each.text for each in entry.waiting),
        rounds=(*course.result.rounds, RaceRound(str(stage.directory), entry.number, settings)),
        setting=texts[best.name] if best.difference_pct < 0 else None,
    )


def _heat_text(entry: _Entry) -> str:
    number, more = len(entry.racing), len(entry.racing) + len(entry.waiting)
    settings = f"{number} of {more} more settings" if entry.waiting else counted(more, "more setting")
    return f"heat {entry.number}: {settings}: {'; '.join(each.text for each in entry.racing)}"


# Each of these runs in a process of its own.


def _round_stage(asked: tuple[TuningPlan, str, list[Candidate], int]) -> Stage:
    from quiclab.study.tune.tuning_plan import as_it_is, stage_of, with_settings

    plan, name, alive, blocks = asked
    arms = [as_it_is(plan), *(with_settings(plan, [each], each.name) for each in alive)]
    return stage_of(plan, name, arms, blocks)


def _after_round(
    asked: tuple[Path, Mapping[str, list[float]], tuple[str, ...]],
) -> tuple[dict[str, list[float]], tuple[Standing, ...]]:
    """Pair of the differences of all rounds of the heat, and the standings by them."""
    from quiclab.study.tune.findings import raced
    from quiclab.study.tune.racing import standings

    directory, before, alive = asked
    found = raced(directory)
    pooled = {name: [*before.get(name, []), *found.get(name, {}).values()] for name in alive}
    return pooled, standings(pooled)
