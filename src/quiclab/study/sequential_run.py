# SPDX-License-Identifier: Apache-2.0
"""A study that goes on until it is decided: look after each batch, and plan more blocks of the cells that are open."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Study
from quiclab.plan.make import grow_plan
from quiclab.processes import in_fresh_process
from quiclab.store.disk import disk_errors, write_atomically
from quiclab.store.go_on import OPEN
from quiclab.store.growth import read_growth
from quiclab.store.layout import SEQUENTIAL, StudyDir

_GROWTH = 0.25
"""Share of its blocks by which an open cell grows between two looks."""
_LEAST_GROWTH = 2


@dataclass(frozen=True)
class Goal:
    """Goal of a sequential study: the effect that matters, and the most pairs per cell."""

    effect_pct: float
    at_most: int


@dataclass(frozen=True)
class LookResult:
    """Findings of one look."""

    number: int
    """Number of the look, from 1."""
    pairs: int
    comparisons: int
    decided: int
    open_cells: tuple[str, ...]
    goes_on: bool
    """True if more blocks are planned."""


def planned_blocks(study_dir: StudyDir) -> dict[str, int]:
    """Cell → blocks, as far as the study has grown. Raises DecodeError for a record of it that is damaged."""
    grown = read_growth(study_dir.root)
    return grown.blocks if grown else {}


def planned_arms(study_dir: StudyDir) -> Mapping[str, Sequence[Collection[str]]]:
    """Cell → arms of its first blocks, block by block, where these are not all. Raises DecodeError as `planned_blocks`
    does."""
    grown = read_growth(study_dir.root)
    return grown.arms if grown else {}


def planned_trials(study: Study, study_dir: StudyDir) -> tuple[PlanRow, ...]:
    """All trials that are planned now: those of the spec, with what `--until` and `ask` added. Every number of planned
    trials or pairs is of these. Raises DecodeError as `planned_blocks` does."""
    return grow_plan(study, planned_blocks(study_dir), planned_arms(study_dir))


def begin_growth(study_dir: StudyDir, study: Study, goal: Goal, *, chosen: bool) -> Goal:
    """Keep the goal before the next trials, so that what goes on with the study knows it, and return it: the most pairs
    are those that an earlier run allowed, where these are more and nobody has `chosen` others."""
    grown = read_growth(study_dir.root)
    if grown is not None and not chosen:
        goal = Goal(goal.effect_pct, max(goal.at_most, grown.at_most))
    keep_growth(study_dir, study, goal, grown.blocks if grown else {}, grown.looks if grown else ())
    return goal


def looks_so_far(study_dir: StudyDir) -> int:
    """Number of looks at the study before its next blocks. Raises DecodeError as `planned_blocks` does."""
    grown = read_growth(study_dir.root)
    return len(grown.looks) if grown else 0


def look_once(study_dir: StudyDir, study: Study, goal: Goal) -> LookResult:
    """Decode and test what there is, and plan more where it is open.

    This happens in another process, since this one must stay without threads: it enters the sandbox again.
    """
    return in_fresh_process(_look_at_study, (study_dir, study, goal))


def _look_at_study(asked: tuple[StudyDir, Study, Goal]) -> LookResult:
    from quiclab.compare.analyse import analyse_study
    from quiclab.compare.sequential import state
    from quiclab.study.tables import make_tables

    study_dir, study, goal = asked
    grown = read_growth(study_dir.root)
    looks, before = (list(grown.looks), grown.blocks) if grown else ([], {})
    make_tables(study_dir)
    keep_growth(
        study_dir, study, goal, before, looks
    )  # that this study is a sequential one is known before its first look
    with disk_errors(study_dir.root):
        comparisons = analyse_study(study_dir.root).comparisons
    states = {f"{each.cell_id} {each.other.arm}": state(each) for each in comparisons}
    pairs = {f"{each.cell_id} {each.other.arm}": each.pairs for each in comparisons}
    still_open = {each.cell_id for each in comparisons if state(each) == OPEN}
    blocks = before | more_blocks(still_open, before, study.blocks, goal.at_most)
    looks.append({"pairs": pairs, "states": states})
    keep_growth(study_dir, study, goal, blocks, looks)
    return LookResult(
        number=len(looks),
        pairs=sum(each.pairs for each in comparisons),
        comparisons=len(states),
        decided=sum(each != OPEN for each in states.values()),
        open_cells=tuple(sorted(still_open)),
        goes_on=blocks != before,
    )


def more_blocks(still_open: set[str], blocks: Mapping[str, int], planned: int, at_most: int) -> dict[str, int]:
    """Cell → blocks of those that are open: a quarter more each, at least two, up to the bound; no fewer than now."""
    grown = {}
    for cell in still_open:
        now = max(planned, blocks.get(cell, 0))
        grown[cell] = max(now, min(at_most, now + max(_LEAST_GROWTH, math.ceil(_GROWTH * now))))
    return grown


def keep_growth(
    study_dir: StudyDir,
    study: Study,
    goal: Goal,
    blocks: Mapping[str, int],
    looks: Sequence[Mapping[str, object]],
    arms: Mapping[str, Sequence[Sequence[str]]] | None = None,
) -> None:
    """Write down how far a study has grown, and what was seen of it: it is tested as a sequential one from then on.
    `arms` are those of the first blocks of a cell, where these are not all; None leaves them as they are."""
    if arms is None:
        grown = read_growth(study_dir.root)
        arms = grown.arms if grown else {}
    content = {
        "version": 1,
        "effect_pct": goal.effect_pct,
        "at_most": goal.at_most,
        "alpha": study.alpha,
        "blocks": blocks,
        "looks": list(looks),
        **({"arms": arms} if arms else {}),
    }
    write_atomically(study_dir.root / SEQUENTIAL, json.dumps(content, indent=1))
