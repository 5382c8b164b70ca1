# SPDX-License-Identifier: Apache-2.0
"""The difference in per cent, as all tables and figures define it."""

from __future__ import annotations

import math


def difference_pct(baseline_median: float, other_median: float, *, lower_is_better: bool = True) -> float | None:
    """(baseline − other) / baseline × 100: positive where the other arm is better.

    Where higher is better the sign is reversed, so that positive still means "the other arm is better". None where the
    difference has no meaning: a baseline of zero, or a median that is unknown or censored.
    """
    if not (math.isfinite(baseline_median) and math.isfinite(other_median)) or baseline_median == 0:
        return None
    difference = (baseline_median - other_median) / baseline_median * 100
    return difference if lower_is_better else -difference
