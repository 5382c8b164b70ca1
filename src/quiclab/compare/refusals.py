# SPDX-License-Identifier: Apache-2.0
"""Reasons why a cell is not tested whatever its numbers are: nothing measured, or too few pairs."""

from __future__ import annotations

from quiclab.compare import statistics
from quiclab.compare.model import Comparison, Outcome


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
            f"{statistics.pairs_needed(alpha, 1)} are the least."
        )
    return None
