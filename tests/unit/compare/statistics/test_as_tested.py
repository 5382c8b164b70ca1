# SPDX-License-Identifier: Apache-2.0
"""An interval and the p beside it say the same of 0, whatever the sample: each of thousands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pytest

from quiclab.compare.statistics import (
    Correlation,
    Interval,
    Shift,
    anytime_p,
    anytime_shift,
    hodges_lehmann,
    mann_whitney_p,
    mean,
    shift_of_two,
    signed_rank,
    stronger,
)

FloatArray = npt.NDArray[np.float64]

ALPHAS = (0.5, 0.3, 0.1, 0.0625, 0.05, 0.03125, 0.02, 0.005)
SHAPES: tuple[Callable[[np.random.Generator, int], FloatArray], ...] = (
    lambda rng, n: rng.normal(0.7, 1, n),
    lambda rng, n: rng.exponential(1, n) - 0.4,
    lambda rng, n: np.round(rng.normal(0.7, 1, n), 1),
    lambda rng, n: rng.integers(-1, 4, n).astype(np.float64),
    lambda rng, n: rng.choice([0.0, 0.0, 0.0, 1.0], n),
    lambda rng, n: rng.choice([-1.0, 2.0, 2.0, 2.0], n),
    lambda rng, n: rng.choice([0.0, 1.0, 1.0, 2.0, -1.0, math.inf, -math.inf], n),
)
"""Samples of so many values: continuous, skewed, rounded, of few values, mostly zero, with failures."""


def _samples(most: int, each: int) -> Iterator[tuple[FloatArray, float]]:
    rng = np.random.default_rng(11)
    for pairs in range(1, most):
        for number in range(each):
            yield SHAPES[number % len(SHAPES)](rng, pairs), ALPHAS[rng.integers(len(ALPHAS))]


def _leaves_out(interval: Interval | None) -> bool:
    return interval is not None and not interval.low <= 0 <= interval.high


def _agrees(shift: Shift, p: float, alpha: float) -> bool:
    """A sample whose typical value is 0 has an interval that holds it, whatever its p."""
    rejected = p <= alpha * (1 + 1e-9) and shift.estimate != 0
    inside = shift.interval is None or shift.interval.low <= shift.estimate <= shift.interval.high
    return _leaves_out(shift.interval) == rejected and (inside or math.isnan(shift.estimate))


def test_the_shift_of_pairs_and_the_signed_rank_test() -> None:
    """One to 16 pairs, with ties and failures; and the interval holds its estimate."""
    wrong = [
        (values, alpha)
        for values, alpha in _samples(17, 210)
        if not _agrees(hodges_lehmann(values, 1 - alpha), signed_rank(values).p, alpha)
    ]
    assert wrong == []


def test_ties_that_only_the_exact_test_knows_do_not_open_the_interval() -> None:
    """Five of seven pairs differ by 1, and two do not: order statistics reach 0, at which the test's p is 2 / 2^5."""
    values = np.array([1.0] * 5 + [0.0] * 2)
    assert signed_rank(values).p == 0.0625
    assert hodges_lehmann(values, 1 - 0.0625).interval == pytest.approx(Interval(0.5, 1.0, 0.953125))
    wider = hodges_lehmann(values, 1 - 0.0624).interval
    assert wider is not None
    assert wider.low == 0


def test_the_shift_of_two_samples_and_mann_whitneys_test() -> None:
    """Samples of one to eight values each, and some beyond those whose ranks are counted one by one."""
    rng = np.random.default_rng(12)
    sizes = [(m, n) for m in range(1, 9) for n in range(1, 9) for _ in range(30)] + [(60, 70)] * 20 + [(120, 110)] * 10
    wrong = []
    for number, (m, n) in enumerate(sizes):
        shape, alpha = SHAPES[number % len(SHAPES)], ALPHAS[rng.integers(len(ALPHAS))]
        one, other = shape(rng, m) - 0.3, shape(rng, n)
        p = mann_whitney_p(one, other)
        if not _agrees(shift_of_two(one, other, 1 - alpha), 1.0 if p is None else p, alpha):
            wrong.append((one, other, alpha))
    assert wrong == []


def test_the_shift_of_pairs_at_any_time() -> None:
    """Up to 30 pairs, in the order in which they came; and the interval holds its estimate."""
    wrong = [
        (values, alpha)
        for values, alpha in _samples(31, 70)
        if not _agrees(anytime_shift(values, alpha), anytime_p(values), alpha)
    ]
    assert wrong == []


def test_a_mean_and_its_interval() -> None:
    """Up to 30 values, from ten on with resamples."""
    finite = [(values, alpha) for values, alpha in _samples(31, 70) if np.isfinite(values).all()]
    found = [(mean(values, 1 - alpha), alpha) for values, alpha in finite]
    assert [each for each in found if each[0] and _leaves_out(each[0].interval) != (each[0].p <= each[1])] == []
    assert {each.p <= alpha for each, alpha in found if each} == {True, False}


def test_the_strengths_of_two_correlations() -> None:
    """Any two, of five to fifty pairs."""
    rng = np.random.default_rng(13)
    for _ in range(2000):
        first, second = (Correlation(rng.uniform(-1, 1), int(rng.integers(5, 50))) for _ in range(2))
        alpha = ALPHAS[rng.integers(len(ALPHAS))]
        found = stronger(first, second, 1 - alpha)
        assert _leaves_out(found.interval) == (found.p <= alpha)
