# SPDX-License-Identifier: Apache-2.0
"""One arm against the baseline in one cell: every number of a comparison, and what it amounts to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from quiclab import statistics
from quiclab.analysis.model import ArmResult, Comparison, Metric, Outcome, TrialResult
from quiclab.analysis.refusals import refusal

FloatArray = npt.NDArray[np.float64]


def arm_result(
    arm: str, trials: Iterable[TrialResult], attempts: int, voids: int, metric: Metric, damaged: int = 0
) -> ArmResult:
    """Summarise one arm's trials in one cell."""
    ordered = tuple(sorted(trials, key=lambda trial: trial.block))
    values = values_of(ordered, metric)
    known = values[np.isfinite(values)]
    middle = statistics.median(values)
    return ArmResult(
        arm,
        ordered,
        attempts,
        voids,
        None if math.isnan(middle) else middle,
        statistics.median_interval(values, 0.95),
        float(known.mean()) if known.size else None,
        float(known.std(ddof=1)) if known.size > 1 else None,
        damaged,
    )


def compare(
    cell: tuple[str, str, str, str], baseline: ArmResult, other: ArmResult, metric: Metric, alpha: float
) -> Comparison:
    """Compare two arms of one cell (cell_id, kind, workload, path); the outcome is left for `decide`."""
    differences = differences_within_pairs(baseline, other, metric)
    shift = statistics.hodges_lehmann(differences, 1 - alpha)
    to_pct = 100 / baseline.median if baseline.median and math.isfinite(baseline.median) else None
    unpaired = values_of(baseline.trials, metric), values_of(other.trials, metric)
    return Comparison(
        *cell,
        baseline,
        other,
        pairs=int(differences.size),
        difference_pct=statistics.difference_pct(
            _or_nan(baseline.median), _or_nan(other.median), lower_is_better=metric.lower_is_better
        ),
        shift_pct=shift.estimate * to_pct if to_pct is not None and not math.isnan(shift.estimate) else None,
        interval_pct=shift.interval.scaled(to_pct) if to_pct is not None and shift.interval else None,
        p=statistics.signed_rank(differences).p if differences.size else None,
        adjusted_p=None,
        mann_whitney_p=statistics.mann_whitney_p(*unpaired),
        welch_p=statistics.welch_p(*unpaired),
        outcome=Outcome.NOT_MEASURED,
        why="",
    )


def differences_within_pairs(baseline: ArmResult, other: ArmResult, metric: Metric) -> FloatArray:
    """One per block that both have, in the metric's unit: positive where the other arm is better."""
    sign = 1.0 if metric.lower_is_better else -1.0
    return sign * statistics.paired_differences(*values_within_pairs(baseline, other, metric))


def values_within_pairs(baseline: ArmResult, other: ArmResult, metric: Metric) -> tuple[FloatArray, FloatArray]:
    """Both arms' values in the blocks that both have, block by block."""
    by_block = {trial.block: trial for trial in other.trials}
    paired = [trial for trial in baseline.trials if trial.block in by_block]
    return values_of(paired, metric), values_of([by_block[trial.block] for trial in paired], metric)


def decide_all(family: Sequence[Comparison], alpha: float) -> list[Comparison]:
    """`decide` with p adjusted over these comparisons, without those that are refused: they are not tested."""
    tested = [refusal(each, alpha, len(family)) is None for each in family]
    p = np.array([_or_nan(each.p) if t else math.nan for each, t in zip(family, tested, strict=True)], dtype=np.float64)
    adjusted = statistics.adjusted_p_values(p)
    least = [statistics.smallest_adjusted_p(p, at, statistics.smallest_p(each.pairs)) for at, each in enumerate(family)]
    return [
        decide(each, None if math.isnan(own) else float(own), alpha, best, len(family))
        for each, own, best in zip(family, adjusted, least, strict=True)
    ]


def decide(
    comparison: Comparison, adjusted_p: float | None, alpha: float, least_p: float = 0.0, cells: int = 1
) -> Comparison:
    """Fill in the adjusted p and the outcome. A/A cells have no adjusted p: their own p decides.

    `least_p` is what the adjusted p would be if all pairs pointed one way, `cells` how many comparisons are decided
    together.
    """
    outcome, why = _outcome(comparison, comparison.p if adjusted_p is None else adjusted_p, alpha, least_p, cells)
    return replace(comparison, adjusted_p=adjusted_p, outcome=outcome, why=why)


def _outcome(comparison: Comparison, p: float | None, alpha: float, least_p: float, cells: int) -> tuple[Outcome, str]:
    refused = refusal(comparison, alpha, cells)
    if refused is not None or p is None:
        return refused or (Outcome.NOT_MEASURED, "No pair has both values.")
    if p > alpha and least_p > alpha:
        few = f"Too few pairs: {comparison.pairs} cannot show any difference at {alpha:g}"
        why = f"{few} after the correction over all cells."
        return Outcome.UNDECIDED, why
    if p > alpha:
        return Outcome.NOT_SIGNIFICANT, ""
    sign, shown = _direction(comparison), comparison.difference_pct
    if sign == 0 or (shown is not None and shown * sign < 0):
        return Outcome.UNDECIDED, "The medians and the differences within pairs point in opposite directions."
    return (Outcome.OTHER_BETTER if sign > 0 else Outcome.BASELINE_BETTER), ""


def _direction(comparison: Comparison) -> float:
    """Sign of the typical pair; where failures leave no percentage, the arm that failed less is the better."""
    if comparison.shift_pct:
        return math.copysign(1, comparison.shift_pct)
    return float(comparison.baseline.failures - comparison.other.failures)


def values_of(trials: Iterable[TrialResult], metric: Metric) -> FloatArray:
    """The metric of each trial; the worst there is where it failed, NaN where it is unknown."""
    trials = list(trials)
    values = np.array([_or_nan(trial.value) for trial in trials], dtype=np.float64)
    failed = np.array([trial.status == "failed" for trial in trials], dtype=np.bool_)
    return statistics.censored(values, failed, lower_is_better=metric.lower_is_better)


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value
