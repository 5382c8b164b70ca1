# SPDX-License-Identifier: Apache-2.0
"""Differences that the records show by themselves: of a count that protocols and settings fix, alike in every pair.

A handshake of two round trips beside one of a single one, or a certificate of 4 KB more, is no matter of chance that a
test of pairs has to tell from noise. What is asked of the records is exact:

* the count of the mechanism differs by the same whole number of round trips in every pair, or by as many bytes (no pair
  is off the mean of all by more than a twentieth);
* in every pair the time goes with it: a round trip takes the least of the path, give or take a quarter; a byte takes as
  long in one arm as in the other, to a twentieth;
* there are so many pairs that counts which were chance after all would hardly agree so often: two independent counts
  differ by one given amount in at most a quarter of pairs, and so by +d or by −d in all n of them in at most 2 / 4^n.
  That, times the number of mechanisms that are asked, is at most alpha.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quiclab.why.account_shares import FloatArray
from quiclab.why.cause_parts import Known, Pair, Part
from quiclab.why.mechanisms import ROUND_TRIP, TRIAL, Counted, Each

_BYTES_OFF = 0.05
"""Share of the mean by which a pair's difference of bytes, or the time that a byte takes, may be off."""
_ROUND_TRIP_OFF = 0.25
"""Share of the least round trip by which the time of a round trip may be off: packets are served on the way, and
programs answer."""


@dataclass(frozen=True)
class FixedCount:
    """A count that differs by as much in every pair."""

    counted: Counted
    baseline: float
    """Mean over the pairs."""
    other: float
    pairs: int


def least_pairs(alpha: float, asked: int) -> int:
    """Pairs that are enough for the records to speak by themselves, of so many mechanisms that are asked."""
    return max(1, math.ceil(math.log(2 * max(1, asked) / alpha, 4) - 1e-12))


def fixed_count(known: Known, pairs: Sequence[Pair], part: Part, alpha: float, asked: int) -> FixedCount | None:
    """The count by which the records show a part's difference; None where they do not.

    `asked` is the number of the cell's parts whose mechanism has such a count.
    """
    mechanism = part.mechanism
    counted = mechanism.counted if mechanism is not None and not part.followers else None
    if mechanism is None or counted is None or len(pairs) < least_pairs(alpha, asked):
        return None
    counts = np.array([[_count(known, trial, mechanism.name, counted) for trial in pair] for pair in pairs])
    more, ms = counts[:, 1] - counts[:, 0], known.times(part, pairs)
    if np.isnan(more).any() or not (more * more[0] > 0).all() or not _is_one_amount(more, counted.each):
        return None
    if not _goes_with(known, pairs, counts, ms, counted.each):
        return None
    baseline, other = counts.mean(axis=0)
    return FixedCount(counted, float(baseline), float(other), len(pairs))


def _count(known: Known, trial: str, mechanism: str, counted: Counted) -> float:
    """The count of a trial: none where the mechanism took no time in it, NaN where no record tells."""
    facts = known.facts.get(trial)
    if facts is None:
        return float("nan")
    of_mechanism = facts.get(mechanism)
    return 0.0 if of_mechanism is None else of_mechanism.get((counted.fact, counted.unit), float("nan"))


def _is_one_amount(more: FloatArray, each: Each) -> bool:
    if each is Each.ROUND_TRIP:
        return bool((more == np.rint(more[0])).all())
    return bool((np.abs(more - more.mean()) <= _BYTES_OFF * abs(more.mean())).all())


def _goes_with(known: Known, pairs: Sequence[Pair], counts: FloatArray, ms: FloatArray, each: Each) -> bool:
    """True if in every pair the time is that of what is counted."""
    if each is Each.BYTE:
        if not (counts > 0).all() or not (ms > 0).all():
            return False
        per_byte = ms / counts
        return bool((np.abs(per_byte[:, 1] / per_byte[:, 0] - 1) <= _BYTES_OFF).all())
    least_ms = np.array(
        [[known.facts[trial].get(TRIAL, {}).get((ROUND_TRIP, "ms"), float("nan")) for trial in pair] for pair in pairs]
    ).mean(axis=1)
    took = (ms[:, 1] - ms[:, 0]) / (counts[:, 1] - counts[:, 0])
    with np.errstate(invalid="ignore"):
        return bool((np.abs(took - least_ms) <= _ROUND_TRIP_OFF * least_ms).all() and (least_ms > 0).all())
