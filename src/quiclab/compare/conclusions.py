# SPDX-License-Identifier: Apache-2.0
"""Conclusion of each comparison beside the smallest difference that matters, and the level of its interval.

Cells that are called different were selected out of m that were tested, R of them: their intervals are at
1 − R × alpha / m, so that of the intervals of selected cells at most a share alpha is expected to miss (Benjamini and
Yekutieli 2005, J. Amer. Statist. Assoc. 100). That a difference is less than what matters, whether one was found or
not, is said by the same rule: of A cells, where A is the largest number such that A intervals at 1 − A × alpha / m lie
within what matters, wholly. The interval of a cell that only the correction takes a difference from is at the level of
those that were selected, or would be if one were: it then holds 0, as its adjusted p says.

Where the laboratory added to the trials, all of that is said of intervals that allow for it. A cell that has an answer
as measured, and none so, is not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quiclab.compare.cell_comparison import at_level, decide_all
from quiclab.compare.model import Comparison, Conclusion, Metric, Outcome, TailState
from quiclab.compare.not_judged import as_measured, judged
from quiclab.compare.sequential import sequentially
from quiclab.compare.step_up import step_up
from quiclab.compare.tail_quantiles import tail_of

Of = tuple[Comparison, Metric]
"""A comparison, and the metric that it is by."""


def conclude_all(family: Sequence[Of], alpha: float, matters_pct: float) -> list[Comparison]:
    """The comparisons, whose outcomes are decided, with their conclusions, their tails and the levels of their
    intervals; those without an adjusted p are of no family."""

    def measured(disturbed: int | None = None) -> list[Comparison]:
        """The comparisons without what the laboratory added to the trials; that of one of them may be allowed for."""
        bare = [
            each if at == disturbed else as_measured(each, metric, alpha) for at, (each, metric) in enumerate(family)
        ]
        return _conclude_all(
            [(each, metric) for each, (_, metric) in zip(decide_all(bare, alpha), family, strict=True)],
            alpha,
            matters_pct,
        )

    def alone(at: int) -> Conclusion:
        return measured(at)[at].conclusion

    return judged(_conclude_all(family, alpha, matters_pct), measured, matters_pct, alone)


def _conclude_all(family: Sequence[Of], alpha: float, matters_pct: float) -> list[Comparison]:
    tested = sum(each.adjusted_p is not None for each, _ in family)
    rejected = sum(each.adjusted_p is not None and each.adjusted_p <= alpha for each, _ in family)
    level = 1 - alpha * max(1, rejected) / max(1, tested)
    levelled = [
        (at_level(each, metric, level) if _is_corrected(each, alpha) else each, metric) for each, metric in family
    ]
    within = _within(levelled, alpha, matters_pct, tested)
    return [
        concluded(within.get(at, each), metric, matters_pct, within=at in within)
        for at, (each, metric) in enumerate(levelled)
    ]


def _is_corrected(comparison: Comparison, alpha: float) -> bool:
    """True if the correction over all cells changes what an interval at `alpha` says of 0, or selects the cell."""
    return comparison.adjusted_p is not None and comparison.p is not None and comparison.p <= alpha


def conclude_by_sequence(
    family: Sequence[Comparison], metric: Metric, alpha: float, matters_pct: float
) -> list[Comparison]:
    """The comparisons of a sequential study with their conclusions: its intervals hold all together, at any time."""

    def conclude(comparisons: Sequence[Comparison]) -> list[Comparison]:
        return [
            concluded(each, metric, matters_pct, within=_is_measured(each) and lies_within(each, matters_pct))
            for each in comparisons
        ]

    return judged(
        conclude(family),
        lambda: conclude(sequentially([as_measured(each, metric, alpha) for each in family], metric, alpha)),
        matters_pct,
    )


def concluded(comparison: Comparison, metric: Metric, matters_pct: float, *, within: bool) -> Comparison:
    """The comparison with its conclusion; `within` says whether its difference is shown to be less than what
    matters."""
    tail = tail_of(comparison.baseline, comparison.other, metric, matters_pct)
    return replace(comparison, tail=tail, conclusion=_conclusion(comparison, tail.state, matters_pct, within))


def lies_within(comparison: Comparison, matters_pct: float) -> bool:
    """True if the whole interval is less than what matters; in the metric's unit, only where nothing differs at all."""
    if comparison.interval is not None:
        return comparison.interval.low == comparison.interval.high == 0
    interval = comparison.interval_pct
    return interval is not None and -matters_pct < interval.low and interval.high < matters_pct


def _conclusion(comparison: Comparison, tail: TailState, matters_pct: float, within: bool) -> Conclusion:
    return conclusion_of(comparison.outcome, comparison.difference_pct, tail, matters_pct, within=within)


def conclusion_of(
    outcome: Outcome, estimate_pct: float | None, tail: TailState, matters_pct: float, *, within: bool
) -> Conclusion:
    """Conclusion from an outcome with this estimate; `within` says whether it is shown to be less than what matters."""
    if outcome is Outcome.NOT_MEASURED:
        return Conclusion.NOT_MEASURED
    if outcome is Outcome.NOT_JUDGED:
        return Conclusion.NOT_JUDGED
    if not outcome.significant:
        if not within:
            return Conclusion.UNDECIDED
        return Conclusion.ALIKE if tail is TailState.ALIKE else Conclusion.MEDIAN_ALIKE
    if within:
        return Conclusion.SMALL
    less = estimate_pct is not None and abs(estimate_pct) < matters_pct
    return Conclusion.PERHAPS_SMALL if less else Conclusion.DIFFERENT


def _within(family: Sequence[Of], alpha: float, matters_pct: float, tested: int) -> dict[int, Comparison]:
    """Place in the family → the cell whose difference is less than what matters, with its interval at the level that
    decided, or the wider one that it has anyhow."""

    def at(cell: Of, level: float) -> Of:
        each, metric = cell
        kept = each.outcome.significant and each.confidence >= level
        return cell if kept else (at_level(each, metric, level), metric)

    candidates = {place: cell for place, cell in enumerate(family) if _is_measured(cell[0])}
    found = step_up(candidates, tested, alpha, at, lambda cell: lies_within(cell[0], matters_pct))
    return {place: each for place, (each, _) in found.items()}


def _is_measured(comparison: Comparison) -> bool:
    return comparison.outcome is not Outcome.NOT_MEASURED
