# SPDX-License-Identifier: Apache-2.0
"""Welch's test beside the deciding test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ttest_ind

from quiclab.compare.statistics import welch_p


def test_equals_scipy() -> None:
    """Unequal sizes and variances give scipy's p."""
    rng = np.random.default_rng(8)
    baseline, other = rng.normal(0, 1, 8), rng.normal(1, 4, 13)
    assert welch_p(baseline, other) == pytest.approx(ttest_ind(baseline, other, equal_var=False).pvalue)


@pytest.mark.parametrize(("baseline", "other"), [([1, 2], [3, math.inf]), ([1], [2, 3]), ([1, 1], [1, 1])])
def test_blank_where_a_mean_has_no_meaning(baseline: list[float], other: list[float]) -> None:
    """A failure, a single value or no variance leave it blank."""
    assert welch_p(np.array(baseline, dtype=float), np.array(other, dtype=float)) is None
