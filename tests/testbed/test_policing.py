# SPDX-License-Identifier: Apache-2.0
"""Blocking and policing with real packets: UDP suffers, TCP beside it does not."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from by_night import by_night
from live_link import bulk_tcp, in_sandbox, open_link, udp_flood

from quiclab.lab.testbed.backend import tun_problem
from quiclab.lab.testbed.link import Backend
from quiclab.model.study import Block, Direction, Police
from quiclab.model.units import Bitrate, ByteCount, Duration

pytestmark = pytest.mark.netns
_HEADER, _RECORD, _REASON = 64, 48, 42
POLICED, BLOCKED = 7, 8


@pytest.fixture(params=["tun", *by_night("veth")])
def backend(request: pytest.FixtureRequest) -> Backend:
    """Both ways to carry packets, where this machine has them."""
    if request.param == "tun" and (problem := in_sandbox(tun_problem)) is not None:
        pytest.skip(f"no TUN device here: {problem}")
    return request.param  # type: ignore[no-any-return]


def _udp_then_tcp(folder: Path, backend: Backend, direction: Direction) -> dict[str, Any]:
    """1 s of UDP at 20 Mbit/s, then a moment of TCP: what arrived, and the link's account."""

    def work() -> dict[str, Any]:
        with open_link(direction, folder, backend) as ends:
            udp = udp_flood(ends, 20_000_000, 1)
            tcp = bulk_tcp(ends, 0.2)
            return {"udp": udp, "tcp": tcp, "up": ends.link.stop()["up"]}

    outcome = in_sandbox(work)
    up = outcome["up"]
    assert up["packets_in"] == up["delivered"] + sum(up["dropped"].values())
    assert outcome["tcp"]["bytes"] > 100_000
    return outcome  # type: ignore[no-any-return]


def _reasons(folder: Path) -> Counter[int]:
    """Packets of the log by the reason for their drop."""
    log = (folder / "link.qplog").read_bytes()[_HEADER:]
    return Counter(struct.unpack_from("B", log, at + _REASON)[0] for at in range(0, len(log), _RECORD))


def test_blocked_udp_never_arrives(backend: Backend, tmp_path: Path) -> None:
    """Not one datagram, while TCP passes; each drop has its reason in the log."""
    outcome = _udp_then_tcp(tmp_path, backend, Direction(block=Block("udp")))
    assert outcome["udp"]["arrived"] == 0
    assert outcome["up"]["dropped"] == {"blocked": outcome["udp"]["sent"]}
    assert _reasons(tmp_path)[BLOCKED] == outcome["udp"]["sent"]


def test_a_block_may_come_later(backend: Backend, tmp_path: Path) -> None:
    """Half a second after the first packet nothing more arrives."""
    block = Block("udp", Duration(500_000_000))
    outcome = _udp_then_tcp(tmp_path, backend, Direction(block=block))
    blocked = outcome["up"]["dropped"]["blocked"]
    assert outcome["udp"]["arrived"] == outcome["udp"]["sent"] - blocked
    assert outcome["udp"]["arrived"] > 0


def test_policed_udp_passes_at_its_rate(backend: Backend, tmp_path: Path) -> None:
    """The bucket's burst and what filled it since arrive, the rest is dropped for that reason; TCP loses nothing."""
    police = Police("udp", Bitrate(4_000_000), ByteCount(100_000))
    outcome = _udp_then_tcp(tmp_path, backend, Direction(police=police))
    dropped = outcome["up"]["dropped"]
    assert set(dropped) == {"policed"}
    assert _reasons(tmp_path)[POLICED] == dropped["policed"]
    received = outcome["udp"]["arrived"]
    assert received == outcome["udp"]["sent"] - dropped["policed"]
    # 1428 bytes each; what was sent took 1 s, and a machine that sends late lets the bucket fill for longer.
    assert received >= 100_000 // 1428
    assert received < outcome["udp"]["sent"]
