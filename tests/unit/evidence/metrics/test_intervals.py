# SPDX-License-Identifier: Apache-2.0
"""Sets of ranges against sets of integers."""

from __future__ import annotations

import random

from quiclab.evidence.metrics.intervals import IntervalSet


def test_ranges_behave_like_sets_of_integers() -> None:
    """A thousand random ranges: what is new, and how far each point reaches, as plain sets say."""
    rng = random.Random(7)
    for _ in range(20):
        ranges, numbers = IntervalSet(), set[int]()
        for _ in range(50):
            start = rng.randrange(200)
            end = start + rng.randrange(-1, 20)
            new = ranges.add(start, end)
            expected = set(range(start, end)) - numbers
            assert [number for low, high in new for number in range(low, high)] == sorted(expected)
            numbers |= expected
            point = rng.randrange(220)
            assert ranges.reach(point) == next(number for number in range(point, 500) if number not in numbers)
