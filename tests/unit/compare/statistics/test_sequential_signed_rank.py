# SPDX-License-Identifier: Apache-2.0
"""A signed-rank test that is looked at after every pair: its error rate by simulation, and its interval by trying."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from quiclab.compare.statistics import anytime_p, anytime_shift
from quiclab.compare.statistics.confidence_sequence import log_evidence

FloatArray = npt.NDArray[np.float64]
ALPHA = 0.05
STUDIES, PAIRS = 400, 60


def _growing(rng: np.random.Generator, pairs: int) -> FloatArray:
    return np.asarray(rng.normal(0, np.linspace(1, 30, pairs)))


# Differences that are symmetric about zero, given those before: as those of two arms that could be exchanged.
SHAPES: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "normal": lambda rng, size: rng.normal(0, 1, size),
    "heavy tails": lambda rng, size: rng.standard_t(1, size),
    "two skewed arms": lambda rng, size: rng.lognormal(0, 1, size) - rng.lognormal(0, 1, size),
    "two modes": lambda rng, size: rng.choice([-100.0, 100.0], size) + rng.normal(0, 1, size),
    "ties": lambda rng, size: rng.choice([-2.0, -1.0, 0.0, 0.0, 1.0, 2.0], size),
    "failures": lambda rng, size: rng.choice([-np.inf, -1.0, 1.0, np.inf], size, p=[0.1, 0.4, 0.4, 0.1]),
    "a spread that grows": _growing,
    "a spread that falls": lambda rng, size: _growing(rng, size)[::-1],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_false_alarms_with_a_look_after_every_pair(shape: str) -> None:
    """At most the nominal share of studies without a difference, by chance half as many more, is called different."""
    rng = np.random.default_rng(7)
    alarms = 0
    for _ in range(STUDIES):
        differences = SHAPES[shape](rng, PAIRS)
        alarms += any(anytime_p(differences[:pairs]) <= ALPHA for pairs in range(6, PAIRS + 1))
    assert alarms / STUDIES <= ALPHA * 1.5


def _by_definition(differences: FloatArray, bound: float, strengths: FloatArray) -> float:
    """Likelihood ratio against coins, by the words of the module."""
    ratio = np.ones_like(strengths)
    for at, each in enumerate(differences):
        so_far = np.abs(differences[: at + 1] - bound)
        share = np.mean(so_far <= abs(each - bound))
        ratio *= 2 / (1 + np.exp(-2 * strengths * share * np.sign(each - bound)))
    return float(ratio.mean())


def test_p_is_two_by_the_likelihood_ratio() -> None:
    """The same holds for either sign, and no ties."""
    strengths = np.geomspace(0.25, 32, 15)
    rng = np.random.default_rng(3)
    for pairs in range(1, 40):
        differences = rng.normal(0.5, 1, pairs)
        most = max(_by_definition(sign * differences, 0.0, strengths) for sign in (1, -1))
        assert anytime_p(differences) == pytest.approx(min(1, 2 / most))


def test_the_interval_is_what_no_bound_excludes() -> None:
    """Each bound within is not excluded by the p of the differences from it, and each one outside is."""
    rng = np.random.default_rng(4)
    for pairs in (8, 15, 40):
        differences = rng.normal(3, 1, pairs)
        found = anytime_shift(differences, ALPHA).interval
        assert found is not None
        for bound in np.linspace(0, 6, 241):
            assert (anytime_p(differences - bound) > ALPHA) == (found.low <= bound <= found.high)


def test_six_pairs_of_one_sign_are_the_fewest() -> None:
    """The test of a fixed number of pairs needs as many."""
    assert anytime_p(np.ones(6)) <= ALPHA < anytime_p(np.ones(5))
    assert anytime_shift(np.ones(5), ALPHA).interval is None
    assert anytime_p(np.array([])) == 1
    assert anytime_p(np.zeros(50)) == 1
    with pytest.raises(ValueError, match="NaN"):
        anytime_p(np.array([1.0, np.nan]))


def test_failures_of_one_arm_own_an_end() -> None:
    """Three of five trials of one arm fail: the difference is found, and has no upper end."""
    found = anytime_shift(np.array([math.inf, 1.0, math.inf, 2.0, math.inf] * 4), ALPHA)
    assert found.estimate == math.inf
    assert found.interval is not None
    assert 0 < found.interval.low < found.interval.high == math.inf


def test_a_real_difference_is_found_sooner_than_by_signs() -> None:
    """Normal differences of 0.3 standard deviations, 110 pairs: a third more of the studies find it than by signs."""
    rng = np.random.default_rng(5)
    drawn = [rng.normal(0.3, 1, 110) for _ in range(200)]
    by_ranks = np.mean([anytime_p(each) <= ALPHA for each in drawn])
    by_signs = np.mean([log_evidence(int((each > 0).sum()), each.size) >= math.log(2 / ALPHA) for each in drawn])
    assert by_ranks > 4 / 3 * by_signs > 0.2


def test_the_interval_narrows_about_the_shift() -> None:
    """A hundred times as many pairs: a fifth of the length or less."""
    rng = np.random.default_rng(6)
    wide, narrow = (anytime_shift(rng.normal(1, 1, n), ALPHA).interval for n in (10, 1000))
    assert wide is not None
    assert narrow is not None
    assert narrow.high - narrow.low < (wide.high - wide.low) / 5
    assert narrow.low < 1 < narrow.high
