# SPDX-License-Identifier: Apache-2.0
"""Transfers that are longer than a trial may be."""

from __future__ import annotations

import pathlib

import pytest
from specs import study_of, with_path

from quiclab.plan.slow_paths import slow_warnings


@pytest.mark.parametrize(
    ("rate", "lines", "slow"),
    [
        ("10 Mbit/s", "", False),
        ("1 kbit/s", "", True),
        ("10 Mbit/s", '[path.up]\nrate = "1 kbit/s"', False),
        ("10 Mbit/s", '[path.down]\nrate = "1 kbit/s"', True),
        ("1 kbit/s", '[path.down]\nschedule = [{at = "1 s", rate = "10 Mbit/s"}]', False),
    ],
)
def test_bytes_that_take_longer_than_a_trial_are_told(
    tmp_path: pathlib.Path, rate: str, lines: str, slow: bool
) -> None:
    """The warning counts the bytes at the rate in the direction of the bodies, where that is constant."""
    text = with_path(lines).replace("10 Mbit/s", rate, 1)
    told = slow_warnings(study_of(tmp_path, text))
    assert bool(told) == slow
    assert all("limits.trial" in each for each in told)
