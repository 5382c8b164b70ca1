# SPDX-License-Identifier: Apache-2.0
"""Cliff's delta within pairs and its interval."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from by_night import by_night
from scipy.stats import multinomial

from quiclab.compare.statistics import Interval, cliffs_delta_within

FloatArray = npt.NDArray[np.float64]


def delta_interval(above: int, below: int, pairs: int) -> Interval:
    """Of so many pairs above, below and, for the rest, at zero."""
    differences = np.concatenate([np.ones(above), -np.ones(below), np.zeros(pairs - above - below)])
    interval = cliffs_delta_within(differences, 0.95).interval
    assert interval is not None
    return interval


@functools.cache
def intervals(pairs: int) -> dict[tuple[int, int], Interval]:
    """Of every outcome: pairs above and below zero. Those of one difference have one interval."""
    spans = {net: delta_interval(max(net, 0), max(-net, 0), pairs) for net in range(-pairs, pairs + 1)}
    return {(x, y): spans[x - y] for x in range(pairs + 1) for y in range(pairs + 1 - x)}


def coverage(pairs: int, above: float, tied: float) -> float:
    """Exactly: the chance of all outcomes whose interval holds the truth, of pairs with these probabilities."""
    truth = 2 * above + tied - 1
    spans = {(x, y): span for (x, y), span in intervals(pairs).items() if tied or x + y == pairs}
    inside = [(x, y, pairs - x - y) for (x, y), span in spans.items() if span.low <= truth <= span.high]
    return float(multinomial.pmf(inside, pairs, [above, max(0.0, 1 - above - tied), tied]).sum()) if inside else 0.0


def test_counts_who_is_larger() -> None:
    """Of six pairs three lie above zero, two below, one is a tie; what is unknown is no pair."""
    found = cliffs_delta_within(np.array([1.0, 2, math.inf, -1, -math.inf, 0, math.nan]), 0.95)
    assert found.estimate == pytest.approx((3 - 2) / 6)
    assert (found.above, found.below) == (3, 2)


def test_nothing_of_nothing() -> None:
    """No pair, no delta; two pairs, no interval."""
    assert math.isnan(cliffs_delta_within(np.array([]), 0.95).estimate)
    assert cliffs_delta_within(np.array([1.0, 2]), 0.95).interval is None


def test_known_intervals() -> None:
    """Ten of ten: Clopper and Pearson's 0.025^(1/10); twenty of twenty: mid-p's 0.05^(1/20); both as shares of 1."""
    assert delta_interval(10, 0, 10).low == pytest.approx(2 * 0.025 ** (1 / 10) - 1)
    assert delta_interval(20, 0, 20).low == pytest.approx(2 * 0.05 ** (1 / 20) - 1)
    assert delta_interval(20, 0, 20).high == 1
    mirrored = delta_interval(4, 21, 25), delta_interval(21, 4, 25)
    assert (mirrored[0].low, mirrored[0].high) == pytest.approx((-mirrored[1].high, -mirrored[1].low))


@pytest.mark.parametrize("pairs", [6, 19, *by_night(3, 12)])
@pytest.mark.parametrize("tied", [0.0, 0.1, 0.5])
def test_of_fewer_than_twenty_pairs_it_holds_at_least_what_it_says(pairs: int, tied: float) -> None:
    """Computed, not simulated, for shares over the whole range, with ties and without."""
    assert min(coverage(pairs, above, tied) for above in np.linspace(0, 1 - tied, 14)) >= 0.95


@pytest.mark.parametrize("pairs", [20, *by_night(30, 45)])
def test_from_twenty_pairs_it_holds_about_what_it_says(pairs: int) -> None:
    """Computed: without ties 93 to 97 % on the average of all shares up to 0.9, and nowhere far from it; near the edge
    and with ties never less."""
    within = [coverage(pairs, above, 0) for above in np.linspace(0.5, 0.9, 25)]
    assert 0.93 <= np.mean(within) <= 0.97
    assert min(within) >= 0.92
    assert np.mean(within[:20]) <= 0.965
    assert min(coverage(pairs, above, 0) for above in (0.97, 0.99, 0.999)) >= 0.93
    assert min(coverage(pairs, above, 0.2) for above in np.linspace(0, 0.8, 8)) >= 0.95


SHAPES: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "normal": lambda rng, n: rng.normal(0, 1, n),
    "skewed": lambda rng, n: rng.lognormal(0, 1, n),
    "bimodal": lambda rng, n: rng.choice([0.0, 5.0], n) + rng.normal(0, 0.3, n),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("shared", [3.0, *by_night(0.0)])
@pytest.mark.parametrize("shift", [0.5, *by_night(0.0)])
def test_what_a_block_shares_does_not_matter(shape: str, shared: float, shift: float) -> None:
    """Two arms with and without large luck of their block in common: 93 to 97 % of the intervals hold the truth."""
    rng = np.random.default_rng(5)
    draw, runs, pairs = SHAPES[shape], 2000, 24

    def differences(n: int) -> FloatArray:
        luck = shared * rng.lognormal(0, 1, n)
        return (luck + draw(rng, n) + shift) - (luck + draw(rng, n))

    many = differences(400_000)
    truth = float((many > 0).mean() - (many < 0).mean())
    found = [cliffs_delta_within(differences(pairs), 0.95).interval for _ in range(runs)]
    assert 0.93 <= np.mean([each is not None and each.low <= truth <= each.high for each in found]) <= 0.97


def test_arms_nearly_apart() -> None:
    """One pair in fifty the other way: the interval holds at least what it says, as every interval of such shares."""
    rng = np.random.default_rng(6)
    found = [cliffs_delta_within(np.where(rng.random(25) < 0.02, -1.0, 1.0), 0.95).interval for _ in range(2000)]
    assert np.mean([each is not None and each.low <= 0.96 <= each.high for each in found]) >= 0.94
