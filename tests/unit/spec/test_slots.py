# SPDX-License-Identifier: Apache-2.0
"""Slots in which packets leave together, as the spec writes them and as the emulator reads them."""

from __future__ import annotations

import pathlib

import pytest
from specs import changed, only_problem, study_of, with_path

from quiclab.model.study import Slot
from quiclab.model.units import ByteCount, Duration
from quiclab.spec.link import link_config

MS = 10**6


def test_slots_reach_the_emulator(tmp_path: pathlib.Path) -> None:
    """Bounds that are not given are left out; a schedule brings and ends them."""
    lines = (
        'slot = {least = "5 ms"}\n[path.up]\nslot = {least = "2 ms", most = "4 ms", packets = 64, bytes = "64 KB"}\n'
    )
    lines += 'schedule = [{at = "1 s", slot = "none"}]'
    path = study_of(tmp_path, with_path(lines)).paths[0]
    assert path.up.slot == Slot(Duration(2 * MS), Duration(4 * MS), 64, ByteCount(64_000))
    up, down = (link_config(path, 1)[side] for side in ("up", "down"))
    assert isinstance(up, dict)
    assert isinstance(down, dict)
    assert down["slot"] == {"least_ns": 5 * MS}
    assert up["slot"] == {"least_ns": 2 * MS, "most_ns": 4 * MS, "packets": 64, "bytes": 64_000}
    assert up["schedule"][0]["set"] == {"slot": None}


def test_slots_are_told() -> None:
    """The plan says how often they open, and how much leaves."""
    assert str(Slot(Duration(5 * MS))) == "packets held and let out together every 5 ms"
    whole = str(Slot(Duration(2 * MS), Duration(4 * MS), 64, ByteCount(64_000)))
    assert whole.endswith("every 2 ms to 4 ms, at most 64 packets and 64 KB")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('slot = {least = "5 ms", most = "4 ms"}', "the most, 4 ms, is below the least, 5 ms"),
        ('slot = {least = "5 ms", bytes = "1 KB"}', "has no room for one packet of 1.5 KB"),
        ('slot = {least = "5 us"}', "a time between slots is from 100 us to"),
        ('schedule = [{at = "1 s", slot = {least = "5 ms", most = "4 ms"}}]', "is below the least"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: pathlib.Path, lines: str, words: str) -> None:
    """The problem says what to write."""
    assert words in only_problem(tmp_path, with_path(lines))


def test_slots_that_hold_back_need_a_bound(tmp_path: pathlib.Path) -> None:
    """A path without a rate may have a queue where slots let out only so much."""
    limited = ('rate = "10 Mbit/s"\n', 'slot = {least = "5 ms", packets = 9}\n')
    assert 'write a "queue" such as "99 packets"' in only_problem(tmp_path, changed(limited))
    queued = (limited[0], limited[1] + 'queue = "100 packets"\n')
    assert study_of(tmp_path, changed(queued)).paths[0].up.queue.packets == 100
