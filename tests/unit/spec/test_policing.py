# SPDX-License-Identifier: Apache-2.0
"""Blocking and policing of a transport, as the spec writes it and as the emulator reads it."""

from __future__ import annotations

import pathlib

import pytest
from specs import only_problem, study_of, with_path

from quiclab.model.study import Block, Police
from quiclab.model.units import Bitrate, ByteCount, Duration
from quiclab.spec.link import link_config

LATER = 'police = {protocol = "udp", rate = "5 Mbit/s", burst = "64 KB", after = "2 s"}'


def test_a_transport_may_be_blocked_or_policed(tmp_path: pathlib.Path) -> None:
    """From the start, or later, in one direction or both."""
    path = study_of(tmp_path, with_path(f'block = {{protocol = "tcp"}}\n[path.up]\n{LATER}')).paths[0]
    assert path.up.block == path.down.block == Block("tcp", Duration(0))
    assert path.up.police == Police("udp", Bitrate(5_000_000), ByteCount(64_000), Duration(2 * 10**9))
    assert path.down.police is None
    up = link_config(path, 1)["up"]
    assert up["block"] == {"protocol": "tcp", "after_ns": 0}
    bucket = {"rate_bit_per_s": 5_000_000, "burst_bytes": 64_000}
    assert up["police"] == {"protocol": "udp", **bucket, "after_ns": 2_000_000_000}


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('block = "udp"', "a string; write a table with protocol, after"),
        ('block = {protocol = "quic"}', "block.protocol"),
        ('block = {after = "2 s"}', '"protocol" is missing'),
        ('block = {protocol = "udp", from = "2 s"}', "there is no such key here"),
        ('police = {protocol = "udp", rate = "5 Mbit/s"}', '"burst" is missing'),
        ('police = {protocol = "udp", rate = "5 Mbit/s", burst = "5 B"}', "a burst is from 576 B to 1 GB"),
        ('police = {protocol = "udp", rate = "5 Mbit/s", burst = "1 KB"}', "no room for one packet of 1.5 KB"),
        ('police = {protocol = "udp", rate = "0 Mbit/s", burst = "64 KB"}', "a rate is from 1 bit/s"),
    ],
)
def test_a_wrong_one_is_refused(tmp_path: pathlib.Path, lines: str, words: str) -> None:
    """The problem says what may stand there instead."""
    assert words in only_problem(tmp_path, with_path(lines))
