# SPDX-License-Identifier: Apache-2.0
"""Welch's t-test of two means with unequal variances: it is given beside the paired test, for comparison with older
work."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def welch_p(baseline: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float | None:
    """Two-sided p of Welch's test. None where a mean has no meaning: a censored value (±inf), fewer than two values, no
    variance."""
    baseline, other = baseline[~np.isnan(baseline)], other[~np.isnan(other)]
    if min(baseline.size, other.size) < 2 or not np.isfinite(np.concatenate([baseline, other])).all():
        return None
    variance = np.var(baseline, ddof=1) / baseline.size, np.var(other, ddof=1) / other.size
    total = float(sum(variance))
    if total == 0:
        return None
    t = (float(np.mean(baseline)) - float(np.mean(other))) / np.sqrt(total)
    # Welch–Satterthwaite degrees of freedom.
    freedom = total**2 / float(variance[0] ** 2 / (baseline.size - 1) + variance[1] ** 2 / (other.size - 1))
    from scipy.special import stdtr  # imported late: it takes longer than the rest of an analysis

    return float(2 * stdtr(freedom, -abs(t)))
