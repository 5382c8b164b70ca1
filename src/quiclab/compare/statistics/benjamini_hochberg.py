# SPDX-License-Identifier: Apache-2.0
"""Benjamini–Hochberg: of the cells called different, at most a share `alpha` is expected to be a false alarm."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def adjusted_p_values(p: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Adjusted p of each cell, in the order given; NaN (a cell that could not be tested) stays NaN and does not count.

    Source: Benjamini and Hochberg 1995, J. R. Statist. Soc. B 57, step-up procedure.
    """
    p = np.asarray(p, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    descending = tested[np.argsort(-p[tested], kind="stable")]
    ranks = np.arange(descending.size, 0, -1)
    adjusted[descending] = np.minimum(1.0, np.minimum.accumulate(p[descending] * descending.size / ranks))
    return adjusted
