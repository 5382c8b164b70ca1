# SPDX-License-Identifier: Apache-2.0
"""Best result that a given number of pairs can show, before any of them is measured."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from quiclab.compare.statistics.benjamini_hochberg import adjusted_p_values


def smallest_p(pairs: int) -> float:
    """The smallest two-sided p of the signed-rank test: every pair points the same way, without ties. 1 for no
    pairs."""
    return min(1.0, 2.0 ** (1 - pairs))


def pairs_needed(alpha: float, cells: int) -> int:
    """Number of pairs with which a cell can reach `alpha` after Benjamini–Hochberg even if no other of the `cells`
    differs.

    Raises ValueError unless 0 < alpha < 1 and cells ≥ 1.
    """
    if not 0 < alpha < 1 or cells < 1:
        raise ValueError(f"alpha must lie between 0 and 1 and cells be at least 1, not {alpha} and {cells}")
    return max(1, math.ceil(1 - math.log2(alpha / cells)))


def smallest_adjusted_p(p: npt.NDArray[np.float64], at: int, least: float) -> float:
    """Adjusted p that the cell `at` of a family would have after Benjamini–Hochberg if its own p were `least`, the
    smallest that its trials allow. Above alpha, no outcome of the cell itself could have been called different."""
    best = np.array(p, dtype=np.float64)
    best[at] = least
    return float(adjusted_p_values(best)[at])
