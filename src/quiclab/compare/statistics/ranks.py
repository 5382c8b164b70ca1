# SPDX-License-Identifier: Apache-2.0
"""Midranks, kept as whole numbers so that exact distributions can be counted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def doubled_midranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Twice the rank of each value from 1, tied values sharing their mean rank: always whole. Infinities may tie."""
    _, group, size = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(size)
    doubled: npt.NDArray[np.int64] = (2 * last - size + 1)[group]
    return doubled
