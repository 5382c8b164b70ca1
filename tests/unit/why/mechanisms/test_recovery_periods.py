# SPDX-License-Identifier: Apache-2.0
"""Recovery periods in which a window is reduced more than once, by hand and over the golden twin."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from golden_twin import Run, built
from unit.why.mechanisms.cases import _reduced_again as reduced_again
from unit.why.mechanisms.scenes import facts, named

from quiclab.why.mechanisms import with_mechanisms

_MS = 1_000_000
_PATH: dict[str, Any] = {"protocol": "h3", "rate_down": 20_000_000, "delay_ns": 30 * _MS, "body_bytes": 1_000_000}
_FULL_QUEUE = {**_PATH, "queue_bytes": 60_000}
_LOSSY = {**_PATH, "loss_down": 0.015, "seed": 2}


def test_a_loss_of_the_same_flight_reduces_nothing_again() -> None:
    """Both packets had been sent before the first reduction."""
    assert facts(reduced_again(), "reduced_in_recovery") == {
        "episodes": 1, "reductions": 2, "window_left_by_the_first": 50, "window_left_by_all": 25,
        "time": 20, "waits": 1,
    }  # fmt: skip


def test_two_episodes_reduce_twice() -> None:
    """The second packet was sent after the first reduction."""
    found = named(reduced_again(same_episode=False))
    assert found["loss_on_the_path"] == 20
    assert "reduced_in_recovery" not in found


@pytest.mark.parametrize("left", [2, 9])
def test_no_other_fall_of_the_window_is_a_second_reduction(left: int) -> None:
    """Two packets of ten may be the least window after persistent congestion, nine a step of a reduction bit by bit."""
    assert "reduced_in_recovery" not in named(reduced_again(left=left))


@pytest.mark.parametrize("control", ["reno", "cubic"])
@pytest.mark.parametrize("path", [_FULL_QUEUE, _LOSSY], ids=["full queue", "losses"])
def test_the_twin_is_named_where_it_reduces_again_and_nowhere_else(control: str, path: dict[str, Any]) -> None:
    """A full queue loses many packets of one flight; the fault costs about what it is told to have."""
    wrong, right = built().runs([{**path, "control": control, "reduces_in_recovery": each} for each in (True, False)])
    assert "reduced_in_recovery" not in _named_ms(right)
    told_ms, effect_ms = _named_ms(wrong)["reduced_in_recovery"], (wrong.total_ns - right.total_ns) / _MS
    assert told_ms > 100
    if path is _FULL_QUEUE:
        assert told_ms == pytest.approx(effect_ms, rel=0.25)


def _named_ms(run: Run) -> dict[str, float]:
    account, _ = with_mechanisms(run.evidence, run.account)
    length = ((pl.col("until_ns") - pl.col("from_ns")).sum() / _MS).alias("ms")
    return dict(account.drop_nulls("mechanism").group_by("mechanism").agg(length).iter_rows())
