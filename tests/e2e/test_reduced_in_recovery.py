# SPDX-License-Identifier: Apache-2.0
"""A server that reduces its window at every loss is told by what that costs, and its correct twin is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from accounts import account_of, sums_ms
from stack_study import need, run_arms

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


@pytest.mark.nightly
def test_one_episode_of_losses_reduces_a_window_once(tmp_path: Path) -> None:
    """A short queue drops many packets of one flight at the end of slow start."""
    need(("client", "quinn"), ("server", "quinn"))
    arm = 'protocol = "h3"\nclient = "quinn"\nserver = "quinn{}"'
    arms = {"right": arm.format(""), "wrong": arm.format("-faulty-every-loss")}
    ran = run_arms(tmp_path, arms, "3 MB", path='queue = "0.25 bdp"', delay="30 ms")
    told = {}
    for name, trial in ran.items():
        assert trial["status"] == "verified", trial["reason"]
        told[name] = sums_ms(account_of(tmp_path / "study", trial), "mechanism")
    assert "reduced_in_recovery" not in told["right"]
    assert told["wrong"]["reduced_in_recovery"] > 300
