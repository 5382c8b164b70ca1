# SPDX-License-Identifier: Apache-2.0
"""Shares of ECN-capable and marked packets, each at the end where it shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from decoders import writers
from unit.evidence.metrics import scenes

NOT_ECT, ECT0, CE = 0, 2, 3


def ecn(ip: bytes, bits: int) -> bytes:
    """The packet with these bits."""
    return ip[:1] + bytes([ip[1] & 0xFC | bits]) + ip[2:]


def test_capable_is_counted_where_packets_leave_and_marked_where_they_arrive(tmp_path: Path) -> None:
    """A lost packet was sent, but did not arrive."""
    scene = scenes.Scene("h3")
    scene.send("up", 0, ecn(writers.udp("up", 100), NOT_ECT))
    for ms, bits, lost in ((1, ECT0, False), (2, ECT0, True), (3, ECT0, False), (4, NOT_ECT, False), (5, CE, False)):
        scene.send("down", ms, ecn(writers.udp("down", 100), bits), lost=lost)
    metrics = scene.metrics(tmp_path)
    assert metrics["ecn_capable_up_pct"].value == 0
    assert metrics["ecn_capable_down_pct"].value == pytest.approx(100 * 4 / 5)
    assert metrics["ecn_ce_down_pct"].value == pytest.approx(100 * 1 / 4)
    assert metrics["ecn_ce_up_pct"].value == 0
