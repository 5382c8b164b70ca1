# SPDX-License-Identifier: Apache-2.0
"""One arm against the baseline in one cell: every number of a comparison, and what it amounts to."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from quiclab.compare import statistics
from quiclab.compare.between_ends import greatest_p, growth, widened
from quiclab.compare.comparison_words import least_pairs_words
from quiclab.compare.model import ArmResult, Comparison, Metric, Outcome, Selection, TrialResult
from quiclab.compare.paired import FloatArray, WithinPairs, values_of, within_pairs
from quiclab.compare.statistics import Interval, Shift


def arm_result(
    arm: str,
    trials: Iterable[TrialResult],
    attempts: int,
    voids: int,
    metric: Metric,
    damaged: int = 0,
    lost_blocks: Iterable[int] = (),
    selection: Selection | None = None,
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
        tuple(sorted(lost_blocks)),
        selection,
    )


def compare(
    cell: tuple[str, str, str, str], baseline: ArmResult, other: ArmResult, metric: Metric, alpha: float
) -> Comparison:
    """Compare two arms of one cell (cell_id, kind, workload, path); the outcome is left for `decide`."""
    pairs = within_pairs(baseline, other, metric)
    unpaired = values_of(baseline.trials, metric), values_of(other.trials, metric)
    return with_typical(
        Comparison(
            *cell,
            baseline,
            other,
            pairs=int(pairs.values.size),
            difference_pct=None,
            interval_pct=None,
            difference=None,
            interval=None,
            leans=0.0,
            p=greatest_p(pairs.between, _signed_rank_p, _estimate) if pairs.values.size else None,
            adjusted_p=None,
            mann_whitney_p=statistics.mann_whitney_p(*unpaired),
            welch_p=statistics.welch_p(*unpaired),
            outcome=Outcome.NOT_MEASURED,
            why="",
            confidence=1 - alpha,
        ),
        pairs,
        lambda values: statistics.hodges_lehmann(values, 1 - alpha),
    )


def _signed_rank_p(values: FloatArray) -> float:
    return statistics.signed_rank(values).p


def _estimate(values: FloatArray) -> float:
    return statistics.hodges_lehmann(values, 0.0).estimate


def at_level(comparison: Comparison, metric: Metric, confidence: float) -> Comparison:
    """The comparison with its interval at another level."""
    pairs = within_pairs(comparison.baseline, comparison.other, metric)
    widest = replace(comparison, confidence=confidence)
    return with_typical(widest, pairs, lambda values: statistics.hodges_lehmann(values, confidence))


def with_typical(comparison: Comparison, pairs: WithinPairs, typical_of: Callable[[FloatArray], Shift]) -> Comparison:
    """Fill in the typical pair with its interval, both on the scale of `pairs`: in per cent where there are ratios. The
    interval holds those of all values that the pairs may have without what the laboratory added to the trials."""
    typical = widened(pairs.between, typical_of)
    told = pairs.pct_of(typical.interval)
    measured = told if pairs.between.is_known else pairs.pct_of(typical_of(pairs.values).interval)
    known = typical.estimate if math.isfinite(typical.estimate) else None
    failures = float(comparison.baseline.failures - comparison.other.failures)
    leans = typical.estimate if typical.estimate and not math.isnan(typical.estimate) else failures
    return replace(
        comparison,
        difference_pct=pairs.pct(known) if known is not None and pairs.has_ratios else None,
        interval_pct=told if pairs.has_ratios else None,
        difference=pairs.sign * known + 0.0 if known is not None and not pairs.has_ratios else None,
        interval=typical.interval.scaled(pairs.sign) if typical.interval and not pairs.has_ratios else None,
        leans=math.copysign(1, leans) if leans else 0.0,
        disturbance_pct=growth(told, measured) if pairs.has_ratios else 0.0,
    )


def turned(comparison: Comparison) -> Comparison:
    """The comparison the other way round: the baseline beside the other arm."""

    def swapped(pct: float) -> float:
        return statistics.per_cent(-statistics.log_ratio(pct))

    def ends(interval: Interval | None, turn: Callable[[float], float]) -> Interval | None:
        return interval and Interval(turn(interval.high), turn(interval.low), interval.confidence)

    opposite = {Outcome.OTHER_BETTER: Outcome.BASELINE_BETTER, Outcome.BASELINE_BETTER: Outcome.OTHER_BETTER}
    shown, in_unit = comparison.difference_pct, comparison.difference
    return replace(
        comparison,
        baseline=comparison.other,
        other=comparison.baseline,
        difference_pct=None if shown is None else swapped(shown),
        interval_pct=ends(comparison.interval_pct, swapped),
        difference=None if in_unit is None else -in_unit,
        interval=ends(comparison.interval, operator.neg),
        leans=-comparison.leans,
        outcome=opposite.get(comparison.outcome, comparison.outcome),
        tail=None,
    )


def decide_all(family: Sequence[Comparison], alpha: float) -> list[Comparison]:
    """`decide` with p adjusted over these comparisons, without those that are refused: they are not tested."""
    tested = [refusal(each, alpha) is None for each in family]
    p = np.array([_or_nan(each.p) if t else math.nan for each, t in zip(family, tested, strict=True)], dtype=np.float64)
    adjusted = statistics.adjusted_p_values(p)
    least = [statistics.smallest_adjusted_p(p, at, statistics.smallest_p(each.pairs)) for at, each in enumerate(family)]
    return [
        decide(each, None if math.isnan(own) else float(own), alpha, best)
        for each, own, best in zip(family, adjusted, least, strict=True)
    ]


def decide(comparison: Comparison, adjusted_p: float | None, alpha: float, least_p: float = 0.0) -> Comparison:
    """Fill in the adjusted p and the outcome. A/A cells have no adjusted p: their own p decides.

    `least_p` is what the adjusted p would be if all pairs pointed one way.
    """
    outcome, why = _outcome(comparison, comparison.p if adjusted_p is None else adjusted_p, alpha, least_p)
    return replace(comparison, adjusted_p=adjusted_p, outcome=outcome, why=why)


def _outcome(comparison: Comparison, p: float | None, alpha: float, least_p: float) -> tuple[Outcome, str]:
    refused = refusal(comparison, alpha)
    if refused is not None or p is None:
        return refused or (Outcome.NOT_MEASURED, "No pair has both values.")
    if p > alpha and least_p > alpha:
        return Outcome.UNDECIDED, (
            f"Too few pairs: with {comparison.pairs}, even the clearest difference in one cell is not significant at "
            f"{alpha:g} after the correction over all cells."
        )
    if p > alpha:
        return Outcome.NOT_SIGNIFICANT, ""
    if comparison.leans == 0:
        return Outcome.UNDECIDED, "The typical pair shows no difference, although the others lean to one side."
    return (Outcome.OTHER_BETTER if comparison.leans > 0 else Outcome.BASELINE_BETTER), ""


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


# Reasons why a cell is not tested whatever its numbers are: nothing measured, or too few pairs.
def refusal(comparison: Comparison, alpha: float) -> tuple[Outcome, str] | None:
    """Return the outcome of a cell that is not tested, and why; None where it is.

    Such a cell is of no family: a small p in it must not make those of the others look significant.
    """
    pairs = comparison.pairs
    if pairs == 0 or comparison.p is None:
        return Outcome.NOT_MEASURED, "No pair has both values."
    if all(trial.status == "failed" for arm in (comparison.baseline, comparison.other) for trial in arm.trials):
        return Outcome.NOT_MEASURED, "Every trial of both arms failed."
    if statistics.smallest_p(pairs) > alpha:
        return Outcome.UNDECIDED, (
            f"Too few pairs: with {pairs}, even the clearest difference is not significant at {alpha:g}; "
            f"{least_pairs_words(alpha)}."
        )
    return None
