# SPDX-License-Identifier: Apache-2.0
"""Losses of whole super-packets, with real TCP segments that a kernel handed over as one."""

from __future__ import annotations

import struct
from collections import defaultdict
from pathlib import Path

import pytest
from live_link import bulk_tcp, in_sandbox, open_link

from quiclab.lab.testbed.backend import tun_problem
from quiclab.model.study import Bernoulli, Direction
from quiclab.model.units import Bitrate, Duration, Share

pytestmark = pytest.mark.netns
_HEADER, _RECORD = 64, 48
_BURST, _DIRECTION, _REASON = 28, 40, 42


def _by_super_packet(log: bytes) -> dict[int, list[bool]]:
    """Super-packet of the direction up → whether each of its packets was dropped."""
    found = defaultdict(list)
    for at in range(_HEADER, len(log), _RECORD):
        if log[at + _DIRECTION] == 0:
            (burst,) = struct.unpack_from("<I", log, at + _BURST)
            found[burst].append(log[at + _REASON] != 0)
    return found


def test_all_of_a_super_packet_is_lost_or_nothing(tmp_path: Path) -> None:
    """A fifth of what a sender with TSO hands over is lost, each as one."""
    if (problem := in_sandbox(tun_problem)) is not None:
        pytest.skip(f"no TUN device here: {problem}")
    direction = Direction(
        rate=Bitrate(50_000_000), delay=Duration(5_000_000), loss=Bernoulli(Share(0.05)), loss_by="super-packet"
    )

    def work() -> None:
        with open_link(direction, tmp_path, "tun") as ends:
            bulk_tcp(ends, 1.0)
            ends.link.stop()

    in_sandbox(work)
    found = _by_super_packet((tmp_path / "link.qplog").read_bytes())
    several = [each for each in found.values() if len(each) > 1]
    assert len(several) > 20
    assert all(len(set(each)) == 1 for each in found.values())
    lost = sum(each[0] for each in found.values())
    assert 0 < lost < 0.2 * len(found)
