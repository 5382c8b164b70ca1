# SPDX-License-Identifier: Apache-2.0
"""Windows that begin anew after an idle time, by hand and over the golden twin."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from golden_twin import Run, built
from unit.why.mechanisms.cases import _restarted as restarted
from unit.why.mechanisms.scenes import facts, named

from quiclab.why.mechanisms import with_mechanisms

_MS = 1_000_000
_NAME = "slow_start_after_idle"
_PAUSING: dict[str, Any] = {
    "protocol": "h2", "body_bytes": 1_500_000, "rate_down": 50_000_000, "delay_ns": 40 * _MS, "pause_at": 750_000,
    "pause_ns": 1500 * _MS,
}  # fmt: skip


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_a_smaller_window_after_an_idle_time_has_the_waits_until_it_is_back(protocol: str) -> None:
    """The kernel's samples and a log of QUIC show it alike; the idle time itself is the program's."""
    assert named(restarted(protocol))[_NAME] == 20
    found = facts(restarted(protocol), _NAME)
    assert (found["restarts"], found["longest_idle_time"]) == (1, 300)
    assert (found["window_before"], found["window_after"]) == (pytest.approx(40, rel=0.02), pytest.approx(10, rel=0.02))


def test_a_short_time_without_data_is_no_idle_time() -> None:
    """No retransmission timeout is as short."""
    assert _NAME not in named(restarted(idle_ms=150))


def test_a_timeout_is_no_idle_time() -> None:
    """A retransmission after a timeout follows a loss, and no idle time."""
    assert _NAME not in named(restarted(lost=True))


def test_bbr_looks_for_its_round_trip_with_a_small_window() -> None:
    """BBR probes for its round trip whether or not its sender has something to send."""
    case = restarted("h3")
    case.record = {"asked": {"congestion_control": "bbr"}}
    assert _NAME not in named(case)


@pytest.mark.parametrize("control", ["reno", "cubic"])
def test_the_twin_loses_what_is_told(control: str) -> None:
    """The same transfer without the setting takes as much less; after a pause below the timeout nothing is told."""
    wrong, right, short = built().runs(
        [{**_PAUSING, "control": control, "restarts_after_idle": True, **each}
         for each in ({}, {"restarts_after_idle": False}, {"pause_ns": 100 * _MS})]
    )  # fmt: skip
    assert _named_ms(wrong)[_NAME] == pytest.approx((wrong.total_ns - right.total_ns) / _MS, rel=0.02)
    assert _NAME not in _named_ms(right)
    assert _NAME not in _named_ms(short)


def _named_ms(run: Run) -> dict[str, float]:
    account, _ = with_mechanisms(run.evidence, run.account)
    length = ((pl.col("until_ns") - pl.col("from_ns")).sum() / _MS).alias("ms")
    return dict(account.drop_nulls("mechanism").group_by("mechanism").agg(length).iter_rows())
