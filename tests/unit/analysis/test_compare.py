# SPDX-License-Identifier: Apache-2.0
"""One comparison: numbers and outcome from hand-made trials."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quiclab.analysis.compare import arm_result, compare, decide, decide_all
from quiclab.analysis.comparison_words import trouble
from quiclab.analysis.model import ArmResult, Comparison, Metric, Outcome, TrialResult

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
    """Medians 103.5 and 81.5: 21.26 per cent, p of 2 in 256, shift and interval of one sign."""
    found = decided(arm("h2", SLOW), arm("h3", FAST))
    assert found.difference_pct == pytest.approx(100 * 22 / 103.5)
    assert found.p == 2 / 256
    assert found.outcome is Outcome.OTHER_BETTER
    assert found.interval_pct is not None
    assert 0 < found.interval_pct.low <= (found.shift_pct or 0) <= found.interval_pct.high


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


def test_a_contradiction_is_not_an_answer() -> None:
    """Where medians and pairs disagree in sign, the cell is undecided whatever p says."""
    baseline: list[float | None] = [1.0, 2, 3, 4, 50, 60, 70, 80, 90]
    other: list[float | None] = [0.9, 1.9, 2.9, 3.9, 51, 59, 69, 79, 89]
    found = decide(compare(("c", "main", "w", "p"), arm("h2", baseline), arm("h3", other), TTLB, 0.05), 0.01, 0.05)
    assert found.outcome is Outcome.UNDECIDED
    assert "opposite directions" in found.why


def test_too_few_pairs_are_undecided_and_not_alike() -> None:
    """Five pairs cannot reach 0.05 whatever they show, which is no proof that the arms are alike."""
    found = decided(arm("h2", SLOW[:5]), arm("h3", FAST[:5]))
    assert found.outcome is Outcome.UNDECIDED
    assert found.why == "Too few pairs: 5 cannot show any difference at 0.05."


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
    assert seven[0].why == "Too few pairs: 8 cannot show any difference at 0.05 after the correction over all cells."
    lone = family(20.0, *[0.0] * 6)
    assert lone[0].outcome is Outcome.UNDECIDED
    assert [each.outcome for each in lone[1:]] == [Outcome.NOT_SIGNIFICANT] * 6
    two = family(20.0, 20.0, *[0.0] * 5)
    assert [each.outcome for each in two] == [Outcome.OTHER_BETTER] * 2 + [Outcome.NOT_SIGNIFICANT] * 5


def test_a_refused_cell_lends_the_others_no_significance() -> None:
    """Nine cells, three of them clear, two of these on a machine that was too slow: the third stands alone among seven,
    and is not significant by the help of tests that nobody may trust."""
    cells = family(20.0, 20.0, 20.0, *[0.0] * 6)
    assert [each.outcome for each in cells[:3]] == [Outcome.OTHER_BETTER] * 3
    ridden = [replace(each, other=replace(each.other, voids=8, attempts=16)) for each in cells[:2]]
    found = decide_all([*ridden, *cells[2:]], 0.05)
    assert [each.outcome for each in found[:2]] == [Outcome.UNDECIDED] * 2
    assert all("Machine too slow" in each.why and each.adjusted_p is None for each in found[:2])
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
