# SPDX-License-Identifier: Apache-2.0
"""A rate drawn by chance: how it is written, what counts with it, and what a trial will draw."""

from __future__ import annotations

import pathlib
from itertools import islice

import pytest
from specs import changed, problems_of, study_of

from quiclab.model.study import RandomRate
from quiclab.model.units import Bitrate, Duration
from quiclab.spec.link import link_config, reference_rate
from quiclab.spec.random_rate import drawn_rates

RANGE = RandomRate(Bitrate(50_000_000), Bitrate(150_000_000), Duration(10**9))
WRITTEN = 'rate = { least = "50 Mbit/s", most = "150 Mbit/s", every = "1 s" }'


def test_the_link_is_told_the_range_and_counts_with_the_mean(tmp_path: pathlib.Path) -> None:
    """A queue of one BDP is that of 100 Mbit/s; the access rate is above the largest rate."""
    text = changed(('rate = "10 Mbit/s"', WRITTEN), ('delay = "10 ms"', 'delay = "50 ms"'))
    path = study_of(tmp_path, text).paths[0]
    assert path.down.rate == RANGE
    assert reference_rate(path.down) == Bitrate(100_000_000)
    config = link_config(path, 1)["down"]
    assert config["rate_bit_per_s"] is None
    drawn = {"least_bit_per_s": 50_000_000, "most_bit_per_s": 150_000_000, "every_ns": 10**9}
    assert config["random_rate"] == drawn
    assert config["queue"]["bytes"] == 1_250_000
    assert config["edge_rate_bit_per_s"] == 1_500_000_000


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ('{ least = "5 Mbit/s", most = "4 Mbit/s", every = "1 s" }', "below the least"),
        ('{ least = "5 Mbit/s", most = "6 Mbit/s" }', "every"),
        ('{ least = "5 Mbit/s", most = "6 Mbit/s", every = "1 us" }', "out of range"),
        ("5", "write a rate"),
    ],
)
def test_a_range_that_cannot_be_is_refused(tmp_path: pathlib.Path, written: str, says: str) -> None:
    """With what is wrong."""
    assert says in problems_of(tmp_path, changed(('rate = "10 Mbit/s"', f"rate = {written}")))[0]


def test_no_change_gives_a_rate_that_is_drawn(tmp_path: pathlib.Path) -> None:
    """A schedule would have to say which of the two counts."""
    scheduled = WRITTEN + '\nschedule = [{at = "1 s", rate = "5 Mbit/s"}]'
    assert "drawn by chance" in problems_of(tmp_path, changed(('rate = "10 Mbit/s"', scheduled)))[0]


def test_the_draws_are_those_of_the_link() -> None:
    """The same numbers as in the link's own golden test (crates/link-core/tests/random_rate.rs)."""
    drawn = drawn_rates(RANGE, 20_261_121, "bottleneck", "up")
    assert [rate.bit_per_s for rate in islice(drawn, 4)] == [68_554_210, 111_368_019, 135_548_767, 52_934_509]


def test_many_draws_stay_in_the_range_and_differ_by_direction() -> None:
    """Also beyond the first block of the generator."""
    up, down = (list(islice(drawn_rates(RANGE, 7, "bottleneck", side), 1000)) for side in ("up", "down"))
    assert all(RANGE.least <= rate <= RANGE.most for rate in up)
    assert len(set(up)) > 990
    assert up != down
    assert abs(sum(rate.bit_per_s for rate in up) / 1000 - 100e6) < 5e6
