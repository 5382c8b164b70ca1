# SPDX-License-Identifier: Apache-2.0
"""A server of TCP whose kernel keeps bytes back with room in its window: by Nagle's algorithm, or by a cork."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from accounts import account_of, sums_ms
from pausing_server import PROGRAM, WORDS
from stack_study import need, run_arms

pytestmark = [pytest.mark.e2e, pytest.mark.netns, pytest.mark.alone]

_TRIP_MS = 40.0


@pytest.fixture(scope="module")
def totals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    """Arm → ms by reason, of 2 KB over a round trip of 40 ms."""
    need(("client", "curl"))
    folder = tmp_path_factory.mktemp("kept")
    arms = {how: _arm(how) for how in ("nagle", "nodelay", "corked", "paced")}
    arms["paced"] += '\ntcp = { congestion_control = "cubic", pacing = true }'
    found = run_arms(folder, arms, "2 KB", delay=f"{_TRIP_MS / 2} ms")
    return {arm: _sums(folder, trial) for arm, trial in found.items()}


def _arm(how: str) -> str:
    argv = f'["{sys.executable}", "-I", "{PROGRAM}", "{how}", {WORDS}]'
    return f'protocol = "h1"\nclient = "curl"\nserver = {{ argv = {argv}, ready = "tcp" }}'


def _sums(folder: Path, trial: dict[str, Any]) -> dict[str, float]:
    assert trial["status"] == "verified", trial["reason"]
    account = account_of(folder / "study", trial)
    assert account.filter(pl.col("why") == "nagle")["mechanism"].unique().to_list() in ([], ["nagle"])
    return sums_ms(account, "why")


def test_a_piece_that_waits_for_the_acknowledgment_of_the_one_before_is_nagles(
    totals: dict[str, dict[str, float]],
) -> None:
    """The first piece leaves at once, the last, which fills no segment, a round trip later; without it none waits."""
    assert totals["nagle"]["nagle"] == pytest.approx(_TRIP_MS, abs=5)
    assert not {"nagle", "pacing", "cork"} & set(totals["nodelay"])
    assert "pacing" not in totals["nagle"]


def test_a_corked_piece_waits_for_its_program(totals: dict[str, dict[str, float]]) -> None:
    """120 ms of a program that had said that more would follow; CUBIC does not pace."""
    assert totals["corked"].get("cork") == pytest.approx(120, abs=10)
    assert not {"nagle", "pacing"} & set(totals["corked"])


def test_a_socket_that_paces_is_called_nothing_else(totals: dict[str, dict[str, float]]) -> None:
    """A rate that the arm asks for makes its waits pacing."""
    assert not {"nagle", "cork", "kept_in_kernel"} & set(totals["paced"])
