# SPDX-License-Identifier: Apache-2.0
"""Default number of blocks of the A/A control: enough to measure the noise floor, or none."""

from __future__ import annotations

import math

SHARE = 5
"""The control takes at most one in so many trials of a study: they answer no question about the arms."""


def usual_blocks(cells: int, blocks: int, alpha: float) -> int:
    """Return the blocks of each A/A cell of a study of so many `cells` and `blocks`, however many arms it has.

    They are as many as its cells have, or as a fifth of all trials allows. Where that is too few for an interval at the
    level 1 - alpha there are none: the shorter interval of fewer pairs would make the noise look smaller than it is.
    """
    # Of a arms there are cells × blocks × a trials, and 2 × a in each block of the control.
    affordable = cells * blocks // (2 * (SHARE - 1))
    found = min(blocks, affordable)
    return found if found >= least_blocks(alpha) else 0


def least_blocks(alpha: float) -> int:
    """Return the fewest pairs with which the exact signed-rank test, whose smallest p is 2 / 2^pairs, reaches alpha."""
    return math.ceil(1 - math.log2(alpha))
