# SPDX-License-Identifier: Apache-2.0
"""The path as the packets met it, from packet logs that were written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from decoders import writers
from unit.evidence.metrics import scenes

MS = 1_000_000


def test_round_trips_are_those_of_a_packet_and_the_one_that_answers(tmp_path: Path) -> None:
    """10 ms up; 20 and 40 ms down: the second one met a queue."""
    records = [
        writers.record("up", 0, 0, 10 * MS),
        writers.record("down", 0, 10 * MS, 30 * MS),
        writers.record("down", 1, 10 * MS, 50 * MS),
        writers.record("up", 1, 60 * MS, 70 * MS),
    ]
    metrics = scenes.Scene("h2", log=records).metrics(tmp_path)
    assert metrics["path_rtt_mean_ms"].value == pytest.approx(40)
    assert metrics["path_rtt_sd_ms"].value == pytest.approx(200**0.5)


def test_a_packet_that_another_overtook_came_out_of_order(tmp_path: Path) -> None:
    """One of four; the other direction kept its order."""
    left = (20, 50, 30, 60)
    records = [writers.record("down", index, index, ms * MS) for index, ms in enumerate(left)]
    records.append(writers.record("up", 0, 0, 10 * MS))
    metrics = scenes.Scene("h2", log=records).metrics(tmp_path)
    assert metrics["path_reordered_down_pct"].value == pytest.approx(25)
    assert metrics["path_reordered_up_pct"].value == 0
