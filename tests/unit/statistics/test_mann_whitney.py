# SPDX-License-Identifier: Apache-2.0
"""Mann–Whitney beside the deciding test."""

from __future__ import annotations

import math

import numpy as np
import pytest

from quiclab.statistics import mann_whitney_p


def test_exact_without_ties() -> None:
    """Four against four, fully apart: 2 of 70 arrangements."""
    assert mann_whitney_p(np.arange(4.0), np.arange(10.0, 14.0)) == pytest.approx(2 / 70)


def test_a_failure_ranks_last() -> None:
    """One failure changes nothing but the rank: it equals any value above all others."""
    baseline = np.array([1.0, 2, 3, 4])
    assert mann_whitney_p(baseline, np.array([5.0, 6, 7, math.inf])) == mann_whitney_p(
        baseline, np.array([5.0, 6, 7, 99])
    )


@pytest.mark.parametrize("other", [[], [math.nan], [2.0, 2.0]])
def test_nothing_to_rank_has_no_p(other: list[float]) -> None:
    """Empty or constant samples give None."""
    assert mann_whitney_p(np.array([2.0, 2.0]), np.array(other)) is None
