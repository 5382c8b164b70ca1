# SPDX-License-Identifier: Apache-2.0
"""Predicted effects of an arm, from those of its trials."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.prediction.in_arm import TrialEffect, Without, predicted_in

_NAME = "receive_window_limited"


def _trial(least_ms: float, most_ms: float, both_ms: float | None = None) -> dict[Without, TrialEffect]:
    found: dict[Without, TrialEffect] = {
        (_NAME, None): TrialEffect(least_ms, most_ms, Why.SLOW_START if both_ms else None)
    }
    if both_ms:
        found[_NAME, "slow_start"] = TrialEffect(both_ms, both_ms, None)
    return found


def test_interval_reaches_from_the_least_to_the_most_of_the_median_trial() -> None:
    found = predicted_in([_trial(10 + at, 20 + at) for at in range(5)], _NAME, 0.05)
    assert found is not None
    assert (found.gone.low_ms, found.gone.high_ms, found.gone.trials) == (10, 24, 5)
    assert found.next is None
    assert found.gone_of_both is None


def test_limit_that_holds_next_in_most_trials_is_told_with_the_effect_of_both() -> None:
    found = predicted_in([*[_trial(1, 2, 40) for _ in range(3)], _trial(1, 2)], _NAME, 0.05)
    assert found is not None
    assert found.next is not None
    assert found.gone_of_both is not None
    assert found.next.name == "slow_start"
    assert found.gone_of_both.low_ms == 40


def test_nothing_is_predicted_where_too_few_trials_tell() -> None:
    assert predicted_in([_trial(1, 2), _trial(1, 2), *[{} for _ in range(5)]], _NAME, 0.05) is None
    assert predicted_in([_trial(1, 2), _trial(1, 2)], _NAME, 0.05) is None
    assert predicted_in([], _NAME, 0.05) is None
