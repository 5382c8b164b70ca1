# SPDX-License-Identifier: Apache-2.0
"""The order in which the trials of each block ran, and whether it pays to be the first of two."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from quiclab.compare import statistics
from quiclab.compare.differences_by_block import differences_by_block, has_ratios
from quiclab.compare.model import Comparison, StudyAnalysis
from quiclab.compare.paired import FloatArray
from quiclab.compare.statistics import Interval
from quiclab.compare.study import Study, read_record
from quiclab.model import number_text
from quiclab.model.text_table import TextTable
from quiclab.store.layout import Attempt, StudyDir

CONFIDENCE = 0.95

Stratum = tuple[FloatArray, FloatArray]
"""Differences within the pairs of one cell in which the baseline ran first, and those in which the other arm did."""


def first_in_block_table(study: Study, analysis: StudyAnalysis) -> TextTable:
    """Return the table: a row for each two arms, over all cells, and one for the A/A cells."""
    kinds: dict[tuple[str, str], list[Comparison]] = {}
    for each in analysis.comparisons:
        kinds.setdefault((each.other.arm, each.baseline.arm), []).append(each)
    if analysis.controls:
        kinds["an arm", "itself (A/A)"] = list(analysis.controls)
    began = _began(study)
    rows = [
        row
        for (arm, against), cells in kinds.items()
        if (row := _row(arm, against, [_stratum(each, analysis, began) for each in cells])) is not None
    ]
    return TextTable(
        "First against second in the block",
        "Blocks by which of the two arms ran before the other, as they ran, and how much more (+) or less (−) the "
        "earlier one has for being earlier: half the shift between both kinds of blocks within cells, over all "
        "cells, with a normal approximation for its interval. The plan has each two blocks of a cell "
        "in mirrored order, so that such an effect favours no arm; only blocks that were run again have an order of "
        "their own. An interval that excludes zero says that trials leave something behind (a warm cache, a clock "
        "rate).",
        ("arm", "against", "it ran first", "it ran second", "order effect, −: less when first", "95 % interval, %", ""),
        tuple(rows),
        "No order of trials within blocks is known.",
    )


def _row(arm: str, against: str, strata: Sequence[Stratum]) -> tuple[str, ...] | None:
    second, first = (sum(each[kind].size for each in strata) for kind in (0, 1))
    if not first + second:
        return None
    shift = statistics.stratified_shift(strata, CONFIDENCE)
    worth = None if math.isnan(shift.estimate) else _pct(shift.estimate)
    interval = shift.interval and Interval(_pct(shift.interval.low), _pct(shift.interval.high), CONFIDENCE)
    told = "" if interval is None else "none seen" if interval.low <= 0 <= interval.high else "the order matters"
    return arm, against, str(first), str(second), number_text.percent(worth), number_text.interval_text(interval), told


def _pct(doubled_log_points: float) -> float:
    return 100 * math.expm1(doubled_log_points / 200) if doubled_log_points < 1e4 else math.inf


def _stratum(comparison: Comparison, analysis: StudyAnalysis, began: Mapping[str, float]) -> Stratum:
    trials = ({t.block: t.trial_id for t in arm.trials} for arm in (comparison.baseline, comparison.other))
    baseline, other = ({block: began[trial] for block, trial in arm.items() if trial in began} for arm in trials)
    kinds: tuple[list[float], list[float]] = ([], [])
    if has_ratios(comparison, analysis.metric):
        for block, difference in differences_by_block(comparison, analysis.metric).items():
            if block in baseline and block in other and baseline[block] != other[block]:
                kinds[other[block] < baseline[block]].append(difference)
    return np.array(kinds[0]), np.array(kinds[1])


def _began(study: Study) -> dict[str, float]:
    """Trial → its place in time within its block: in the plan's order, or when it began in a block that was run
    again."""
    last = study.trials.filter(pl.col("trial_id").is_not_null()).sort("attempt").group_by("trial_id").last()
    found: dict[str, float] = {}
    for trial_id, attempt, status, position in last.select("trial_id", "attempt", "status", "position").rows():
        if attempt == 1:
            when = position
        else:
            folder = StudyDir(study.directory).folder(Attempt(trial_id, attempt, status, ""))
            when = read_record(folder).started_monotonic_ns
        if when is not None:
            found[trial_id] = float(when)
    return found
