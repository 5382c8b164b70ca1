# SPDX-License-Identifier: Apache-2.0
"""Cliff's delta within pairs: the share of pairs in which one side is larger, less the share in which it is smaller.

It needs no unit and assumes no shape of the distribution: 0 means as often larger as smaller, ±1 means always. It is
the d_w of Cliff 1996 (Ordinal Methods for Behavioral Data Analysis, ch. 6), each value set against that of its own
block only, so that what a block's trials share cancels; the better known delta sets every value against all of the
other sample. A tie counts half to either side, so (delta + 1) / 2 is a share of the pairs, and the interval follows
from that share's: exact for fewer than twenty pairs (Clopper and Pearson), with mid-p from there on. With ties both
cover more than they state, as does every interval of a share near 0 or 1, where the arms hardly overlap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quiclab.compare.statistics.proportions import mid_p_interval, share_interval
from quiclab.model.interval import Interval

LEAST_PAIRS = 3
MID_P_FROM = 20


@dataclass(frozen=True)
class Delta:
    """Effect size of paired samples."""

    estimate: float
    """P(difference > 0) − P(difference < 0); NaN for no differences."""
    interval: Interval | None
    """Interval of the estimate; None for fewer than three pairs. For fewer than twenty it covers at least its
    confidence."""
    above: int
    """Number of pairs whose difference is above zero."""
    below: int


def cliffs_delta_within(differences: npt.NDArray[np.float64], confidence: float) -> Delta:
    """Cliff's delta of differences within pairs, in any unit; ±inf counts by its sign, NaN is left out."""
    known = differences[~np.isnan(differences)]
    pairs, above, below = int(known.size), int((known > 0).sum()), int((known < 0).sum())
    if not pairs:
        return Delta(float("nan"), None, 0, 0)
    estimate = (above - below) / pairs
    if pairs < LEAST_PAIRS:
        return Delta(estimate, None, above, below)
    half_ties = above + (pairs - above - below) / 2
    share = (share_interval if pairs < MID_P_FROM else mid_p_interval)(half_ties, pairs, confidence)
    return Delta(estimate, Interval(2 * share.low - 1, 2 * share.high - 1, confidence), above, below)
