# SPDX-License-Identifier: Apache-2.0
"""Tests and intervals of values that are known only to lie between two ends.

Every estimate here grows with each of the values, and so do both ends of its interval: the Hodges–Lehmann estimate, its
interval and the one-sided p of its test follow from sorted averages of values. So whatever the values are between their
ends, the interval of these values lies between the lower end of the interval of all lower ends and the upper one of all
upper ends, and their p is at most the p of the ends that speak against the difference. Of the sequential test this
holds but for what ranks do to each other: a value that grows may take a rank from a later one. Of samples drawn between
the ends a few have up to twice the p that is told (`tests/unit/compare/test_between_ends.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from quiclab.compare.statistics import Interval, Shift

T = TypeVar("T")


@dataclass(frozen=True)
class Between(Generic[T]):
    """A sample as it was measured, and at both ends of what it may be; all three are one object where it is known."""

    measured: T
    low: T
    high: T

    @property
    def is_known(self) -> bool:
        """True where both ends are the measured sample."""
        return self.low is self.measured and self.high is self.measured


def widened(sample: Between[T], shift_of: Callable[[T], Shift]) -> Shift:
    """The estimate as measured, with the interval that holds those of all samples between the ends."""
    found = shift_of(sample.measured)
    if sample.is_known or found.interval is None:
        return found
    low, high = shift_of(sample.low).interval or found.interval, shift_of(sample.high).interval or found.interval
    ends = min(low.low, found.interval.low), max(high.high, found.interval.high)  # with ties, one of them may be inside
    return Shift(found.estimate, Interval(*ends, found.interval.confidence))


def greatest_p(sample: Between[T], p_of: Callable[[T], float], estimate_of: Callable[[T], float]) -> float:
    """The greatest p of all samples between the ends; 1 where some of them lean to the other side than the measured
    one."""
    p = p_of(sample.measured)
    if sample.is_known:
        return p
    leans = estimate_of(sample.measured)
    against = sample.low if leans > 0 else sample.high
    return max(p, p_of(against)) if estimate_of(against) * leans > 0 else 1.0


def growth(wide: Interval | None, narrow: Interval | None) -> float:
    """The length by which an interval is wider than one within it, at the wider side; infinite ends do not count."""
    if wide is None or narrow is None:
        return 0.0
    grown = (narrow.low - wide.low, wide.high - narrow.high)
    return max((each for each in grown if math.isfinite(each)), default=0.0)
