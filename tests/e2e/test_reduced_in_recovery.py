# SPDX-License-Identifier: Apache-2.0
"""A server that reduces its window at every loss is told by what that costs, and its correct twin is not."""

from __future__ import annotations

from pathlib import Path

import polars as pl
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


@pytest.mark.nightly
def test_a_reduction_that_is_applied_twice_is_a_larger_one(tmp_path: Path) -> None:
    """The step is one, so that no second reduction shows; CUBIC's own is none."""
    need(("client", "quinn"), ("server", "quinn"))
    arm = 'protocol = "h3"\nclient = "quinn"\nserver = "quinn{}"'
    arms = {"right": arm.format(""), "wrong": arm.format("-faulty-reduced-twice")}
    ran = run_arms(tmp_path, arms, "2 MB", path='loss = "1 %"', delay="30 ms")
    told = {}
    for name, trial in ran.items():
        assert trial["status"] == "verified", trial["reason"]
        folder = tmp_path / "study" / "tables" / "mechanism_facts"
        rows = pl.read_parquet(folder / f"{trial['trial_id']}.parquet")
        told[name] = dict(rows.filter(pl.col("mechanism") == "larger_window_reduction").select("fact", "value").rows())
        assert "reduced_in_recovery" not in rows["mechanism"]
    assert told["right"] == {}
    assert told["wrong"]["time"] > 100
    assert told["wrong"]["window_left_by_them_at_most"] == pytest.approx(49, abs=3)
