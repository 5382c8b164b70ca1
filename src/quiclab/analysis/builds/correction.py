# SPDX-License-Identifier: Apache-2.0
"""Everything that was asked of two builds, corrected together: by the exact tests, or by confidence sequences."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from quiclab import statistics
from quiclab.analysis.builds.change import (
    Change,
    as_measured,
    at_level,
    concluded,
    decided,
    is_disturbed,
    judged,
    lies_within,
    smallest_p,
)
from quiclab.analysis.step_up import step_up

_Correct = Callable[[list[Change], float, float], list[Change]]


def corrected(changes: list[Change], alpha: float, matters_pct: float) -> list[Change]:
    """Return the changes with their outcomes and conclusions; those that were refused are of no family.

    Of m changes R are significant: their intervals are at 1 − R × alpha / m, so that of the intervals of what was
    selected at most a share alpha misses the truth (Benjamini and Yekutieli 2005). Changes that have an outcome only
    without what the laboratory added to the trials are not judged.
    """
    return _judged(changes, alpha, matters_pct, _corrected)


def corrected_by_sequence(changes: list[Change], alpha: float, matters_pct: float) -> list[Change]:
    """Return the changes as confidence sequences decide them, corrected after Bonferroni: right however often one
    looks, and whatever made the number of blocks."""
    return _judged(changes, alpha, matters_pct, _corrected_by_sequence)


def _judged(changes: list[Change], alpha: float, matters_pct: float, correct: _Correct) -> list[Change]:
    found = measured = correct(changes, alpha, matters_pct)
    if any(map(is_disturbed, changes)):
        measured = correct([as_measured(each, alpha) for each in changes], alpha, matters_pct)
    return [judged(each, bare, matters_pct) for each, bare in zip(found, measured, strict=True)]


def _corrected(changes: list[Change], alpha: float, matters_pct: float) -> list[Change]:
    p = np.array([math.nan if each.p is None or each.refused else each.p for each in changes])
    adjusted = statistics.adjusted_p_values(p)
    found = [
        each
        if math.isnan(own)
        else decided(each, float(own), alpha, statistics.smallest_adjusted_p(p, at, smallest_p(each)))
        for at, (each, own) in enumerate(zip(changes, adjusted, strict=True))
    ]
    tested = int((~np.isnan(p)).sum())
    level = 1 - alpha * max(1, int((adjusted <= alpha).sum())) / max(1, tested)
    # The interval of a change that only the correction takes from those that are significant holds 0 at this level.
    found = [
        each if math.isnan(own) or own > alpha else at_level(each, level) for each, own in zip(found, p, strict=True)
    ]

    def wider(each: Change, asked: float) -> Change:
        return each if each.outcome.significant and each.confidence >= asked else at_level(each, asked)

    candidates = {at: each for at, each in enumerate(found) if not each.refused}
    within = step_up(candidates, tested, alpha, wider, lambda each: lies_within(each, matters_pct))
    return [concluded(within.get(at, each), matters_pct, within=at in within) for at, each in enumerate(found)]


def _corrected_by_sequence(changes: list[Change], alpha: float, matters_pct: float) -> list[Change]:
    tested = sum(not each.refused for each in changes)
    level = 1 - alpha / max(1, tested)
    found = []
    for each in changes:
        if each.refused or each.p is None:
            found.append(concluded(each, matters_pct, within=False))
            continue
        adjusted, least = (min(1.0, p * tested) for p in (each.p, smallest_p(each)))
        told = at_level(decided(each, adjusted, alpha, least), level)
        found.append(concluded(told, matters_pct, within=lies_within(told, matters_pct)))
    return found
