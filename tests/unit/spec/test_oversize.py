# SPDX-License-Identifier: Apache-2.0
"""A size above which packets are lost, as the spec writes it and as the emulator reads it."""

from __future__ import annotations

import pathlib

import pytest
from specs import only_problem, study_of, with_path

from quiclab.model.network import Oversize
from quiclab.model.units import ByteCount, Duration, Share
from quiclab.spec.link import link_config
from quiclab.spec.path_file import read_path_of


def test_a_size_may_be_lost_always_or_at_times(tmp_path: pathlib.Path) -> None:
    """All packets above it unless a probability is given; in one direction or both, and by a schedule."""
    later = 'oversize = {above = "1280 B", probability = "4 %", after = "2 s"}\n'
    later += 'schedule = [{at = "3 s", oversize = {above = "1 KB"}}, {at = "4 s", oversize = "none"}]'
    path = study_of(tmp_path, with_path(f'oversize = {{above = "1300 B"}}\n[path.up]\n{later}')).paths[0]
    assert path.down.oversize == Oversize(ByteCount(1300), Share(1.0), Duration(0))
    assert path.up.oversize == Oversize(ByteCount(1280), Share(0.04), Duration(2 * 10**9))
    config = link_config(path, 1)
    assert config["down"]["oversize"] == {
        "above_bytes": 1300, "probability": 1.0, "after_ns": 0, "too_big": "black hole",
    }  # fmt: skip
    assert config["up"]["oversize"] == {
        "above_bytes": 1280, "probability": 0.04, "after_ns": 2 * 10**9, "too_big": "black hole",
    }  # fmt: skip
    changes = [change["set"]["oversize"] for change in config["up"]["schedule"]]
    assert changes == [{"above_bytes": 1000, "probability": 1.0, "after_ns": 0, "too_big": "black hole"}, None]


def test_a_link_of_its_own_mtu_may_tell_senders(tmp_path: pathlib.Path) -> None:
    """One of several links, as a router before it does."""
    links = '[[path.link]]\nname = "a"\n[[path.link]]\nname = "b"\noversize = {above = "1400 B", too_big = "icmp"}'
    (tmp_path / "two.toml").write_text(f'[[path]]\nname = "two"\n{links}\n')
    path, _ = read_path_of(str(tmp_path / "two.toml"))
    first, second = path.links
    assert first.up.oversize is None
    assert second.down.oversize == Oversize(ByteCount(1400), too_big="icmp")
    assert str(second.down.oversize) == "packets above 1400 B lost, their sender is told (ICMP)"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('oversize = "1300 B"', "a string; write a table with above, probability, after, too_big"),
        ('oversize = {probability = "4 %"}', '"above" is missing'),
        ('oversize = {above = "20 B"}', "a size is from 28 B to"),
        ('oversize = {above = "1300 B", probability = "104 %"}', "is not between 0 % and 100 %"),
        ('schedule = [{at = "1 s", oversize = {above = "1300 B", after = "1 s"}}]', 'leave "after" out'),
        ('oversize = {above = "500 B", too_big = "icmp"}', "a host may ignore an MTU of 500 B; write 576 B or more"),
        ('oversize = {above = "1300 B", too_big = "imcp"}', 'did you mean "icmp"?'),
        ('ip_version = 6\noversize = {above = "1279 B", too_big = "icmp"}', "1279 bytes are no MTU of IPv6"),
    ],
)
def test_a_wrong_one_is_refused(tmp_path: pathlib.Path, lines: str, words: str) -> None:
    """The problem says what may stand there instead."""
    assert words in only_problem(tmp_path, with_path(lines))
