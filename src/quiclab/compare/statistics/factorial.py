# SPDX-License-Identifier: Apache-2.0
"""Main effects and interactions over a complete matrix of cells, each with a sample of its own noise.

A cell counts by its Hodges–Lehmann estimate, so that single values far out move little. How large an effect or
interaction is by chance alone is found by resampling each cell's own values about its own estimate (Efron and
Tibshirani 1993, 16.4): cells may differ in spread and shape.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quiclab.model.interval import Interval

FloatArray = npt.NDArray[np.float64]

LEAST_VALUES = 6
"""Fewest values of a cell; fewer tell too little of its noise."""
_RESAMPLES = 999
_WALSH_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Change:
    """Change from the first level of a factor to another, averaged over all other factors."""

    by: float
    interval: Interval


@dataclass(frozen=True)
class Effect:
    """Effect of one factor, or of the way in which two of them meet."""

    factors: tuple[int, ...]
    """Axes of the matrix: one is a main effect, two an interaction."""
    changes: tuple[Change, ...]
    """Changes to the second level, the third, …; empty for an interaction."""
    p: float
    """Probability of an effect at least as large if nothing changed with the factors, whatever the level."""


def effects_of_factors(cells: Sequence[FloatArray], shape: tuple[int, ...], confidence: float) -> list[Effect]:
    """Every main effect and every interaction of two factors.

    `cells` are finite values in any unit, in order of a matrix of this shape (last axis fastest); axes of one level
    have no effect. An interval at a level that so few resamples cannot tell (above 0.998) has open ends. Raises
    ValueError where a cell has fewer than `LEAST_VALUES`, or one that is not finite.
    """
    if len(cells) != int(np.prod(shape)) or min(cell.size for cell in cells) < LEAST_VALUES:
        raise ValueError("the matrix must be complete, with enough values in each cell")
    if not all(np.isfinite(cell).all() for cell in cells):
        raise ValueError("a value that is not finite has no mean with others: leave it out")
    found = np.array([_walsh_medians(cell[None, :])[0] for cell in cells]).reshape(shape)
    rng = np.random.default_rng(0)
    chance = np.stack([_by_chance(cell, rng) for cell in cells], axis=1).reshape(_RESAMPLES, *shape)
    axes = [axis for axis, levels in enumerate(shape) if levels > 1]
    mains = [_main(found, chance, axis, confidence) for axis in axes]
    pairs = itertools.combinations(axes, 2)
    return [*mains, *(Effect(pair, (), _p(found, chance, pair)) for pair in pairs)]


def _main(found: FloatArray, chance: FloatArray, axis: int, confidence: float) -> Effect:
    means, by_chance = _means(found[None], (axis,)), _means(chance, (axis,))
    cut = int((_RESAMPLES + 1) * (1 - confidence) / 2)
    changes = []
    for level in range(1, means.shape[1]):
        by = float(means[0, level] - means[0, 0])
        errors = np.sort(by_chance[:, level] - by_chance[:, 0])
        low, high = (by - float(errors[-cut]), by - float(errors[cut - 1])) if cut else (-np.inf, np.inf)
        changes.append(Change(by, Interval(low, high, confidence)))
    return Effect((axis,), tuple(changes), _p(found, chance, (axis,)))


def _p(found: FloatArray, chance: FloatArray, axes: tuple[int, ...]) -> float:
    """Share of resamples in which the effect is at least as large as the one found, which itself is included."""
    size, sizes = (_size(_means(each, axes)) for each in (found[None], chance))
    return float((1 + (sizes >= size[0]).sum()) / (1 + sizes.size))


def _means(matrices: FloatArray, axes: tuple[int, ...]) -> FloatArray:
    """Means over all axes but `axes`; the first axis counts the matrices."""
    others = tuple(axis + 1 for axis in range(matrices.ndim - 1) if axis not in axes)
    means: FloatArray = matrices.mean(axis=others)
    return means


def _size(means: FloatArray) -> FloatArray:
    """Sum of squares of what remains when the means over each axis are subtracted."""
    left = means
    for axis in range(1, means.ndim):
        left = left - left.mean(axis=axis, keepdims=True)
    size: FloatArray = (left**2).reshape(left.shape[0], -1).sum(axis=1)
    return size


def _by_chance(cell: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Errors of the cell's estimate: those of resamples, as wide as samples of independent values would be."""
    draws = cell[rng.integers(0, cell.size, (_RESAMPLES, cell.size))]
    errors = _walsh_medians(draws) - _walsh_medians(cell[None, :])[0]
    wider: FloatArray = errors * np.sqrt(cell.size / (cell.size - 1))
    return wider


def _walsh_medians(samples: FloatArray) -> FloatArray:
    """The Hodges–Lehmann estimate of each row."""
    first, second = np.triu_indices(samples.shape[1])
    rows = max(1, _WALSH_AT_ONCE // first.size)
    parts = [samples[start : start + rows] for start in range(0, samples.shape[0], rows)]
    return np.concatenate([np.median((part[:, first] + part[:, second]) / 2, axis=1) for part in parts])
