# SPDX-License-Identifier: Apache-2.0
"""The sign and scale of the difference in per cent."""

from __future__ import annotations

import math

import pytest

from quiclab.compare.statistics import difference_pct


@pytest.mark.parametrize(
    ("baseline", "other", "lower_is_better", "expected"),
    [
        (200.0, 150.0, True, 25.0),
        (150.0, 300.0, True, -100.0),
        (100.0, 150.0, False, 50.0),
        (0.0, 1.0, True, None),
        (math.inf, 1.0, True, None),
        (1.0, math.nan, True, None),
    ],
)
def test_positive_means_the_other_arm_is_better(
    baseline: float, other: float, lower_is_better: bool, expected: float | None
) -> None:
    """In per cent of the baseline; None where that has no meaning."""
    assert difference_pct(baseline, other, lower_is_better=lower_is_better) == expected
