# SPDX-License-Identifier: Apache-2.0
"""An interval with the confidence that it really attains."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """Closed interval; a bound is infinite where the data do not bound that side."""

    low: float
    high: float
    confidence: float
    """The attained confidence level, a share of 1: distribution-free intervals cannot hit a nominal level exactly."""

    def scaled(self, factor: float) -> Interval:
        """Convert the interval to another unit; a negative factor swaps the ends."""
        low, high = sorted((self.low * factor, self.high * factor))
        return Interval(low, high, self.confidence)
