# SPDX-License-Identifier: Apache-2.0
"""When a number agrees with a paper's: by hand, and by simulation of papers that are wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from quiclab.compare.papers.claim_numbers import Number
from quiclab.compare.papers.claim_verdict import Verdict, claim_verdict, number_verdict
from quiclab.compare.papers.paper import Expected
from quiclab.compare.statistics import Interval, hodges_lehmann, per_cent


def advantage(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Interval of the advantage within pairs, in per cent of the first."""
    interval = hodges_lehmann(np.log(first / second), 0.95).interval
    assert interval is not None
    return -per_cent(-interval.low), -per_cent(-interval.high)


HALF = Expected("50 %", "", 49.5, 50.5, "%")
TOO_WIDE = "Our interval holds the paper's number, and clearly different ones too."


def ours(low: float, high: float, *, advantage: bool = True, unit: str = "%") -> Number:
    """A number with this interval."""
    return Number((low + high) / 2, Interval(low, high, 0.95), unit, 20, advantage=advantage)


@pytest.mark.parametrize(
    ("low", "high", "verdict", "why"),
    [
        (40, 60, Verdict.AGREES, ""),
        (37, 63, Verdict.AGREES, ""),
        (36, 60, Verdict.INCONCLUSIVE, TOO_WIDE),
        (45, 64, Verdict.INCONCLUSIVE, TOO_WIDE),
        (20, 55, Verdict.INCONCLUSIVE, TOO_WIDE),
        (-1, 60, Verdict.INCONCLUSIVE, "Our interval holds the paper's number, and zero too."),
        (51, 52, Verdict.DIFFERS, "Our interval excludes the paper's number."),
    ],
)
def test_an_interval_must_be_narrow(low: float, high: float, verdict: Verdict, why: str) -> None:
    """Of 50 % all within a quarter, 37 to 63 % with its printed digits, is not clearly another number."""
    assert number_verdict(HALF, ours(low, high)) == (verdict, why)


def test_small_advantages_have_five_points() -> None:
    """Nobody tells 4 % from 6 %; but none at all is another number, and of one arm's share a quarter counts."""
    small = Expected("4 %", "", 3.5, 4.5, "%")
    assert number_verdict(small, ours(0.5, 9))[0] is Verdict.AGREES
    assert number_verdict(small, ours(0.5, 10))[0] is Verdict.INCONCLUSIVE
    assert number_verdict(small, ours(-0.5, 9))[0] is Verdict.INCONCLUSIVE
    assert number_verdict(small, ours(0.5, 9, advantage=False))[0] is Verdict.INCONCLUSIVE
    assert number_verdict(small, ours(3, 5, advantage=False))[0] is Verdict.AGREES


def test_a_quarter_is_of_the_papers_number_in_our_unit() -> None:
    """15 s are 14.5 to 15.5 s, and 3.75 s either way are not clearly another; none of nothing is none."""
    seconds = Expected("15 s", "", 14.5, 15.5, "s")
    assert number_verdict(seconds, ours(10_800, 19_200, advantage=False, unit="s"))[0] is Verdict.DIFFERS
    assert number_verdict(seconds, ours(10.8, 19.2, advantage=False, unit="s"))[0] is Verdict.AGREES
    assert number_verdict(seconds, ours(10.6, 19.2, advantage=False, unit="s"))[0] is Verdict.INCONCLUSIVE
    none = Expected("0", "", -0.5, 0.5, "")
    assert number_verdict(none, ours(0, 0, advantage=False, unit=""))[0] is Verdict.AGREES
    assert number_verdict(none, ours(0, 1, advantage=False, unit=""))[0] is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("low", "high", "verdict", "why"),
    [
        (13.6, 16.4, Verdict.AGREES, ""),
        (15.9, 16.1, Verdict.AGREES, ""),
        (13.4, 16.4, Verdict.INCONCLUSIVE, "Our interval reaches beyond the margin."),
        (16.6, 17, Verdict.DIFFERS, "Our interval excludes the paper's number and its margin."),
    ],
)
def test_with_a_margin_the_whole_interval_counts(low: float, high: float, verdict: Verdict, why: str) -> None:
    """15 s to within 10 %: 16 s agree though they are not what is printed."""
    expected = Expected("15 s", "", 13.5, 16.5, "s", "10 %")
    assert number_verdict(expected, ours(low, high, advantage=False, unit="s")) == (verdict, why)


@pytest.mark.parametrize("pairs", [10, 20, 40])
@pytest.mark.parametrize("noise", [0.1, 0.3, 0.5])
def test_a_paper_that_is_wrong_by_half_hardly_ever_agrees(pairs: int, noise: float) -> None:
    """The truth is 25 %, the paper says 50 %: it agrees no oftener than an interval misses on one side."""
    rng = np.random.default_rng(12)
    verdicts = []
    for _ in range(400):
        first, second = 100 * rng.lognormal(0, noise, pairs), 75 * rng.lognormal(0, noise, pairs)
        verdicts.append(number_verdict(HALF, ours(*advantage(first, second)))[0])
    assert np.mean([verdict is Verdict.AGREES for verdict in verdicts]) <= 0.025
    assert noise > 0.1 or np.mean([verdict is Verdict.DIFFERS for verdict in verdicts]) > 0.95


def test_a_paper_that_is_right_agrees_where_the_noise_allows() -> None:
    """20 pairs with 10 % of noise are enough to say that 50 % is right, as often as the interval holds it."""
    rng = np.random.default_rng(13)
    verdicts = []
    for _ in range(400):
        first, second = 100 * rng.lognormal(0, 0.1, 20), 50 * rng.lognormal(0, 0.1, 20)
        verdicts.append(number_verdict(HALF, ours(*advantage(first, second)))[0])
    assert np.mean([verdict is Verdict.AGREES for verdict in verdicts]) > 0.9


@pytest.mark.parametrize(
    ("cells", "verdict"),
    [
        ([Verdict.AGREES, Verdict.NOT_TESTABLE], Verdict.AGREES),
        ([Verdict.AGREES, Verdict.NOT_JUDGED], Verdict.NOT_JUDGED),
        ([Verdict.NOT_JUDGED, Verdict.INCONCLUSIVE], Verdict.INCONCLUSIVE),
        ([Verdict.NOT_JUDGED, Verdict.DIFFERS], Verdict.DIFFERS),
        ([Verdict.NOT_TESTABLE], Verdict.NOT_TESTABLE),
        ([], Verdict.NOT_TESTABLE),
    ],
)
def test_cells_that_were_not_judged_leave_a_claim_not_judged(cells: list[Verdict], verdict: Verdict) -> None:
    """Unless another cell decides it, or leaves it open by its own trials."""
    assert claim_verdict(cells) is verdict
