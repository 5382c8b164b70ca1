# SPDX-License-Identifier: Apache-2.0
"""Settings, blocks and networks that fit into minutes, before anything runs."""

from __future__ import annotations

import pytest

from quiclab.study.tune.minutes import (
    FRESH,
    LEAST_BLOCKS,
    LEAST_SETTINGS,
    RACE,
    STAGE_S,
    blocks_in,
    heat_of,
    heats_end,
    least_minutes,
    race_s,
    shares,
)


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


def test_time_for_a_further_heat_makes_no_more_blocks() -> None:
    """Settings that wait have it; where all of them fit, blocks have what is over."""
    alone, beside = blocks_in(300, 3, 1.0), blocks_in(300, 3, 1.0, waiting=100)
    assert (alone > 2 * LEAST_BLOCKS, beside) == (True, LEAST_BLOCKS)
    assert beside < blocks_in(300, 3, 1.0, waiting=1) < alone
    short_s = race_s(3, 1.0) + race_s(LEAST_SETTINGS, 1.0) - 1
    assert blocks_in(short_s, 3, 1.0, waiting=100) == blocks_in(short_s, 3, 1.0), "no heat fits, whatever waits"


def test_settings_of_a_heat() -> None:
    """A heat has as many as fit, and none where these are too few; of fewer than that all."""
    fitting = heat_of(100, 200.0, 1.0)
    assert race_s(fitting, 1.0) <= 200 < race_s(fitting + 1, 1.0)
    assert heat_of(100, race_s(LEAST_SETTINGS, 1.0) - 0.1, 1.0) == 0
    assert heat_of(2, race_s(2, 1.0), 1.0) == 2
    assert heat_of(2, race_s(2, 1.0) - 0.1, 1.0) == 0
    assert heat_of(0, 200.0, 1.0) == heat_of(5, -1.0, 1.0) == 0


def test_heats_leave_what_fresh_blocks_need() -> None:
    """Heats end before their share, or earlier where their fewest take longer by now."""
    assert heats_end(10, 1.0, 6) == 1 - FRESH
    slow = heats_end(10, 20.0, 6)
    assert (1 - slow) * 600 == pytest.approx(12 * 20 + STAGE_S)
