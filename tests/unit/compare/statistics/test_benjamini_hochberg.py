# SPDX-License-Identifier: Apache-2.0
"""The correction over the cells of a matrix."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from quiclab.compare.statistics import adjusted_p_values


def test_equals_scipy() -> None:
    """Random families give scipy's adjusted values, in the order given."""
    rng = np.random.default_rng(6)
    for size in (1, 2, 9, 50):
        p = rng.random(size) ** 3
        assert adjusted_p_values(p) == pytest.approx(false_discovery_control(p))


def test_an_untested_cell_does_not_count() -> None:
    """NaN stays NaN and does not enlarge the family."""
    adjusted = adjusted_p_values(np.array([0.01, np.nan, 0.02]))
    assert adjusted[[0, 2]] == pytest.approx([0.02, 0.02])
    assert np.isnan(adjusted[1])
    assert adjusted_p_values(np.array([])).size == 0


def test_false_discoveries_stay_below_the_level() -> None:
    """With 6 of 9 cells alike, the mean share of false alarms among the cells called different is at most alpha."""
    rng = np.random.default_rng(7)
    shares = []
    for _ in range(3000):
        p = np.concatenate([rng.random(6), rng.random(3) * 0.001])
        found = adjusted_p_values(p) <= 0.05
        shares.append(found[:6].sum() / max(1, found.sum()))
    assert np.mean(shares) <= 0.05
