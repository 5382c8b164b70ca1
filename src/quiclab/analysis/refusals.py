# SPDX-License-Identifier: Apache-2.0
"""Reasons why a cell gets no answer whatever its numbers are: nothing measured, too few pairs, a machine too slow."""

from __future__ import annotations

from quiclab import statistics
from quiclab.analysis.model import ArmResult, Comparison, Outcome

VOID_LIMIT_PCT = 5.0
"""Share of an arm's attempts that may be void: beyond, the trials that count are selected by the machine."""
LEVEL = 0.05
"""Level of both tests. A rate below the limit is refused in fewer cells than that."""


def refusal(comparison: Comparison, alpha: float, cells: int = 1) -> tuple[Outcome, str] | None:
    """Return the outcome of a cell that is not tested, and why; None where it is.

    Such a cell is of no family: a small p in it must not make those of the others look significant. `cells` is how
    many comparisons are decided together.
    """
    pairs = comparison.pairs
    if pairs == 0 or comparison.p is None:
        return Outcome.NOT_MEASURED, "No pair has both values."
    if all(trial.status == "failed" for arm in (comparison.baseline, comparison.other) for trial in arm.trials):
        return Outcome.NOT_MEASURED, "Every trial of both arms failed."
    if statistics.smallest_p(pairs) > alpha:
        return Outcome.UNDECIDED, (
            f"Too few pairs: with {pairs}, even the clearest difference is not significant at {alpha:g}; "
            f"{statistics.pairs_needed(alpha, 1)} are the least."
        )
    why = too_slow(comparison.baseline, comparison.other, cells)
    return (Outcome.UNDECIDED, why) if why else None


def too_slow(baseline: ArmResult, other: ArmResult, cells: int = 1) -> str:
    """Why the laboratory's own faults leave this cell undecided; empty if they do not.

    Either an arm's rate of voids is above the limit with confidence (one-sided binomial test), or the arms' rates
    differ (Fisher's exact test, corrected over so many `cells` after Bonferroni).
    """
    for arm in (baseline, other):
        if statistics.binomial_p(arm.voids, arm.attempts, VOID_LIMIT_PCT / 100) <= LEVEL:
            share = f"{arm.voids} of {arm.attempts} attempts of {arm.arm} were void"
            return (
                f"Machine too slow: {share}, more than chance makes of the {VOID_LIMIT_PCT:g} % that a cell may have. "
                "`quiclab doctor` says what would help; then run a new study."
            )
    p = statistics.fisher_exact_p(baseline.voids, baseline.attempts, other.voids, other.attempts)
    if p * cells <= LEVEL:
        shares = [f"{arm.voids} of {arm.attempts} attempts of {arm.arm}" for arm in (baseline, other)]
        return (
            f"Machine too slow for one arm: {shares[0]} were void, but {shares[1]}, so that the trials that count are "
            "not alike. `quiclab doctor` says what would help; then run a new study."
        )
    return ""
