# SPDX-License-Identifier: Apache-2.0
"""The step-up procedure by intervals: which of several statements hold, at a level that depends on how many do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

T = TypeVar("T")


def step_up(
    candidates: Mapping[int, T],
    tested: int,
    alpha: float,
    at_level: Callable[[T, float], T],
    holds: Callable[[T], bool],
) -> dict[int, T]:
    """Candidates for which the statement holds, with their intervals at the level that decided.

    Of `tested` questions R are answered so, where R is the largest number such that the statement holds of R intervals
    at 1 − R × alpha / tested. That is Benjamini and Hochberg's procedure (1995), and these are Benjamini and
    Yekutieli's intervals (2005) for what it selects.
    """
    left = dict(candidates)
    for number in range(len(left), 0, -1):
        level = 1 - alpha * number / max(1, tested, number)
        wider = {key: at_level(each, level) for key, each in left.items()}
        left = {key: each for key, each in wider.items() if holds(each)}  # the intervals only grow
        if len(left) >= number:
            return left
    return {}
