# SPDX-License-Identifier: Apache-2.0
"""Inference over occasions, each one value: does a cell's result also hold for other occasions?

The deciding test needs no strata: its pairs lie within blocks, blocks within occasions, so that what an occasion does
to both arms cancels, and signs may be flipped in each block whatever occasion it is of. What no test within occasions
can know is how much the *difference* itself varies from one to the next. So the mean of the occasions' medians gets
Student's interval, with one degree of freedom fewer than there are occasions. Of m cells it is said of R, where R is
the largest number such that R of these intervals at 1 − R × alpha / m bear out what is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from quiclab.compare import statistics
from quiclab.compare.differences_by_block import differences_by_block, has_ratios
from quiclab.compare.model import Comparison, Conclusion, Metric
from quiclab.compare.statistics import Interval
from quiclab.compare.step_up import step_up

LEAST_OCCASIONS = 3
"""Fewest occasions for an interval over them: from two it would hold nearly everything."""
_FOUND = (Conclusion.DIFFERENT, Conclusion.PERHAPS_SMALL)

Occasions = Mapping[str, int]
"""Trial → occasion of its last attempt."""
Cell = tuple[str, str]
"""Cell and other arm of a comparison."""


@dataclass(frozen=True)
class _Candidate:
    """A comparison that has a result, and the interval of its mean over occasions."""

    comparison: Comparison
    medians: tuple[float, ...]
    interval: Interval | None = None
    """Interval of that mean, in per cent of the baseline's value."""


def by_occasion(comparison: Comparison, metric: Metric, of: Occasions) -> dict[int, dict[int, float]]:
    """Occasion → block → difference. A block whose trials are of two occasions is of neither."""
    occasions = [
        {trial.block: of[trial.trial_id] for trial in arm.trials if trial.trial_id in of}
        for arm in (comparison.baseline, comparison.other)
    ]
    found: dict[int, dict[int, float]] = {}
    for block, difference in differences_by_block(comparison, metric).items():
        first, second = (each.get(block) for each in occasions)
        if first is not None and first == second:
            found.setdefault(first, {})[block] = difference
    return dict(sorted(found.items()))


def medians_of(blocks_by_occasion: Mapping[int, Mapping[int, float]]) -> tuple[float, ...]:
    """Median difference of each occasion."""
    return tuple(statistics.median(np.array(list(blocks.values()))) for blocks in blocks_by_occasion.values())


def claimed(comparison: Comparison) -> bool:
    """True if anything is said of the comparison that could hold for other occasions too."""
    return comparison.conclusion.found or comparison.conclusion.decided


def held_over_occasions(
    main: Sequence[Comparison], metric: Metric, of: Occasions, alpha: float, matters_pct: float
) -> frozenset[Cell]:
    """Cells whose result (different, alike, ...) also holds for other occasions like those that were measured."""

    def at(each: _Candidate, level: float) -> _Candidate:
        found = statistics.mean(np.array(each.medians), level)
        interval = None if found is None or found.interval is None else in_per_cent(found.interval)
        return _Candidate(each.comparison, each.medians, interval)

    def in_per_cent(interval: Interval) -> Interval:
        low, high = (statistics.per_cent(end / 100) for end in (interval.low, interval.high))
        return Interval(low, high, interval.confidence)

    def holds(each: _Candidate) -> bool:
        interval = each.interval
        if interval is None:
            return False
        if each.comparison.conclusion in _FOUND:
            more = (each.comparison.leans > 0) != metric.lower_is_better
            return interval.low > 0 if more else interval.high < 0
        return -matters_pct < interval.low and interval.high < matters_pct

    candidates = {
        place: _Candidate(each, medians)
        for place, each in enumerate(main)
        if claimed(each)
        and has_ratios(each, metric)
        and len(medians := medians_of(by_occasion(each, metric, of))) >= LEAST_OCCASIONS
    }
    found = step_up(candidates, len(main), alpha, at, holds)
    return frozenset((each.comparison.cell_id, each.comparison.other.arm) for each in found.values())
