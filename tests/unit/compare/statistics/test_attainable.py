# SPDX-License-Identifier: Apache-2.0
"""What a number of pairs can show."""

from __future__ import annotations

import numpy as np
import pytest

from quiclab.compare.statistics import adjusted_p_values, pairs_needed, signed_rank, smallest_adjusted_p, smallest_p


@pytest.mark.parametrize("pairs", [1, 2, 6, 10])
def test_smallest_p_is_what_the_test_reaches(pairs: int) -> None:
    """The promise equals what the test says when every pair points the same way."""
    assert signed_rank(np.arange(1.0, pairs + 1)).p == smallest_p(pairs)


@pytest.mark.parametrize(("alpha", "cells", "pairs"), [(0.05, 1, 6), (0.05, 9, 9), (0.01, 9, 11), (0.5, 1, 2)])
def test_pairs_needed_is_enough_and_one_less_is_not(alpha: float, cells: int, pairs: int) -> None:
    """A lone different cell passes the correction at this number of pairs and fails with one pair fewer."""
    assert pairs_needed(alpha, cells) == pairs

    def lone(n: int) -> float:
        return float(adjusted_p_values(np.array([smallest_p(n)] + [1.0] * (cells - 1)))[0])

    assert lone(pairs) <= alpha < lone(pairs - 1)


@pytest.mark.parametrize(("alpha", "cells"), [(0.0, 1), (1.0, 1), (0.05, 0)])
def test_pairs_needed_refuses_nonsense(alpha: float, cells: int) -> None:
    """A level outside (0, 1) or no cell at all has no answer."""
    with pytest.raises(ValueError, match="alpha"):
        pairs_needed(alpha, cells)


def test_the_smallest_adjusted_p_hangs_on_the_other_cells() -> None:
    """Eight pairs reach 2 / 2^8; of five cells that is times five alone, and half of it beside an equal one."""
    alone, beside = np.array([0.3, 0.5, 0.9, 0.6, 0.7]), np.array([0.3, 2 / 2**8, 0.9, 0.6, 0.7])
    assert smallest_adjusted_p(alone, 0, smallest_p(8)) == pytest.approx(5 * 2 / 2**8)
    assert smallest_adjusted_p(beside, 0, smallest_p(8)) == pytest.approx(5 / 2 * 2 / 2**8)
    assert alone[0] == 0.3
