# SPDX-License-Identifier: Apache-2.0
"""One comparison: numbers and outcome from hand-made trials."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import pytest

from quiclab.compare.cell_comparison import arm_result, compare, decide, decide_all, turned
from quiclab.compare.comparison_words import trouble
from quiclab.compare.model import ArmResult, Comparison, Metric, Outcome, TrialResult

TTLB = Metric("ttlb_ms", "time to last byte", "ms", lower_is_better=True)


def arm(name: str, values: list[float | None], attempts: int = 0, voids: int = 0) -> ArmResult:
    """An arm with one trial per value, None for a failed one."""
    trials = [
        TrialResult(f"{name}{block}", block, "failed" if value is None else "verified", value, "")
        for block, value in enumerate(values)
    ]
    return arm_result(name, trials, attempts or len(values) + voids, voids, TTLB)


def decided(baseline: ArmResult, other: ArmResult) -> Comparison:
    """The comparison as if it were the only cell."""
    comparison = compare(("cell", "main", "w", "p"), baseline, other, TTLB, 0.05)
    return decide(comparison, comparison.p, 0.05)


SLOW: list[float | None] = [100.0, 101, 102, 103, 104, 105, 106, 107]
FAST: list[float | None] = [80.0, 82, 79, 81, 83, 84, 78, 85]


def test_numbers_of_a_clear_cell() -> None:
    """The median of the means of every two log ratios, by hand; p of 2 in 256; the interval has it inside."""
    found = decided(arm("h2", SLOW), arm("h3", FAST))
    logs = [math.log((one or 0) / (two or 1)) for one, two in zip(SLOW, FAST, strict=True)]
    walsh = [(logs[i] + logs[j]) / 2 for i in range(8) for j in range(i, 8)]
    assert found.difference_pct == pytest.approx(100 * (math.exp(-statistics.median(walsh)) - 1))
    assert found.difference_pct == pytest.approx(-20.69, abs=0.01)
    assert found.p == 2 / 256
    assert found.outcome is Outcome.OTHER_BETTER
    assert found.interval_pct is not None
    assert found.interval_pct.low <= found.difference_pct <= found.interval_pct.high < 0


def test_an_unproven_trial_is_left_out_and_counted() -> None:
    """It is no failure, which would rank worst, and no value: its pair does not count."""
    slow = arm("h2", SLOW)
    trials = [*slow.trials[:-1], replace(slow.trials[-1], status="unproven", value=None)]
    found = decided(arm_result("h2", trials, len(trials), 0, TTLB), arm("h3", FAST))
    assert (found.pairs, found.baseline.failures, found.baseline.unproven) == (7, 0, 1)
    assert found.baseline.median == 103
    assert trouble(found.baseline) == "1 unproven"


def test_swapping_the_arms_swaps_the_outcome() -> None:
    """No arm is favoured."""
    assert decided(arm("h2", FAST), arm("h3", SLOW)).outcome is Outcome.BASELINE_BETTER


def test_pairs_decide_where_the_medians_of_the_arms_say_otherwise() -> None:
    """Eight of nine pairs are better with h3, whose median is larger: the pairs share what the medians do not know."""
    baseline: list[float | None] = [1.0, 2, 3, 4, 50, 60, 70, 80, 90]
    other: list[float | None] = [0.9, 1.9, 2.9, 3.9, 51, 59, 69, 79, 89]
    found = decided(arm("h2", baseline), arm("h3", other))
    assert (found.baseline.median or 0) < (found.other.median or 0)
    assert found.outcome is Outcome.OTHER_BETTER


def test_a_typical_pair_without_a_difference_is_no_answer() -> None:
    """Where most pairs are equal and the rest lean to one side, neither arm is called better."""
    baseline: list[float | None] = [100.0] * 23 + [110.0] * 7
    found = decided(arm("h2", baseline), arm("h3", [100.0] * 30))
    assert found.p is not None
    assert found.p <= 0.05
    assert (found.difference_pct, found.outcome) == (0, Outcome.UNDECIDED)
    assert found.why.startswith("The typical pair shows no difference")


@pytest.mark.parametrize("higher", [False, True])
def test_per_cent_are_always_of_the_baseline(higher: bool) -> None:
    """Half of the time is 50 % less, twice the time 100 % more; of a rate, twice is 100 % more, half 50 % less."""
    metric = replace(TTLB, lower_is_better=not higher)

    def pct(ratio: float) -> float | None:
        first = [100.0 * 10**block for block in range(8)]
        arms = [arm_result(name, [TrialResult(str(b), b, "verified", v * by, "") for b, v in enumerate(first)], 8, 0,
                metric) for name, by in (("h2", 1.0), ("h3", ratio))]  # fmt: skip
        return compare(("c", "main", "w", "p"), *arms, metric, 0.05).difference_pct

    assert [pct(0.5), pct(2.0)] == [pytest.approx(-50), pytest.approx(100)]


def test_a_value_of_zero_is_compared_in_the_unit() -> None:
    """No ratio of nothing: whole numbers, below zero where the other arm has less; nothing is invented in per cent."""
    found = decided(arm("h2", [0.0, 3, 4, 5, 6, 7, 8, 9]), arm("h3", [0.0, 1, 2, 2, 3, 3, 4, 4]))
    assert (found.difference_pct, found.interval_pct) == (None, None)
    assert found.difference == -3
    assert found.interval is not None
    assert found.outcome is Outcome.OTHER_BETTER


def test_the_other_way_round_is_the_inverse_ratio() -> None:
    """As if it were compared so, to the last digits."""
    there, back = decided(arm("h2", SLOW), arm("h3", FAST)), decided(arm("h3", FAST), arm("h2", SLOW))
    found = turned(there)
    assert found.difference_pct == pytest.approx(back.difference_pct)
    assert found.interval_pct is not None
    assert back.interval_pct is not None
    assert [found.interval_pct.low, found.interval_pct.high] == pytest.approx(
        [back.interval_pct.low, back.interval_pct.high]
    )
    assert (found.outcome, found.baseline.arm, found.leans) == (back.outcome, "h3", back.leans)


def test_too_few_pairs_are_undecided_and_not_alike() -> None:
    """Five pairs cannot reach 0.05 whatever they show, which is no proof that the arms are alike."""
    found = decided(arm("h2", SLOW[:5]), arm("h3", FAST[:5]))
    assert found.outcome is Outcome.UNDECIDED
    assert found.why == (
        "Too few pairs: with 5, even the clearest difference is not significant at 0.05; 6 are the least for "
        "one comparison, before any correction for several."
    )


def family(*effects: float) -> list[Comparison]:
    """Cells of eight pairs, each with this much between its arms, decided together."""
    noise = (0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7, -0.8)
    cells = [
        (arm("h2", SLOW), arm("h3", [(v or 0) - by + e for v, e in zip(SLOW, noise, strict=True)])) for by in effects
    ]
    return decide_all([compare(("c", "main", "w", "p"), *arms, TTLB, 0.05) for arms in cells], 0.05)


def test_what_the_correction_puts_out_of_reach_is_undecided_and_not_alike() -> None:
    """Eight pairs reach 0.0078: enough for one of six cells, not for one of seven, unless another one differs too."""
    assert [each.outcome for each in family(*[0.0] * 6)] == [Outcome.NOT_SIGNIFICANT] * 6
    seven = family(*[0.0] * 7)
    assert [each.outcome for each in seven] == [Outcome.UNDECIDED] * 7
    assert seven[0].why == (
        "Too few pairs: with 8, even the clearest difference in one cell is not significant at 0.05 after the "
        "correction over all cells."
    )
    lone = family(20.0, *[0.0] * 6)
    assert lone[0].outcome is Outcome.UNDECIDED
    assert [each.outcome for each in lone[1:]] == [Outcome.NOT_SIGNIFICANT] * 6
    two = family(20.0, 20.0, *[0.0] * 5)
    assert [each.outcome for each in two] == [Outcome.OTHER_BETTER] * 2 + [Outcome.NOT_SIGNIFICANT] * 5


def test_a_refused_cell_lends_the_others_no_significance() -> None:
    """Nine cells, three of them clear, two of these without a pair: the third stands alone among seven, and is not
    significant by the help of tests that were not made."""
    cells = family(20.0, 20.0, 20.0, *[0.0] * 6)
    assert [each.outcome for each in cells[:3]] == [Outcome.OTHER_BETTER] * 3
    nothing = [replace(each, pairs=0) for each in cells[:2]]
    found = decide_all([*nothing, *cells[2:]], 0.05)
    assert [each.outcome for each in found[:2]] == [Outcome.NOT_MEASURED] * 2
    assert all(each.adjusted_p is None for each in found[:2])
    assert found[2].adjusted_p == pytest.approx(7 * 2 / 256)
    assert found[2].outcome is Outcome.UNDECIDED
    assert [each.adjusted_p for each in found[3:]] == [each.adjusted_p for each in decide_all(cells[2:], 0.05)[1:]]


def test_no_common_block_is_not_measured() -> None:
    """Without a pair there is no test, and the reason is said."""
    assert decided(arm("h2", SLOW), arm("h3", [])).why == "No pair has both values."


def test_failures_on_both_sides_only() -> None:
    """Nothing succeeded: no answer, not a tie."""
    assert decided(arm("h2", [None] * 8), arm("h3", [None] * 8)).outcome is Outcome.NOT_MEASURED


def test_the_median_trial_is_one_that_was_run() -> None:
    """Of eight trials the fourth smallest."""
    trial = arm("h3", FAST).median_trial
    assert trial is not None
    assert trial.value == 81
