# SPDX-License-Identifier: Apache-2.0
"""Bytes acknowledged over time in trials that were written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.evidence.metrics import scenes


def test_tcp_counts_cumulative_and_selective_acknowledgments_once(tmp_path: Path) -> None:
    """The SACK block counts when it comes, not again when the hole before it is filled; SYN and FIN are no bytes."""
    points = scenes.tcp_scene().acknowledged(tmp_path)
    assert [total for _, total in points] == [0, 100, 200, 300, 400, 500, 530]
    assert [ms for ms, _ in points] == pytest.approx([1020, 1041, 1061, 1062, 1064, 1085, 1097])


def test_quic_counts_each_offset_of_the_request_streams_once(tmp_path: Path) -> None:
    """Control streams do not count; an ACK is placed where its packet left, not where the log's clock has it."""
    points = scenes.quic_scene().acknowledged(tmp_path)
    assert [total for _, total in points] == [200, 300]
    assert [ms for ms, _ in points] == pytest.approx([47, 69])


def test_an_absurd_range_is_no_trap(tmp_path: Path) -> None:
    """An ACK of every packet number that exists acknowledges what was received."""
    scene = scenes.quic_scene()
    assert scene.client_qlog
    scene.client_qlog.records[-1]["data"]["frames"][0]["acked_ranges"] = [[0, 2**62 - 1]]
    assert scene.acknowledged(tmp_path)[-1] == (pytest.approx(69), 300)


def test_without_logs_there_are_no_rows(tmp_path: Path) -> None:
    """Not an exception: the figure has nothing to draw."""
    assert scenes.Scene("h3").acknowledged(tmp_path) == []
