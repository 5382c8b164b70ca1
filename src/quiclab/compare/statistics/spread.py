# SPDX-License-Identifier: Apache-2.0
"""Spread of two paired samples: which of them varies more, for its size.

The test is Wilcoxon's signed-rank test of pairs, of the absolute deviations that the Brown–Forsythe test has: how far
each logarithm is from the median of its sample. That of Pitman and Morgan assumes normal values: of pairs of equal
spread it calls 15 to 28 % different at 5 % where the values have heavy tails, and these deviations 3 to 6 %.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quiclab.compare.statistics.ratio import logarithms
from quiclab.compare.statistics.signed_rank import signed_rank

_LEAST = 3
"""Fewest pairs that have a spread."""


@dataclass(frozen=True)
class Spread:
    """Coefficients of variation of two samples, and the test of the spread of their logarithms."""

    first: float
    """Standard deviation by mean of the first sample."""
    second: float
    count: int
    """Number of pairs."""
    p: float
    """Two-sided p of equal spread."""
    leans: float
    """Above zero where the second deviates more in the typical pair, below zero where it deviates less."""

    @property
    def change_pct(self) -> float | None:
        """Coefficient of variation of the second beside that of the first, in per cent of the latter; None where the
        first does not vary."""
        return 100 * (self.second / self.first - 1) if self.first else None


def paired_spread(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> Spread | None:
    """Compare the spread of two samples in pairs. Pairs with a NaN are left out; None of fewer than three pairs, with
    ±inf, and where a value is not above zero."""
    known = ~(np.isnan(first) | np.isnan(second))
    first, second = first[known], second[known]
    if first.size < _LEAST or not np.isfinite([first, second]).all():
        return None
    logs = [logarithms(each) for each in (first, second)]
    if logs[0] is None or logs[1] is None:
        return None
    one, other = (np.abs(each - np.median(each)) for each in logs if each is not None)
    tested = signed_rank(other - one)
    cv_1, cv_2 = (float(each.std(ddof=1) / each.mean()) for each in (first, second))
    return Spread(cv_1, cv_2, int(first.size), tested.p, float(np.sign(_rank_sum(other - one))))


def _rank_sum(differences: npt.NDArray[np.float64]) -> float:
    """Sum of the signed ranks of differences."""
    from scipy.stats import rankdata  # imported late: it takes longer than the rest of an analysis

    return float((np.sign(differences) * rankdata(np.abs(differences))).sum())
