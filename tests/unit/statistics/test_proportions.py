# SPDX-License-Identifier: Apache-2.0
"""Fisher's exact test."""

from __future__ import annotations

import pytest
from scipy.stats import fisher_exact

from quiclab.statistics import fisher_exact_p


@pytest.mark.parametrize("table", [(0, 10, 0, 10), (0, 10, 3, 10), (5, 8, 1, 30), (10, 200, 0, 200), (0, 0, 0, 0)])
def test_equals_scipy(table: tuple[int, int, int, int]) -> None:
    """The hand count equals scipy's p; empty totals are no evidence."""
    a, total_a, b, total_b = table
    expected = fisher_exact([[a, total_a - a], [b, total_b - b]]).pvalue if total_a else 1.0
    assert fisher_exact_p(*table) == pytest.approx(expected)
