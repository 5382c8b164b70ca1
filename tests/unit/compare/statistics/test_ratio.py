# SPDX-License-Identifier: Apache-2.0
"""Ratios as logarithms and in per cent: by hand, against scipy, and how often their interval holds the truth."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import wilcoxon

from quiclab.compare.statistics import (
    Shift,
    hodges_lehmann,
    log_ratio,
    logarithms,
    per_cent,
    shift_in_per_cent,
    signed_rank,
)
from quiclab.model.interval import Interval

Noise = Callable[[np.random.Generator, int], npt.NDArray[np.float64]]

NOISES: dict[str, Noise] = {
    "lognormal .1": lambda rng, n: rng.lognormal(0, 0.1, n),
    "lognormal .5": lambda rng, n: rng.lognormal(0, 0.5, n),
    "gamma": lambda rng, n: rng.gamma(2, 1, n),
    "timeouts": lambda rng, n: 1 + 0.02 * rng.random(n) + (rng.random(n) < 0.2),
}


def test_per_cent_by_hand() -> None:
    """Half is 50 % less, twice is 100 % more."""
    assert [per_cent(math.log(ratio)) for ratio in (0.5, 1, 2)] == pytest.approx([-50, 0, 100])


def test_failures_stay_infinite_and_nothing_is_no_negative_zero() -> None:
    """A failure is no 100 % less time; equal arms have no sign; there and back is where it began."""
    assert (per_cent(math.inf), per_cent(-math.inf)) == (math.inf, -math.inf)
    assert math.copysign(1, per_cent(-0.0)) == 1
    assert log_ratio(-100.0) == -math.inf
    for log in (-2.0, -0.01, 0.0, 0.3, math.inf, -math.inf):
        assert log_ratio(per_cent(log)) == pytest.approx(log)


def test_a_value_of_zero_has_no_logarithm() -> None:
    """Zero and below: none at all; failures and unknown values stay what they are."""
    assert logarithms(np.array([1.0, 0.0])) is None
    assert logarithms(np.array([1.0, -2.0])) is None
    found = logarithms(np.array([math.e, math.inf, -math.inf, math.nan]))
    assert found is not None
    assert found[:3].tolist() == [1.0, math.inf, -math.inf]
    assert math.isnan(found[3])


def test_a_shift_of_logarithms_in_per_cent() -> None:
    """Estimate and both ends, and the level as it is."""
    shift = Shift(math.log(1.1), Interval(math.log(0.5), math.inf, 0.95))
    found = shift_in_per_cent(shift)
    assert found.estimate == pytest.approx(10)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high, found.interval.confidence) == (
        pytest.approx(-50),
        math.inf,
        0.95,
    )
    assert shift_in_per_cent(Shift(math.nan, None)).interval is None


def test_the_test_of_log_ratios_is_scipys() -> None:
    """The exact p of every sample without ties."""
    rng = np.random.default_rng(3)
    for pairs in range(6, 26):
        logs = np.log(rng.lognormal(0.05, 0.1, pairs) / rng.lognormal(0, 0.1, pairs))
        assert signed_rank(logs).p == pytest.approx(wilcoxon(logs, method="exact").pvalue, abs=1e-12)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("factor", [0.5, 0.7, 1.5, 2.0, 3.0])
def test_the_interval_holds_the_ratio_whatever_it_is(noise: str, factor: float) -> None:
    """Times that are half to three times as long: 95 % hold it at 10 pairs as at one, less three standard errors."""
    rng, runs, held = np.random.default_rng(5), 400, 0
    for _ in range(runs):
        one, other = NOISES[noise](rng, 10), factor * NOISES[noise](rng, 10)
        interval = hodges_lehmann(np.log(other / one), 0.95).interval
        assert interval is not None
        held += per_cent(interval.low) <= 100 * (factor - 1) <= per_cent(interval.high)
    assert held / runs >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / runs)
