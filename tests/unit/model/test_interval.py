# SPDX-License-Identifier: Apache-2.0
"""Intervals in other units."""

from __future__ import annotations

import math

from quiclab.compare.statistics import Interval


def test_a_negative_factor_swaps_the_ends() -> None:
    """Turning the sign keeps low below high, infinities included."""
    assert Interval(-2.0, math.inf, 0.95).scaled(-10) == Interval(-math.inf, 20.0, 0.95)
