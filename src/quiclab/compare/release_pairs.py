# SPDX-License-Identifier: Apache-2.0
"""Pairs of arms of one cell, each arm a release of one program, compared at a level that holds for a whole search.

The arms of a study are compared with one baseline. A search among releases asks for others: the ends, their halves,
neighbours. Whatever it asks for, in whatever order and however often it looks, is judged by the sequential test at
alpha divided by the number of pairs that it can ask for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from quiclab.compare import statistics
from quiclab.compare.analyse import alpha_of, matters_of, measured_cells, metric_of, usual_metric
from quiclab.compare.cell_comparison import compare
from quiclab.compare.conclusions import conclude_by_sequence, lies_within
from quiclab.compare.model import ArmResult, Comparison, Conclusion, Metric
from quiclab.compare.sequential import sequentially
from quiclab.compare.study import Study
from quiclab.model.history_record import HistoryRecord, most_pairs

Pair = tuple[str, str]
"""Names of two arms, that of the older release first."""
_LEAST_FAILED = 2
"""Trials of an arm that must all have failed before it is said that none can succeed."""


@dataclass(frozen=True)
class PairsCompared:
    """Pairs of a study, compared."""

    metric: Metric
    alpha: float
    """Level of all pairs together that a search can ask for."""
    matters_pct: float
    comparisons: Mapping[Pair, Comparison]
    """Pair → comparison, in which the older release is the baseline; none of a pair without trials of both."""
    arms: Mapping[str, ArmResult]
    """Arms with trials."""

    @property
    def failing(self) -> dict[str, str]:
        """Arms whose trials all failed, each with the reason of the last."""
        return {
            name: arm.trials[-1].reason
            for name, arm in self.arms.items()
            if len(arm.trials) >= _LEAST_FAILED and arm.failures == len(arm.trials)
        }

    def is_step(self, pair: Pair) -> bool:
        """True if the whole interval of a pair is more than what matters, on one side."""
        found = self.comparisons.get(pair)
        if found is None or not found.outcome.significant or found.interval_pct is None:
            return False
        return found.interval_pct.low >= self.matters_pct or found.interval_pct.high <= -self.matters_pct

    def is_same(self, pair: Pair) -> bool:
        """True if the whole interval of a pair is less than what matters."""
        found = self.comparisons.get(pair)
        return (
            found is not None
            and found.conclusion not in (Conclusion.NOT_JUDGED, Conclusion.NOT_MEASURED)
            and lies_within(found, self.matters_pct)
        )


def compare_pairs(study: Study, pairs: Sequence[Pair], family: int) -> PairsCompared:
    """Compare pairs of arms of the study's first main cell, at its alpha for `family` pairs together."""
    metric = metric_of(study, usual_metric(study))
    alpha, matters_pct = alpha_of(study), matters_of(study)
    cells = (each for each in measured_cells(study, metric) if each[0][1] == "main")
    place, _, arms = next(cells, (("", "main", "", ""), {}, {}))
    known = [pair for pair in pairs if all(arms[each].attempts if each in arms else 0 for each in pair)]
    plain = [compare(place, arms[older], arms[newer], metric, alpha) for older, newer in known]
    # Of these pairs alone, at the share of the level that they have in the family.
    share = alpha * len(known) / max(family, len(known), 1)
    found = conclude_by_sequence(sequentially(plain, metric, share), metric, share, matters_pct) if plain else []
    told = [
        replace(each, adjusted_p=None if each.p is None else min(1.0, each.p * max(family, len(known))))
        for each in found
    ]
    return PairsCompared(
        metric,
        alpha,
        matters_pct,
        dict(zip(known, told, strict=True)),
        {name: arm for name, arm in arms.items() if arm.trials},
    )


def least_pairs(alpha: float, family: int) -> int:
    """Fewest pairs with which one pair of releases can be shown to differ, where `family` may be compared."""
    pairs = 1
    while statistics.anytime_p(np.ones(pairs)) * family > alpha:
        pairs += 1
    return pairs


def neighbour_steps(study: Study, record: HistoryRecord) -> tuple[PairsCompared, dict[str, Pair]]:
    """Neighbours among the releases that have trials, compared at the level of a search among all of them; and the
    releases that differ from the one before: release → that pair."""
    nothing = compare_pairs(study, (), 1)
    measured = [each.arm for each in record.releases if each.arm in nothing.arms and each.arm not in nothing.failing]
    pairs = list(pairwise(measured))
    found = compare_pairs(study, pairs, most_pairs(len(record.releases)))
    return found, {pair[1]: pair for pair in pairs if found.is_step(pair)}
