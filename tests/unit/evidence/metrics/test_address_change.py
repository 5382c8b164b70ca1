# SPDX-License-Identifier: Apache-2.0
"""What a change of the client's address cost, in trials that were written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from decoders import writers
from unit.evidence.metrics import scenes

SEEN = {"body_bytes_again": 400, "last_byte_before_ns": scenes.ns(100), "first_byte_after_ns": scenes.ns(145)}
NAMES = ("address_change_gap_ms", "body_bytes_again", "old_address_bytes", "address_change_delay_ms")


def _scene(gone_ms: float) -> scenes.Scene:
    scene = scenes.tcp_scene()
    change: dict[str, Any] = {"old_address": writers.CLIENT, "reached_ns": scenes.ns(gone_ms - 2)}
    scene.extra["address_change"] = change | {"changed_ns": scenes.ns(gone_ms)}
    scene.request["address_change"] = SEEN
    return scene


def test_the_gap_and_what_came_twice(tmp_path: Path) -> None:
    """By the client's account; the laboratory's own delay beside it."""
    found = _scene(1200).metrics(tmp_path)
    assert [found[name].value for name in NAMES] == [pytest.approx(45), 400, 0, pytest.approx(2)]


def test_what_comes_for_the_old_address_does_not_arrive(tmp_path: Path) -> None:
    """It is counted apart, and the time to the last byte ends before it."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    stays = _scene(1200).metrics(tmp_path / "a")
    leaves = _scene(1063).metrics(tmp_path / "b")
    assert leaves["old_address_bytes"].value
    assert leaves["ttlb_ms"].value is not None
    assert stays["ttlb_ms"].value is not None
    assert leaves["ttlb_ms"].value < 1063 < stays["ttlb_ms"].value


def test_a_stable_address_has_none_of_it(tmp_path: Path) -> None:
    """Null, with the reason."""
    found = scenes.tcp_scene().metrics(tmp_path)
    assert {(found[name].value, found[name].note) for name in NAMES} == {(None, "the client's address stayed")}
