# SPDX-License-Identifier: Apache-2.0
"""Main effects and interactions over a matrix: what is there is found, and what is not is not, by simulation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from by_night import by_night

from quiclab.compare.statistics import hodges_lehmann
from quiclab.compare.statistics.factorial import effects_of_factors

FloatArray = npt.NDArray[np.float64]
Noise = Callable[[np.random.Generator, int], FloatArray]

NOISES: dict[str, Noise] = {
    "normal": lambda rng, n: rng.normal(0, 1, n),
    "skewed": lambda rng, n: rng.lognormal(0, 0.8, n),
    "bimodal": lambda rng, n: rng.choice([-2.0, 2.0], n) + rng.normal(0, 0.3, n),
}


@pytest.mark.parametrize("noise", ["normal", *by_night(*(noise for noise in NOISES if noise != "normal"))])
def test_false_alarms_and_coverage(noise: str) -> None:
    """Of 100 matrices of 20 pairs without any effect, whose cells differ in spread, at most the nominal share (with
    three standard errors of so many matrices) shows one, and 93 to 97 % of the intervals, with the same allowance,
    hold zero."""
    rng, runs = np.random.default_rng(11), 100
    alarms, held = np.zeros(3), np.zeros(2)
    for _ in range(runs):
        cells = [spread * NOISES[noise](rng, 20) for spread in (1, 1, 2, 2)]
        if noise == "skewed":
            cells = [cell - spread * _centre() for cell, spread in zip(cells, (1, 1, 2, 2), strict=True)]
        effects = effects_of_factors(cells, (2, 2), 0.95)
        alarms += [effect.p <= 0.05 for effect in effects]
        spans = [change.interval for effect in effects for change in effect.changes]
        held += [span.low <= 0 <= span.high for span in spans]
    allowance = 3 * np.sqrt(0.05 * 0.95 / runs)
    assert (alarms / runs <= 0.05 + allowance).all(), alarms
    assert (held / runs >= 0.93 - allowance).all(), held
    assert (held / runs <= 0.97 + allowance).all(), held


def test_a_factor_that_only_adds_noise_changes_no_ratio() -> None:
    """Two equal arms, lognormal noise of 0.02 at one level and of 0.5 at the other: log ratios raise no more alarms
    than nominal."""
    rng, runs, alarms = np.random.default_rng(21), 60, 0
    for _ in range(runs):
        cells = [np.log(rng.lognormal(0, sigma, 16) / rng.lognormal(0, sigma, 16)) for sigma in (0.02, 0.5)]
        alarms += effects_of_factors(cells, (2,), 0.95)[0].p <= 0.05
    assert alarms / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_noise_alone_moves_per_cent_of_one_value_and_no_log_ratio() -> None:
    """Of equal arms with noise of 0.3 the typical difference in per cent of the baseline's value is 4 points off."""
    rng = np.random.default_rng(22)
    one, other = rng.lognormal(0, 0.3, 600), rng.lognormal(0, 0.3, 600)
    assert 100 * hodges_lehmann((one - other) / one, 0.95).estimate == pytest.approx(-4.4, abs=1.6)
    assert 100 * hodges_lehmann(np.log(one / other), 0.95).estimate == pytest.approx(0, abs=1.6)


def _centre() -> float:
    """The pseudomedian of the skewed noise: what its Hodges–Lehmann estimate estimates."""
    draws = NOISES["skewed"](np.random.default_rng(1), 400_000)
    return float(np.median((draws[:200_000] + draws[200_000:]) / 2))


def test_what_is_there_is_found_where_it_is() -> None:
    """A main effect of the first factor and an interaction of the two; none of the second."""
    rng = np.random.default_rng(2)
    # Rows: first factor. Its mean goes from 0 to 3; the second's is 1.5 on both levels.
    cells = [rng.normal(middle, 1, 25) for middle in (1, -1, 2, 4)]
    first, second, meeting = effects_of_factors(cells, (2, 2), 0.95)
    assert (first.factors, second.factors, meeting.factors) == ((0,), (1,), (0, 1))
    assert first.changes[0].interval.low <= 3 <= first.changes[0].interval.high
    assert first.p <= 0.01
    assert meeting.p <= 0.01
    assert second.p > 0.05
    assert meeting.changes == ()


def test_three_factors_and_an_axis_of_one_level() -> None:
    """Three main effects and three meetings; what has one level changes nothing."""
    rng = np.random.default_rng(3)
    cells = [rng.normal(0, 1, 8) for _ in range(2 * 2 * 3)]
    assert len(effects_of_factors(cells, (2, 2, 3), 0.95)) == 6
    assert [effect.factors for effect in effects_of_factors(cells[:3], (1, 1, 3), 0.95)] == [(2,)]


def test_a_level_in_the_middle_has_a_change_of_its_own() -> None:
    """What only the second of three levels does is not lost between the first and the last."""
    rng = np.random.default_rng(5)
    (effect,) = effects_of_factors([rng.normal(middle, 1, 20) for middle in (0, 5, 0)], (3,), 0.95)
    middle, last = effect.changes
    assert middle.interval.low <= 5 <= middle.interval.high
    assert last.interval.low <= 0 <= last.interval.high
    assert effect.p <= 0.01


def test_an_outlier_moves_little() -> None:
    """One value a thousand times as large does not make an effect."""
    rng = np.random.default_rng(4)
    cells = [rng.normal(0, 1, 20) for _ in range(4)]
    cells[0][3] = 1000.0
    assert all(effect.p > 0.05 for effect in effects_of_factors(cells, (2, 2), 0.95))


def test_gaps_and_few_values_are_refused() -> None:
    """A matrix with a cell missing, or one with five values, has no effects."""
    with pytest.raises(ValueError, match="complete"):
        effects_of_factors([np.ones(9)] * 3, (2, 2), 0.95)
    with pytest.raises(ValueError, match="complete"):
        effects_of_factors([np.ones(9)] * 3 + [np.ones(5)], (2, 2), 0.95)


def test_a_level_beyond_what_the_resamples_tell_has_open_ends() -> None:
    """999 resamples know nothing of one error in a thousand on either side."""
    rng = np.random.default_rng(3)
    cells = [rng.normal(middle, 1, 12) for middle in (0, 1)]
    (closed,), (open_,) = (effects_of_factors(cells, (2,), level) for level in (0.998, 0.999))
    assert closed.changes[0].interval.low < closed.changes[0].by < closed.changes[0].interval.high
    assert (open_.changes[0].interval.low, open_.changes[0].interval.high) == (-np.inf, np.inf)
    assert open_.p == closed.p


def test_a_failure_is_refused() -> None:
    """An infinite value has no mean with others."""
    with pytest.raises(ValueError, match="not finite"):
        effects_of_factors([np.append(np.zeros(6), np.inf), np.zeros(7)], (2,), 0.95)
