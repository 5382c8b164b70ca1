# SPDX-License-Identifier: Apache-2.0
"""A race of settings by successive halving: which of them go on after a round, and which are combined.

A race has one heat or several, as many as the minutes have time for; each setting is in one. Within a heat each setting
runs in the same blocks as the arm as it is. What it is worth is the Hodges–Lehmann estimate of the log
ratios within those blocks, of all rounds so far (Jamieson and Talwalkar 2016, AISTATS: non-stochastic best arm
identification). Settings of different heats ran in different blocks, and each estimate is relative to the arm as it is
in its own: they are estimates of the same quantity. A race chooses and proves nothing: the chosen one was lucky too,
the more so the more settings and heats there were, so that its gain is measured anew, in blocks that chose nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Differences = Mapping[str, Sequence[float]]
"""Setting → 100 ln(time with it / time as it is) in each of its blocks, below zero where it is faster; +inf where it
failed."""
FINALISTS = 3
"""Settings at which a heat ends, and of all heats those that may be combined."""
_LEAST_TO_ADD = 3
"""Fewest blocks by which a setting is added to another one: in one or two it gains by chance too often."""


@dataclass(frozen=True)
class Standing:
    """A setting after some rounds."""

    name: str
    difference_pct: float
    """Estimate of the difference to the arm as it is, in per cent of its time: below zero is faster; ∞ where failures
    own it."""
    blocks: int


def standings(differences: Differences) -> tuple[Standing, ...]:
    """Settings by their estimates, the fastest first."""
    return in_order(
        Standing(name, _estimate_pct(values), len(values)) for name, values in differences.items() if values
    )


def in_order(found: Iterable[Standing]) -> tuple[Standing, ...]:
    """Settings, of one heat or several, by their estimates, the fastest first."""
    return tuple(sorted(found, key=lambda each: (each.difference_pct, each.name)))


def survivors(found: Sequence[Standing]) -> tuple[str, ...]:
    """Settings that go on: the faster half, or the finalists, as far as they are estimated to be faster at all."""
    return tuple(each.name for each in found[: _going_on(len(found))] if each.difference_pct < 0)


def rounds_of(settings: int) -> tuple[int, ...]:
    """Settings in each round of a heat of so many; the finalists run the last one."""
    rounds = [settings]
    while rounds[-1] > FINALISTS:
        rounds.append(_going_on(rounds[-1]))
    return tuple(rounds)


def _going_on(settings: int) -> int:
    return max(FINALISTS, -(-settings // 2))


def combined(
    keys: Mapping[str, frozenset[tuple[str, str]]], found: Sequence[Standing], least_gain_pct: float
) -> tuple[str, ...]:
    """Finalists that may be combined, the fastest first: each is estimated to gain at least so many per cent, and no
    two of them set the same key. The fastest one is always among them, where it gains anything."""
    chosen: list[str] = []
    for each in found[:FINALISTS]:
        gains = each.difference_pct <= -least_gain_pct if chosen else each.difference_pct < 0
        if gains and not any(keys[each.name] & keys[other] for other in chosen):
            chosen.append(each.name)
    return tuple(chosen)


def greedy(parts: Sequence[str], differences: Mapping[tuple[str, ...], Mapping[int, float]], least_gain_pct: float
           ) -> tuple[str, ...]:  # fmt: skip
    """The combination that is chosen: the first part, and one more at a time as long as one gains at least so many per
    cent of the time, and something in each of the blocks that both ran in, of which there must be three.

    `differences` has, for each combination, block → 100 ln(its time / that of the first part alone).
    """
    chosen: tuple[str, ...] = (parts[0],)
    while True:
        larger = (tuple(each for each in parts if each in {*chosen, part}) for part in parts)
        blocks = {each: _within(differences, chosen, each) for each in larger if each != chosen and each in differences}
        gains = {
            more: _estimate_pct(values)
            for more, values in blocks.items()
            if len(values) >= _LEAST_TO_ADD and all(each < 0 for each in values)
        }
        best = min(gains, key=lambda each: gains[each], default=None)
        if best is None or gains[best] > -least_gain_pct:
            return chosen
        chosen = best


def _within(
    differences: Mapping[tuple[str, ...], Mapping[int, float]], chosen: tuple[str, ...], more: tuple[str, ...]
) -> list[float]:
    before = differences.get(chosen, {}) if len(chosen) > 1 else dict.fromkeys(differences[more], 0.0)
    return [value - before[block] for block, value in differences[more].items() if block in before]


def _estimate_pct(values: Sequence[float]) -> float:
    # Imported late: a process that is to enter the sandbox may know a standing, and must not load what has threads.
    import numpy as np

    from quiclab.compare.statistics import hodges_lehmann, per_cent

    if not values:
        return math.inf
    estimate = hodges_lehmann(np.asarray(values, dtype=np.float64) / 100, 0.95).estimate
    return per_cent(estimate) if math.isfinite(estimate) else estimate
