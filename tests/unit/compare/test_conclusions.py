# SPDX-License-Identifier: Apache-2.0
"""What comparisons amount to beside what matters: every conclusion, the tail, and the levels of intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from quiclab.compare.cell_comparison import arm_result, compare, decide_all
from quiclab.compare.conclusions import conclude_all
from quiclab.compare.model import ArmResult, Comparison, Conclusion, Metric, TailState, TrialResult
from quiclab.compare.tail_quantiles import tail_notes

TTLB = Metric("ttlb_ms", "time to last byte", "ms", lower_is_better=True)
MATTERS = 2.0
Times = npt.NDArray[np.float64]


def arm(name: str, values: Sequence[float] | Times, voids: int = 0) -> ArmResult:
    """An arm with one verified trial per value."""
    trials = [TrialResult(f"{name}{block}", block, "verified", float(v), "") for block, v in enumerate(values)]
    return arm_result(name, trials, len(trials) + voids, voids, TTLB)


def concluded(*cells: tuple[ArmResult, ArmResult], matters_pct: float = MATTERS) -> list[Comparison]:
    """The cells as one family."""
    compared = [compare(("c", "main", "w", "p"), *arms, TTLB, 0.05) for arms in cells]
    return conclude_all([(each, TTLB) for each in decide_all(compared, 0.05)], 0.05, matters_pct)


def cell(ratio: float, noise: float, pairs: int = 40, seed: int = 1) -> tuple[ArmResult, ArmResult]:
    """Times of about 100 ms in blocks that differ by 20 %; those of the second arm are `ratio` times as long."""
    rng = np.random.default_rng(seed)
    block = 100 * rng.lognormal(0, 0.2, pairs)
    one, other = (block * rng.lognormal(0, noise, pairs) for _ in range(2))
    return arm("h2", one), arm("h3", ratio * other)


@pytest.mark.parametrize(
    ("ratio", "noise", "conclusion"),
    [
        (0.9, 0.01, Conclusion.DIFFERENT),
        (0.995, 0.002, Conclusion.SMALL),
        (0.983, 0.02, Conclusion.PERHAPS_SMALL),
        (1.0, 0.1, Conclusion.UNDECIDED),
    ],
)
def test_every_conclusion(ratio: float, noise: float, conclusion: Conclusion) -> None:
    """By the interval that is printed, and nothing else."""
    (found,) = concluded(cell(ratio, noise))
    assert found.conclusion is conclusion
    assert found.interval_pct is not None
    within = found.interval_pct.low > -MATTERS and found.interval_pct.high < MATTERS
    excludes_zero = found.interval_pct.high < 0
    assert (within, excludes_zero) == {
        Conclusion.DIFFERENT: (False, True),
        Conclusion.SMALL: (True, True),
        Conclusion.PERHAPS_SMALL: (False, True),
        Conclusion.UNDECIDED: (False, False),
    }[conclusion]


def test_alike_takes_the_tail_too() -> None:
    """Forty quiet pairs are alike; thirty-five say nothing of the tail; no pair, nothing at all."""
    (alike,), (few,), (none,) = (concluded(cell(1.0, 0.003, pairs=n)) for n in (40, 35, 0))
    assert (alike.conclusion, alike.tail and alike.tail.state) == (Conclusion.ALIKE, TailState.ALIKE)
    assert (few.conclusion, few.tail and few.tail.state) == (Conclusion.MEDIAN_ALIKE, TailState.NOT_KNOWN)
    assert few.tail is not None
    assert few.tail.pairs_needed == 36
    assert none.conclusion is Conclusion.NOT_MEASURED


def test_an_arm_that_stalls_in_a_quarter_of_its_trials_is_never_called_alike() -> None:
    """200 ms more than an ordinary 190 ms, one time in four: the margin is 5 %, and the median of the pairs is within
    it in many of these studies; p90 is not."""
    rng, words, tails = np.random.default_rng(4), [], []
    for _ in range(60):
        stalls = np.where(rng.random(60) < 0.25, 200.0, 0.0)
        one, other = 190 * rng.lognormal(0, 0.002, 60) + stalls, 190 * rng.lognormal(0, 0.002, 60)
        (found,) = concluded((arm("h2", one), arm("h3", other)), matters_pct=5)
        assert found.tail is not None
        words.append(found.conclusion)
        tails.append(found.tail.state)
    assert Conclusion.ALIKE not in words
    assert tails.count(TailState.DIFFERENT) >= 55
    assert found.tail.difference_pct is not None
    assert found.tail.difference_pct == pytest.approx(100 * (190 / 390 - 1), abs=3)


def test_an_answer_about_the_median_only_says_so() -> None:
    """Few pairs: the tail is not known, and how many tell of it; forty: nothing is left to say."""
    few, enough = (concluded(cell(1.0, 0.003, pairs=n)) for n in (20, 40))
    (note,) = tail_notes(few, MATTERS)
    assert "could not be compared: that takes 36 pairs, and there are 20 pairs." in note
    assert tail_notes(enough, MATTERS) == ()


def test_nothing_is_like_nothing() -> None:
    """A count that is zero in every trial of both arms has no per cent, and is the same all the same."""
    (found,) = concluded((arm("h2", [0.0] * 40), arm("h3", [0.0] * 40)))
    assert (found.conclusion, found.difference) == (Conclusion.ALIKE, 0)


def test_intervals_of_selected_cells_are_wider() -> None:
    """Three of nine cells are different and two alike: 1 − 3 × 0.05 / 9, and 1 − 2 × 0.05 / 9; the others have 95 %,
    but for one that would be different without the correction."""
    clear = [cell(0.8, 0.01, seed=seed) for seed in range(3)]
    alike = [cell(1.0, 0.002, seed=seed) for seed in range(3, 5)]
    open_ones = [cell(1.0, 0.1, seed=seed) for seed in (15, 16, 17, 19)]
    found = concluded(*clear, *alike, *open_ones)
    assert [each.conclusion.found for each in found] == [True] * 3 + [False] * 6
    levels = [1 - 0.15 / 9] * 3 + [1 - 0.1 / 9] * 2 + [1 - 0.15 / 9] + [0.95] * 3
    assert [each.confidence for each in found] == pytest.approx(levels)
    for each in found[:5]:
        assert each.interval_pct is not None
        assert each.interval_pct.confidence >= each.confidence


def test_an_interval_and_its_adjusted_p_say_the_same() -> None:
    """Studies of six cells of eight pairs, some with a difference: the interval that is shown leaves 0 out exactly
    where the adjusted p is at most the level, and the cell is called different."""
    rng, corrected = np.random.default_rng(13), 0
    for _ in range(150):
        cells = [
            (arm("h2", 100 * rng.lognormal(0, 0.05, 8)), arm("h3", ratio * 100 * rng.lognormal(0, 0.05, 8)))
            for ratio in (0.9, 0.95, 0.97, 1.0, 1.0, 1.0)
        ]
        for each in concluded(*cells):
            interval, p = each.interval_pct, each.adjusted_p
            assert p is not None
            assert each.p is not None
            excluded = interval is not None and not interval.low <= 0 <= interval.high
            assert excluded == (p <= 0.05) == each.conclusion.found
            corrected += each.p <= 0.05 < p
    assert corrected > 10


def test_of_the_intervals_of_selected_cells_few_miss() -> None:
    """Nine cells of ten pairs, three with 2 % and noise of 3 %: of the intervals of those that are called different at
    most 5 % miss on average; at 95 % each, 15 % or more would."""
    rng, missed, usual = np.random.default_rng(11), [], []
    for _ in range(80):
        truth = [0.98] * 3 + [1.0] * 6
        cells = [
            (arm("h2", 100 * rng.lognormal(0, 0.03, 10)), arm("h3", ratio * 100 * rng.lognormal(0, 0.03, 10)))
            for ratio in truth
        ]
        found = concluded(*cells)
        selected = [(each, 100 * (t - 1)) for each, t in zip(found, truth, strict=True) if each.conclusion.found]
        for rates, at in ((missed, None), (usual, 0.05)):
            misses = [not _holds(each, pct, at) for each, pct in selected]
            rates.append(sum(misses) / len(misses) if misses else 0.0)
    assert np.mean(missed) <= 0.05 + 3 * np.std(missed) / np.sqrt(len(missed))
    assert np.mean(usual) > np.mean(missed)


def _holds(found: Comparison, pct: float, alpha: float | None) -> bool:
    if alpha is not None:
        found = compare(("c", "main", "w", "p"), found.baseline, found.other, TTLB, alpha)
    assert found.interval_pct is not None
    return found.interval_pct.low <= pct <= found.interval_pct.high


def test_cells_exactly_at_the_margin_are_seldom_called_alike() -> None:
    """Eight cells whose true difference is what matters, found or not: in one study of forty any of them is said to
    be less, and not in every fifth."""
    rng, runs = np.random.default_rng(12), 80
    wrong = 0
    for _ in range(runs):
        cells = [
            (arm("h2", 100 * rng.lognormal(0, 0.01, 12)), arm("h3", 98 * rng.lognormal(0, 0.01, 12))) for _ in range(8)
        ]
        said = [each.conclusion for each in concluded(*cells)]
        wrong += any(each in (Conclusion.ALIKE, Conclusion.MEDIAN_ALIKE, Conclusion.SMALL) for each in said)
    assert wrong / runs <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / runs)
