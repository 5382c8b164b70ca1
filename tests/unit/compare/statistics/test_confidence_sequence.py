# SPDX-License-Identifier: Apache-2.0
"""A test that may be looked at after every pair: its error rate by simulation, and its interval by counting."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from quiclab.compare.statistics import median_sequence
from quiclab.compare.statistics.confidence_sequence import log_evidence, needed_above

FloatArray = npt.NDArray[np.float64]
ALPHA = 0.05
STUDIES, PAIRS = 4000, 150

# Differences with a median of zero: of two equal arms, and of shapes that no arm against itself would make.
SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, int]], FloatArray]] = {
    "normal": lambda rng, size: rng.normal(0, 1, size),
    "two skewed arms": lambda rng, size: rng.lognormal(0, 1, size) - rng.lognormal(0, 1, size),
    "skewed itself": lambda rng, size: rng.lognormal(0, 1, size) - 1.0,
    "bimodal": lambda rng, size: rng.choice([-100.0, 100.0], size) + rng.normal(0, 1, size),
    "ties": lambda rng, size: rng.choice([-1.0, 0.0, 0.0, 1.0], size),
    "failures": lambda rng, size: rng.choice([-np.inf, -1.0, 1.0, np.inf], size, p=[0.1, 0.4, 0.4, 0.1]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_false_alarms_with_a_look_after_every_pair(shape: str) -> None:
    """At most the nominal share of studies without a difference is ever called different, at any of 150 looks."""
    differences = SHAPES[shape](np.random.default_rng(7), (STUDIES, PAIRS))
    needed = np.array([needed_above(n, ALPHA) or n + 1 for n in range(1, PAIRS + 1)])
    above, below = (np.cumsum(side, axis=1) for side in (differences > 0, differences < 0))
    alarms = ((above >= needed) | (below >= needed)).any(axis=1)
    assert alarms.mean() <= ALPHA


def test_the_counts_are_the_tests() -> None:
    """An interval excludes zero exactly where the counts say so."""
    rng = np.random.default_rng(3)
    for pairs in range(1, 60):
        differences = rng.normal(0.5, 1, pairs)
        most = max((differences > 0).sum(), (differences < 0).sum())
        needed = needed_above(pairs, ALPHA)
        rejected = needed is not None and most >= needed
        interval = median_sequence(differences, ALPHA)
        assert (interval is None) == (needed is None)
        if interval is not None:
            assert (interval.low > 0 or interval.high < 0) == rejected


def test_evidence_is_the_integral() -> None:
    """Against exact fractions: 2^(n+1) times the integral of p^k (1-p)^(n-k) from 1/2 to 1."""
    for of in (1, 5, 12):
        for above in range(of + 1):
            exact = Fraction(0)
            for j in range(of - above + 1):  # (1-p)^(n-k) expanded
                power = above + j + 1
                part = Fraction(math.comb(of - above, j) * (-1) ** j, power)
                exact += part * (1 - Fraction(1, 2**power))
            assert log_evidence(above, of) == pytest.approx(math.log(2 ** (of + 1) * exact))


def test_eight_pairs_of_one_sign_are_the_fewest() -> None:
    """A fixed number of pairs would need six: that is the price of looking at any time."""
    assert [needed_above(n, ALPHA) for n in (6, 7, 8, 9)] == [None, None, 8, 9]
    assert median_sequence(np.ones(7), ALPHA) is None
    assert median_sequence(np.ones(8), ALPHA) is not None
    assert median_sequence(np.array([]), ALPHA) is None


def test_a_real_difference_is_found_and_then_narrows() -> None:
    """A shift of one standard deviation is found by 60 pairs in most studies, and the interval comes to hold it."""
    rng = np.random.default_rng(5)
    found = [median_sequence(rng.normal(1, 1, 60), ALPHA) for _ in range(200)]
    assert np.mean([each is not None and each.low > 0 for each in found]) > 0.95
    wide, narrow = (median_sequence(rng.normal(1, 1, n), ALPHA) for n in (30, 3000))
    assert wide is not None
    assert narrow is not None
    assert narrow.high - narrow.low < (wide.high - wide.low) / 4
    assert narrow.low < 1 < narrow.high
