# SPDX-License-Identifier: Apache-2.0
"""A search that runs: heats of a race, combinations of their winners, fresh blocks, neighbouring networks.

What chose is never what judges: the fresh blocks are a study of their own with a seed of its own, in which only the arm
as it is and the arm with the setting run, and the sequential test decides when they are enough. One setting is judged,
once, however many raced and in however many heats: its false alarm rate is that of the test. This module loads nothing
that reads tables, as its process enters the sandbox: whatever does is asked in processes of its own.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.model.errors import RAN, BusyError, ExitCode
from quiclab.processes import in_fresh_process
from quiclab.store.layout import StudyDir
from quiclab.study.confirm.confirming_run import MOST_PAIRS, run_in_rounds
from quiclab.study.tune.course import Course, Tell, TrialsUntil, told_of_this_search
from quiclab.study.tune.heats import race
from quiclab.study.tune.minutes import COMBINING_ENDS, FRESH_ENDS, LEAST_BLOCKS, STAGE_S
from quiclab.study.tune.result import RacedSetting, RaceRound, TuningResult
from quiclab.study.tune.search_progress import SearchProgress, read_progress

if TYPE_CHECKING:
    from quiclab.study.confirm.confirming_run import Judged
    from quiclab.study.tune.candidates import Candidate
    from quiclab.study.tune.tuning_plan import Stage, TuningPlan

_COMBINED, _FRESH, _NEIGHBOURS = "combined", "fresh", "neighbours"
"""Stages that a search has once at most."""


@dataclass(frozen=True)
class FreshStage:
    """The fresh blocks, as `run_in_rounds` runs them."""

    directory: Path
    spec: str
    block_ms: float
    effect_pct: float
    begun: bool = False


def search(plan: TuningPlan, trials: TrialsUntil, tell: Tell) -> tuple[TuningResult, int]:
    """Search, test and check; a search that was ended goes on. Returns what was found, as far as it got, and the exit
    code of the runs.

    Raises BusyError where another search works in the folder, and HostError as `quiclab run` does.
    """
    empty = TuningResult(
        plan.cell.study.name, plan.cell.name, plan.cell.arm.name, plan.metric, plan.unit,
        (), tuple(each.text for each in (*plan.candidates, *plan.left_out)), (), None, None, None, (), (), None, (),
    )  # fmt: skip
    plan.directory.mkdir(parents=True, exist_ok=True)
    with StudyDir(plan.directory).locked():
        if read_progress(plan.directory) != plan.progress:
            raise BusyError(f"another search has worked in {plan.directory} meanwhile", "run the command again")
        progress = plan.progress or SearchProgress(plan.asked, 0.0, plan.trial_s, {})
        course = Course(plan, trials, tell, time.monotonic() - progress.spent_s, empty, progress)
        try:
            code = _stages(course)
        except KeyboardInterrupt:
            code = ExitCode.INTERRUPTED
        finally:
            course.note()
        if code in RAN:
            course.note(ended=True)
    return course.result, code


def _stages(course: Course) -> int:
    chosen, code = race(course)
    if code not in RAN or not chosen:
        return code
    if len(chosen) > 1:
        # No parts together that have not run together: without time for combinations the fastest alone is judged.
        is_due = course.is_due(_COMBINED, COMBINING_ENDS)
        chosen, code = _combine(course, chosen) if is_due else (chosen[:1], code)
        if code not in RAN:
            return code
    code = _fresh(course, chosen)
    found = course.result.found
    if code in RAN and found is not None and found.verdict == "faster" and course.plan.neighbours:
        code = _held_out(course, chosen)
    if code not in RAN:
        return code
    return ExitCode.NOT_JUDGED if found is None or found.verdict == "not judged" else ExitCode.OK


def _combine(course: Course, parts: tuple[Candidate, ...]) -> tuple[tuple[Candidate, ...], int]:
    """Run the combinations of the winners beside the fastest of them alone, and return the one that is chosen."""
    arms = 1 + len(_combinations(parts))
    fitting = int((course.left_s(COMBINING_ENDS) - STAGE_S) / (arms * course.trial_s))
    blocks = course.blocks_of(_COMBINED, max(LEAST_BLOCKS, fitting))
    stage = in_fresh_process(_combined_stage, (course.plan, parts, blocks))
    code = course.run(stage, course.until(COMBINING_ENDS))
    if code not in RAN:
        return parts[:1], code
    chosen, raced = in_fresh_process(_after_combining, (stage.directory, parts, course.plan.matters_pct))
    rounds = (*course.result.rounds, RaceRound(str(stage.directory), None, raced))
    course.keep(rounds=rounds, setting=_text(chosen))
    course.tell(f"combinations: {course.result.setting}")
    return chosen, code


def _fresh(course: Course, chosen: Sequence[Candidate]) -> int:
    """Run fresh blocks until the sequential test decides, or the time is over."""
    fresh, lines = in_fresh_process(_fresh_stage, (course.plan, tuple(chosen), course.trial_s))
    course.keep(fresh_directory=str(fresh.directory), setting=_text(chosen), **lines)
    course.tell(f"fresh blocks: {course.result.setting} against {course.plan.cell.arm.name} as it is")
    code: int = ExitCode.OK
    # What neighbours do not need, as nothing is shown to be faster yet, more fresh blocks may have.
    for share in () if course.is_done(_FRESH) else (FRESH_ENDS, 1.0):
        if course.is_over(share):
            continue
        fresh = replace(fresh, begun=_FRESH in course.progress.blocks)
        course.note_begun(_FRESH, course.plan.least_pairs)
        trials = course.trials(course.until(1.0))
        with told_of_this_search(course.plan):
            judged, code = run_in_rounds(fresh, course.left_s(share) / 60, trials, _declared, _judge)
        if judged is None or judged.verdict != "undecided":
            break
    if code in RAN:
        course.note_over(_FRESH)
    if fresh.directory.exists():
        found, besides = in_fresh_process(_tested, fresh.directory)
        course.keep(found=found, side_effects=besides)
    return code


def _held_out(course: Course, chosen: Sequence[Candidate]) -> int:
    """Run the setting over networks of the same kind that did not choose it."""
    if not course.is_due(_NEIGHBOURS, 1.0):
        return ExitCode.OK
    stage = in_fresh_process(_neighbour_stage, (course.plan, tuple(chosen)))
    course.tell(f"neighbouring networks: {', '.join(map(str, course.plan.neighbours))}")
    code = course.run(stage, course.until(1.0))
    if code in RAN:
        course.keep(neighbours=in_fresh_process(_over_neighbours, stage.directory))
    return code


# Each of these runs in a process of its own.


def _combined_stage(asked: tuple[TuningPlan, tuple[Candidate, ...], int]) -> Stage:
    from quiclab.study.tune.tuning_plan import stage_of, with_settings

    plan, parts, blocks = asked
    sets = [(parts[0],), *_combinations(parts)]
    arms = [with_settings(plan, each, _numbers(parts, each)) for each in sets]
    return stage_of(plan, _COMBINED, arms, blocks)


def _after_combining(
    asked: tuple[Path, tuple[Candidate, ...], float],
) -> tuple[tuple[Candidate, ...], tuple[RacedSetting, ...]]:
    from quiclab.study.tune.findings import raced
    from quiclab.study.tune.racing import greedy, standings

    directory, parts, matters_pct = asked
    by_name = {each.name: each for each in parts}
    found = raced(directory)
    differences = {
        tuple(each.name for each in some): found[_numbers(parts, some)]
        for some in _combinations(parts)
        if _numbers(parts, some) in found
    }
    chosen = greedy([each.name for each in parts], differences, matters_pct)
    texts = {_numbers(parts, some): _text(some) for some in _combinations(parts)}
    ranked = standings({name: list(values.values()) for name, values in found.items()})
    raced_settings = tuple(RacedSetting(texts[each.name], each.difference_pct, each.blocks) for each in ranked)
    return tuple(by_name[name] for name in chosen), raced_settings


def _combinations(parts: Sequence[Candidate]) -> list[tuple[Candidate, ...]]:
    """The fastest part with each of the others, and with all of them."""
    pairs: list[tuple[Candidate, ...]] = [(parts[0], other) for other in parts[1:]]
    return pairs if len(parts) == 2 else [*pairs, tuple(parts)]


def _numbers(parts: Sequence[Candidate], some: Sequence[Candidate]) -> str:
    """Name of the arm with some of the parts: `with-1`, `with-13`."""
    return "with-" + "".join(str(1 + parts.index(each)) for each in some)


def _fresh_stage(asked: tuple[TuningPlan, tuple[Candidate, ...], float]) -> tuple[FreshStage, dict[str, object]]:
    from quiclab.study.tune.paste import arm_table, program_lines
    from quiclab.study.tune.tuning_plan import as_it_is, stage_of, with_settings

    plan, chosen, trial_s = asked
    stage = stage_of(plan, _FRESH, [as_it_is(plan), with_settings(plan, chosen)], plan.least_pairs)
    lines: dict[str, object] = {
        "arm_table": arm_table(plan, stage.spec),
        "program_lines": program_lines(plan, stage.spec, chosen),
    }
    return FreshStage(stage.directory, stage.spec, 2000 * trial_s, plan.matters_pct), lines


def _neighbour_stage(asked: tuple[TuningPlan, tuple[Candidate, ...]]) -> Stage:
    from quiclab.study.tune.tuning_plan import as_it_is, neighbour_pairs, neighbour_paths, stage_of, with_settings

    plan, chosen = asked
    arms = [as_it_is(plan), with_settings(plan, chosen)]
    return stage_of(plan, _NEIGHBOURS, arms, neighbour_pairs(plan), neighbour_paths(plan))


def _declared(fresh: FreshStage) -> None:
    """Make the fresh blocks a sequential study before its first look, so that no look is judged by a test of a fixed
    number of pairs."""
    from quiclab.study.sequential_run import Goal, begin_growth
    from quiclab.study.specs import load_study

    study_dir = StudyDir(fresh.directory)
    begin_growth(study_dir, load_study(study_dir.spec), Goal(fresh.effect_pct, MOST_PAIRS), chosen=False)


def _judge(fresh: FreshStage) -> Judged:
    from quiclab.study.tune.findings import judged_so_far

    return judged_so_far(fresh.directory)


def _tested(directory: Path) -> tuple[object, object]:
    from quiclab.study.tune.findings import side_effects, tested

    return tested(directory), side_effects(directory)


def _over_neighbours(directory: Path) -> tuple[object, ...]:
    from quiclab.study.tune.findings import over_neighbours

    return over_neighbours(directory)


def _text(chosen: Sequence[Candidate]) -> str:
    return ", ".join(each.text for each in chosen)
