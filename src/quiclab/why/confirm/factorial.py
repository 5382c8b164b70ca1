# SPDX-License-Identifier: Apache-2.0
"""Two or three causes taken away in all combinations: how much of what they take together is whose.

The part of a cause is its Shapley value: by how much the whole falls when it goes, on average over all orders in which
the causes could go (Shapley 1953). In each block the parts add up to what all of them take together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from quiclab.compare import statistics
from quiclab.compare.statistics import Interval
from quiclab.why.account_shares import FloatArray
from quiclab.why.confirm.joint_declaration import DeclaredTogether, Removed, combinations_of, joined
from quiclab.why.confirm.times import Times


@dataclass(frozen=True)
class Difference:
    """The median over the blocks of a difference of whole times."""

    ms: float | None
    interval: Interval | None
    """Confidence sequence of the median."""


@dataclass(frozen=True)
class Part:
    """Part of the difference that one of the causes takes."""

    cause: str
    removed_share: float | None
    """Share of its own time that goes where it alone is taken away."""
    part: Difference
    """Shapley value of the cause."""
    first: Difference
    """Fall of the whole where it goes and the others stay."""
    last: Difference
    """Fall of the whole where it goes after all others."""
    decided: bool
    """True if its part is known to be more than nothing, or to lie within the tolerance."""


@dataclass(frozen=True)
class Together:
    """Result of a run without several causes."""

    parts: tuple[Part, ...]
    whole: Difference
    """Fall of the whole where all of them go."""
    blocks: int
    """Blocks in which all combinations have an account or failed."""

    @property
    def final(self) -> bool:
        """True if every part is decided."""
        return all(part.decided for part in self.parts)


def shapley(totals: Mapping[Removed, FloatArray], causes: Sequence[str]) -> dict[str, FloatArray]:
    """Each cause's part of the fall of the whole, block by block; `totals` has the time without each combination."""
    found = {}
    for cause in causes:
        others = [each for each in causes if each != cause]
        orders = math.factorial(len(causes))
        part = np.zeros_like(totals[frozenset()])
        for gone in combinations_of(others):
            weight = math.factorial(len(gone)) * math.factorial(len(others) - len(gone)) / orders
            part = part + weight * _fall(totals, gone, gone | {cause})
        found[cause] = part
    return found


def judge_together(declared: DeclaredTogether, times: Mapping[str, Mapping[str, Times]]) -> Together:
    """Share out what the causes take together; `times` has for each cause those of each combination, by its name."""
    causes = sorted(declared.predicted)
    totals = {gone: times[causes[0]][joined(gone)].total for gone in combinations_of(causes)}
    everything, nothing = frozenset(causes), frozenset[str]()
    whole = _fall(totals, nothing, everything)
    parts = []
    for cause, values in shapley(totals, causes).items():
        part = _difference(values, declared.alpha)
        parts.append(
            Part(
                cause,
                _removed_share(times[cause][""], times[cause][cause]),
                part,
                _difference(_fall(totals, nothing, frozenset({cause})), declared.alpha),
                _difference(_fall(totals, everything - {cause}, everything), declared.alpha),
                _decided(part.interval, declared.tolerance_ms[cause]),
            )
        )
    complete = ~np.isnan(np.array(list(totals.values()))).any(axis=0)
    return Together(tuple(parts), _difference(whole, declared.alpha), int(complete.sum()))


def _removed_share(before: Times, after: Times) -> float | None:
    own, left = (
        float(np.nanmedian(each.cause)) if not np.isnan(each.cause).all() else np.nan for each in (before, after)
    )
    return 1 - left / own if own > 0 and not np.isnan(left) else None


def _fall(totals: Mapping[Removed, FloatArray], before: Removed, after: Removed) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return np.asarray(totals[before] - totals[after], dtype=float)


def _difference(values: FloatArray, alpha: float) -> Difference:
    known = values[~np.isnan(values)]
    return Difference(float(np.median(known)) if known.size else None, statistics.median_sequence(values, alpha))


def _decided(interval: Interval | None, tolerance_ms: float) -> bool:
    if interval is None:
        return False
    inside = -tolerance_ms <= interval.low and interval.high <= tolerance_ms
    return inside or interval.low > 0 or interval.high < 0
