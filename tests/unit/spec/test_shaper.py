# SPDX-License-Identifier: Apache-2.0
"""A token bucket that shapes a rate, as the spec writes it and as the emulator reads it."""

from __future__ import annotations

import pathlib

import pytest
from specs import only_problem, study_of, with_path

from quiclab.model.units import Bitrate, ByteCount
from quiclab.spec.link import link_config


def test_a_burst_may_have_a_peak_rate(tmp_path: pathlib.Path) -> None:
    """The access rate is faster than that; a path without a burst has neither key in the link's configuration."""
    lines = 'burst = "32 KB"\n[path.up]\npeak_rate = "200 Mbit/s"'
    path = study_of(tmp_path, with_path(lines)).paths[0]
    assert (path.down.burst, path.down.peak_rate) == (ByteCount(32_000), None)
    assert (path.up.burst, path.up.peak_rate) == (ByteCount(32_000), Bitrate(200_000_000))
    assert path.up.edge == Bitrate(2_000_000_000)
    config = link_config(path, 1)
    up, down = config["up"], config["down"]
    assert isinstance(up, dict)
    assert isinstance(down, dict)
    assert (up["burst_bytes"], up["peak_rate_bit_per_s"]) == (32_000, 200_000_000)
    assert down["burst_bytes"] == 32_000
    assert "peak_rate_bit_per_s" not in down
    plain = link_config(study_of(tmp_path, with_path("")).paths[0], 1)["up"]
    assert isinstance(plain, dict)
    assert "burst_bytes" not in plain


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('peak_rate = "20 Mbit/s"', 'write a "burst" such as "32 KB" too'),
        ('burst = "1 KB"', "a burst of 1 KB has no room for one packet of 1.5 KB"),
        ('burst = "3 KB"\npeak_rate = "10 Mbit/s"', "10 Mbit/s is not above the rate of 10 Mbit/s"),
        (
            'burst = "3 KB"\npeak_rate = "20 Mbit/s"\nschedule = [{at = "1 s", rate = "30 Mbit/s"}]',
            "is not above the rate of 30 Mbit/s",
        ),
        ('burst = "a lot"', "is not a size"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: pathlib.Path, lines: str, words: str) -> None:
    """The problem says what to write."""
    assert words in only_problem(tmp_path, with_path(lines))


@pytest.mark.parametrize("rate", ["", 'rate = {least = "5 Mbit/s", most = "15 Mbit/s", every = "1 s"}'])
def test_tokens_need_a_rate(tmp_path: pathlib.Path, rate: str) -> None:
    """A rate that is drawn by chance is none."""
    text = with_path('burst = "3 KB"').replace('rate = "10 Mbit/s"', rate, 1)
    assert 'tokens come at a "rate"' in only_problem(tmp_path, text)
