# SPDX-License-Identifier: Apache-2.0
"""Result of a search, as it is shown and kept: what raced, what was chosen, and what fresh blocks say of it."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from pathlib import Path

from quiclab.store.disk import write_atomically

FOLDER = "tune"
"""Folder below a study with the searches for settings of its arms."""
RESULT = "tuning.json"
AS_IT_IS, TUNED = "as-it-is", "tuned"
"""Names of the arms of the fresh blocks."""


@dataclass(frozen=True)
class RacedSetting:
    """A setting in a round of the race, or a combination of settings."""

    setting: str
    """The setting, as `table.key = value`; of a combination all of them."""
    difference_pct: float | None
    """Estimate of the difference to the arm as it is, of combinations to the first of them alone, in per cent of the
    time: below zero is faster; null where it failed. It chose, and is no result."""
    blocks: int
    """Blocks behind it, of all rounds so far."""


@dataclass(frozen=True)
class RaceRound:
    """A round of the race, or the combinations."""

    directory: str
    """Directory of its study."""
    heat: int | None
    """Number of its heat, from 1; null of the combinations."""
    settings: tuple[RacedSetting, ...]
    """Settings, the fastest first."""


@dataclass(frozen=True)
class JudgedDifference:
    """The arm with the setting against the arm as it is, in blocks that chose nothing."""

    verdict: str
    """`faster`, `slower`, `equivalent` (to within what matters), `not shown` or `not judged` (the laboratory disturbed
    the trials)."""
    difference_pct: float | None
    """Difference in the typical pair, in per cent of the arm as it is: below zero is less."""
    low_pct: float | None
    """Lower end of its interval; null where it is open."""
    high_pct: float | None
    """Upper end of its interval; null where it is open."""
    confidence: float
    """Level of the interval."""
    pairs: int
    """Pairs behind it."""
    before_in_unit: float | None
    """Median of the arm as it is, in the metric's unit."""
    after_in_unit: float | None
    """Median with the setting, in the metric's unit."""


@dataclass(frozen=True)
class NeighbourResult:
    """The setting over a network of the same kind that did not choose it."""

    network: str
    """The difference to the cell's network: `twice the RTT`."""
    found: JudgedDifference
    """Finding of the pairs over it."""


@dataclass(frozen=True)
class SideEffect:
    """Another metric that the fresh blocks show to differ."""

    metric: str
    """Name of the metric."""
    title: str
    """Title of the metric."""
    unit: str
    """Unit of the metric."""
    before_in_unit: float | None
    """Median of the arm as it is, in the unit."""
    after_in_unit: float | None
    """Median with the setting, in the unit."""
    difference_pct: float | None
    """Difference in the typical pair, in per cent; null where a value of zero has no ratio."""


@dataclass(frozen=True)
class ProgramLines:
    """The setting in a program's own words."""

    program: str
    """Name and role of the program, or `Linux`."""
    lines: tuple[str, ...]
    """Lines of its configuration, or options."""
    is_ours: bool
    """True of a program of quiclab's own around a library, whose configuration nobody else has."""


@dataclass(frozen=True)
class TuningResult:
    """A search for settings, as far as it got."""

    study: str
    """Name of the study whose cell it is."""
    cell: str
    """The cell, as `WORKLOAD/PATH`."""
    arm: str
    """The arm that is tuned."""
    metric: str
    """Name of the metric."""
    unit: str
    """Unit of the metric."""
    candidates: tuple[str, ...]
    """Settings that raced, each as `table.key = value`."""
    left_out: tuple[str, ...]
    """Settings that did not race: no minutes were left for them."""
    rounds: tuple[RaceRound, ...]
    """Rounds of all heats of the race, and last the combinations, where there were any."""
    setting: str | None
    """The setting that the race chose; null where none was faster in it."""
    fresh_directory: str | None
    """Directory of the study of fresh blocks; null where none ran."""
    found: JudgedDifference | None
    """Finding of the fresh blocks; null where none have run: the setting is not tested."""
    neighbours: tuple[NeighbourResult, ...]
    """The setting over neighbouring networks."""
    side_effects: tuple[SideEffect, ...]
    """Other metrics that the fresh blocks show to differ, corrected for all that were looked at."""
    arm_table: str | None
    """The arm with the setting, as `[[arm]]` of a spec."""
    program_lines: tuple[ProgramLines, ...]
    """The setting in the programs' own words."""


def keep_result(directory: Path, result: TuningResult) -> None:
    """Write the result into the folder of its search; an infinite number is null."""
    content = {"version": 1, **dataclasses.asdict(result)}
    text = json.dumps(_finite(content), indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(directory / RESULT, text)


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
