# SPDX-License-Identifier: Apache-2.0
"""The cells that a claim names, as this study has them; or why it has not."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from quiclab.compare.analyse import arm_in_cell, metric_of, with_values
from quiclab.compare.cell_comparison import arm_result
from quiclab.compare.model import ArmResult, Metric, TrialResult
from quiclab.compare.not_judged import TRY_AGAIN
from quiclab.compare.papers.paper import INTERACTION, Claim, ratio_name
from quiclab.compare.study import Kind, Study
from quiclab.model import number_text
from quiclab.model.paper_record import Side, side_name

ABSENT = "This study has no"
"""Beginning of the reason where a cell is not in the study at all."""

_AXES: dict[Kind, str] = {"arms": "arm", "workloads": "workload", "paths": "path"}


@dataclass(frozen=True)
class Obstacle:
    """Something that keeps a claim from being tested in a cell."""

    why: str
    """Reason in a sentence."""
    is_disturbed: bool = False
    """True if the laboratory spoiled the trials, which more trials can mend."""


class Cells:
    """Arms of the study's cells by any metric. Read once: claims of a paper ask for the same ones again and again."""

    def __init__(self, study: Study, changed: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        self._study, self._changed = study, changed
        self._main = study.trials.filter((pl.col("kind") == "main") & pl.col("trial_id").is_not_null())
        self._names = {
            axis: set(study.names(axis)) | set(self._main[column].drop_nulls().to_list())
            for axis, column in _AXES.items()
        }
        self._measured = set(study.metrics.filter(pl.col("value").is_finite())["name"].to_list())
        self._arms: dict[str, dict[tuple[str, str, str], ArmResult]] = {}

    def metric(self, name: str) -> Metric:
        """The metric with its unit and better side."""
        return metric_of(self._study, name)

    def describes_only(self, name: str) -> bool:
        """True if neither side of the metric is the better one: a failed trial has no worst value of it."""
        return "none" in self._study.metrics.filter(pl.col("name") == name)["better"].head(1).to_list()

    def arm(self, metric: str, workload: str, path: str, arm: str) -> ArmResult:
        """One arm in one cell. Raises KeyError where no trial of it has run: ask `obstacle` first."""
        if metric not in self._arms:
            self._arms[metric] = self._by_cell(metric)
        return self._arms[metric][workload, path, arm]

    def sides(self, claim: Claim, workload: str, path: str) -> list[ArmResult]:
        """Sides that a claim holds against each other in one cell: its arms or means over several within blocks, or of
        an interaction ratios of two sides within blocks. Raises KeyError like `arm`."""
        metric = self.metric(claim.metric)
        sides = [self._side(side, workload, path, metric) for side in claim.arms]
        if claim.kind != INTERACTION:
            return sides
        first, second, third, fourth = sides
        return [_ratio(first, second, metric), _ratio(third, fourth, metric)]

    def _side(self, side: Side, workload: str, path: str, metric: Metric) -> ArmResult:
        if isinstance(side, str):
            return self.arm(metric.name, workload, path, side)
        return _mean_over([self.arm(metric.name, workload, path, arm) for arm in side], side_name(side), metric)

    def obstacle(self, claim: Claim, workload: str, path: str) -> Obstacle | None:
        """Obstacle that keeps the claim from being tested in this cell; None if it can be."""
        asked: dict[Kind, Collection[str]] = {"arms": claim.arm_names, "workloads": (workload,), "paths": (path,)}
        for axis, names in asked.items():
            for name in names:
                if name not in self._names[axis]:
                    return Obstacle(f"{ABSENT} {_AXES[axis]} {name}.")
                if keys := self._changed.get(axis, {}).get(name):
                    told = f"The {_AXES[axis]} {name} is not the full study's here: it differs in {', '.join(keys)}."
                    return Obstacle(told)
        for arm in claim.arm_names:
            if lost := self._lost(claim.metric, workload, path, arm):
                why = f"Disturbed: none of {number_text.counted(lost, 'trial')} of {arm} counts. {TRY_AGAIN}"
                return Obstacle(why, is_disturbed=True)
        if claim.metric not in self._measured:
            return Obstacle(f"{claim.metric} was not measured.")
        return next(
            filter(None, (self._without_value(claim.metric, workload, path, arm) for arm in claim.arm_names)), None
        )

    def _lost(self, metric: str, workload: str, path: str, arm: str) -> int:
        """Number of an arm's trials in a cell if each of them was disturbed in every attempt, else 0."""
        try:
            found = self.arm(metric, workload, path, arm)
        except KeyError:
            return 0
        return 0 if found.trials or found.damaged else len(found.lost_blocks)

    def _without_value(self, metric: str, workload: str, path: str, arm: str) -> Obstacle | None:
        try:
            found = self.arm(metric, workload, path, arm)
        except KeyError:
            return Obstacle(f"No trial of {arm} has run in this cell.")
        if any(trial.value is not None for trial in found.trials):
            return None
        failures = f": {found.failures} failed" if found.failures else ""
        return Obstacle(f"No trial of {arm} has a value in this cell{failures}.")

    def _by_cell(self, metric: str) -> dict[tuple[str, str, str], ArmResult]:
        rows = with_values(self._study, self._main, metric)
        by = self.metric(metric)
        return {
            (str(workload), str(path), str(arm)): arm_in_cell(self._study, str(arm), group, by)
            for (workload, path, arm), group in rows.group_by("workload", "path", "arm")
        }


def _ratio(first: ArmResult, second: ArmResult, metric: Metric) -> ArmResult:
    """An arm whose values are those of a second arm divided by those of a first one in the same block."""
    by_block = {trial.block: trial for trial in first.trials}
    trials = [
        divided
        for trial in second.trials
        if trial.block in by_block and (divided := _divided(trial, by_block[trial.block])) is not None
    ]
    attempts, voids = first.attempts + second.attempts, first.voids + second.voids
    lost = {*first.lost_blocks, *second.lost_blocks}
    return arm_result(ratio_name(first.arm, second.arm), trials, attempts, voids, metric, lost_blocks=lost)


def _mean_over(arms: Sequence[ArmResult], name: str, metric: Metric) -> ArmResult:
    """A side whose values are the means over several arms in the same block, of the blocks in which all of them are."""
    by_block = [{trial.block: trial for trial in arm.trials} for arm in arms]
    trials = [
        _mean_trial([of_arm[block] for of_arm in by_block])
        for block in by_block[0]
        if all(block in of_arm for of_arm in by_block)
    ]
    attempts, voids = sum(arm.attempts for arm in arms), sum(arm.voids for arm in arms)
    lost = {block for arm in arms for block in arm.lost_blocks}
    return arm_result(name, trials, attempts, voids, metric, sum(arm.damaged for arm in arms), lost_blocks=lost)


def _mean_trial(trials: Sequence[TrialResult]) -> TrialResult:
    """The mean of several trials; failed where one of them failed, and without a value where one has none."""
    last = max(trials, key=lambda trial: trial.began_utc)
    status = next((trial.status for trial in trials if trial.status == "failed"), None)
    status = status or next((trial.status for trial in trials if trial.status != "verified"), "verified")
    value = _mean_value([trial.value for trial in trials])
    found = replace(last, status=status, value=value, least=None, most=None)
    if value is None or not any(trial.is_disturbed for trial in trials):
        return found
    least, most = (_mean_value([trial.ends[end] for trial in trials]) for end in (0, 1))
    return replace(found, least=least, most=most)


def _mean_value(values: Sequence[float | None]) -> float | None:
    """Mean of values; None where one is unknown."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if len(known) == len(values) else None


def _divided(trial: TrialResult, by: TrialResult) -> TrialResult | None:
    """The trial with its value divided by that of another; None where there is no such ratio."""
    if trial.value is None or not by.value:
        return None
    ratio = replace(trial, value=trial.value / by.value)
    if not (trial.is_disturbed or by.is_disturbed):
        return ratio
    least, most = trial.ends
    divisor_least, divisor_most = by.ends
    if least is None or most is None or divisor_most is None:
        return ratio
    return replace(ratio, least=least / divisor_most, most=most / divisor_least if divisor_least else math.inf)
