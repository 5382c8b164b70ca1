# SPDX-License-Identifier: Apache-2.0
"""Settings, blocks and networks that fit into minutes, before anything runs."""

from __future__ import annotations

import pytest

from quiclab.study.tune.minutes import LEAST_BLOCKS, RACE, blocks_in, least_minutes, race_s, shares


def test_more_minutes_are_more_of_everything() -> None:
    """Settings, fresh blocks and networks grow with the time, up to what there is."""
    few, many = shares(5, 1.5, 30, 6, 6, 0.05), shares(60, 1.5, 30, 6, 6, 0.05)
    assert few is not None
    assert many is not None
    assert few.settings < many.settings == 30
    assert few.neighbours < many.neighbours == 6
    assert 6 <= few.fresh_blocks < many.fresh_blocks


def test_a_race_fits_into_its_share() -> None:
    """Rounds of the fewest blocks fit, and with one setting more they would not."""
    found = shares(5, 1.5, 100, 6, 0, 0.05)
    assert found is not None
    assert race_s(found.settings, 1.5) <= RACE * 300 < race_s(found.settings + 1, 1.5)


@pytest.mark.parametrize("trial_s", [0.5, 2.0, 20.0])
def test_the_least_minutes(trial_s: float) -> None:
    """The least minutes suffice, and one less does not."""
    least = least_minutes(trial_s, 12, 6)
    assert shares(least, trial_s, 12, 6, 0, 0.05) is not None
    assert least == 1 or shares(least - 1, trial_s, 12, 6, 0, 0.05) is None


def test_blocks_of_a_round() -> None:
    """The rounds to come share what is left, and each has the fewest blocks at least."""
    assert blocks_in(1000, 3, 1.0) > blocks_in(1000, 16, 1.0)
    assert blocks_in(0, 16, 1.0) == LEAST_BLOCKS
