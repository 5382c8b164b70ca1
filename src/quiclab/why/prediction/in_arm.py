# SPDX-License-Identifier: Apache-2.0
"""Predicted effects over the trials of an arm, from the table `predicted_effects`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from quiclab.compare import statistics
from quiclab.model.cause import Why
from quiclab.model.metric_scope import rows_for
from quiclab.why.mechanisms import BY_NAME, Mechanism
from quiclab.why.prediction.conditions import OF_LIMIT

_LEAST_SHARE = 0.5
"""Share of an arm's trials that must have a prediction for the arm to have one."""


@dataclass(frozen=True)
class TrialEffect:
    """Time by which one trial would be shorter."""

    least_ms: float
    most_ms: float
    next_why: Why | None
    """Limit that would hold next."""


Without = tuple[str, str | None]
"""Mechanism that is not there, and a second one; None where it is the only one."""


@dataclass(frozen=True)
class Range:
    """Interval of a median over trials, with what a prediction is not told to."""

    low_ms: float
    """Lower end."""
    high_ms: float
    """Upper end."""
    confidence: float
    """Level that it attains."""
    trials: int
    """Number of trials with a prediction."""

    @property
    def middle_ms(self) -> float:
        """Middle of the interval."""
        return (self.low_ms + self.high_ms) / 2


@dataclass(frozen=True)
class PredictedEffect:
    """Time by which an arm's transfers would be shorter without a mechanism."""

    gone: Range
    """Time that would go."""
    next_why: Why | None
    """Limit that would hold next in most of its trials; None where none would."""
    gone_of_both: Range | None
    """Time that would go without that limit, too; None where that is not evaluated."""

    @property
    def next(self) -> Mechanism | None:
        """The mechanism of the limit that would hold next."""
        name = OF_LIMIT.get(self.next_why) if self.next_why else None
        return BY_NAME[name] if name else None


def effects_in(rows: pl.DataFrame, metric: str) -> dict[str, dict[Without, TrialEffect]]:
    """Trial → what is not there → effect; `rows` are of the table `predicted_effects` of a study."""
    found: dict[str, dict[Without, TrialEffect]] = {}
    columns = ("trial_id", "mechanism", "also_without", "least_ns", "most_ns", "next_why")
    for trial, name, also, least_ns, most_ns, why in rows.filter(rows_for(metric)).select(columns).iter_rows():
        effect = TrialEffect(least_ns / 1e6, most_ns / 1e6, Why(why) if why else None)
        found.setdefault(trial, {})[name, also] = effect
    return found


def predicted_in(
    trials: Sequence[Mapping[Without, TrialEffect]], mechanism: str, alpha: float
) -> PredictedEffect | None:
    """The effect of a mechanism in an arm, of whose trials each has its effects; None where too few have one."""
    gone = _range(trials, (mechanism, None), alpha) if trials else None
    if gone is None:
        return None
    told = Counter(each[mechanism, None].next_why for each in trials if (mechanism, None) in each)
    following, _ = told.most_common(1)[0]
    also = OF_LIMIT.get(following) if following else None
    return PredictedEffect(gone, following, _range(trials, (mechanism, also), alpha) if also else None)


def _range(trials: Sequence[Mapping[Without, TrialEffect]], without: Without, alpha: float) -> Range | None:
    have = [each[without] for each in trials if without in each]
    if len(have) < _LEAST_SHARE * len(trials):
        return None
    least = statistics.median_interval(np.array([each.least_ms for each in have]), 1 - alpha)
    most = statistics.median_interval(np.array([each.most_ms for each in have]), 1 - alpha)
    if least is None or most is None:
        return None
    return Range(least.low, most.high, min(least.confidence, most.confidence), len(have))
