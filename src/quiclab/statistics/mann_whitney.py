# SPDX-License-Identifier: Apache-2.0
"""Mann–Whitney's test of two independent samples: it is given beside the paired test, and ignores the pairing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def mann_whitney_p(baseline: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float | None:
    """Two-sided p, exact for small samples without ties, else normal with ties corrected. ±inf ranks last or first.

    None where a sample is empty or every value is the same.
    """
    baseline, other = baseline[~np.isnan(baseline)], other[~np.isnan(other)]
    if baseline.size == 0 or other.size == 0 or np.unique(np.concatenate([baseline, other])).size == 1:
        return None
    from scipy.stats import mannwhitneyu  # imported late: it takes longer than the rest of an analysis

    return float(mannwhitneyu(baseline, other, alternative="two-sided", method="auto").pvalue)
