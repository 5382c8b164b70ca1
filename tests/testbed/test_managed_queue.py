# SPDX-License-Identifier: Apache-2.0
"""Managed queues with real packets: what is marked arrives marked, what is dropped is said to be, on both backends."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from by_night import by_night
from live_link import Ends, in_sandbox, open_link, unread

from quiclab.lab.testbed.backend import tun_problem
from quiclab.lab.testbed.link import SERVER_ADDRESSES, Backend
from quiclab.logs.decoders import decode_trial
from quiclab.model.study import Aqm, CoDel, Direction, FqCoDel, Queue, Step
from quiclab.model.units import Bitrate, ByteCount, Duration

pytestmark = pytest.mark.netns
NOT_ECT, ECT1, ECT0, CE = range(4)
_UDP_SEGMENT = 103
_SIZE, _BURST = 1200, 10
_RATE = Bitrate(6_000_000)


@pytest.fixture(params=["tun", *by_night("veth")])
def backend(request: pytest.FixtureRequest) -> Backend:
    """Both ways to carry packets, where this machine has them."""
    if request.param == "tun" and (problem := in_sandbox(tun_problem)) is not None:
        pytest.skip(f"no TUN device here: {problem}")
    return request.param  # type: ignore[no-any-return]


def _flood(ends: Ends, ecn: int, ip_version: int, port: int, gap_s: float, burst: int) -> tuple[dict[int, int], int]:
    """1 s of UDP super-packets with these ECN bits: how many datagrams were read by the bits that they came with, and
    how many found the socket full."""
    family = socket.AF_INET if ip_version == 4 else socket.AF_INET6
    level = socket.IPPROTO_IP if ip_version == 4 else socket.IPPROTO_IPV6
    set_bits = socket.IP_TOS if ip_version == 4 else socket.IPV6_TCLASS
    tell_bits = 13 if ip_version == 4 else socket.IPV6_RECVTCLASS
    receiver = ends.server.run(lambda: socket.socket(family, socket.SOCK_DGRAM))
    receiver.bind((SERVER_ADDRESSES[ip_version], port))
    receiver.setsockopt(level, tell_bits, 1)
    receiver.settimeout(1)
    sender = ends.client.run(lambda: socket.socket(family, socket.SOCK_DGRAM))
    sender.setsockopt(level, set_bits, ecn)
    sender.setsockopt(socket.IPPROTO_UDP, _UDP_SEGMENT, _SIZE)
    arrived: Counter[int] = Counter()

    def drain() -> None:
        try:
            while True:
                _, control, _, _ = receiver.recvmsg(2048, 64)
                (data,) = (data for at, kind, data in control if at == level)
                bits = data[0] if len(data) == 1 else struct.unpack("i", data)[0]
                arrived[bits & 3] += 1
        except TimeoutError:
            pass

    thread = threading.Thread(target=drain)
    thread.start()
    began = time.monotonic()
    for number in range(1, round(1 / gap_s) + 1):
        sender.sendto(bytes(_SIZE * burst), (SERVER_ADDRESSES[ip_version], port))
        time.sleep(max(0.0, began + number * gap_s - time.monotonic()))
    thread.join()
    missed = unread(receiver)
    sender.close()
    receiver.close()
    return dict(arrived), missed


def _overloaded(folder: Path, backend: Backend, aqm: Aqm, ecn: int, ip_version: int = 4) -> dict[str, Any]:
    """About 12 Mbit/s into 6: what arrived, and the link's account."""
    direction = Direction(rate=_RATE, delay=Duration(5_000_000), queue=Queue(packets=20_000), aqm=aqm)

    def work() -> dict[str, Any]:
        with open_link(direction, folder, backend) as ends:
            arrived, missed = _flood(ends, ecn, ip_version, 5003, 0.008, _BURST)
            read = [arrived.get(bits, 0) for bits in range(4)]
            return {"arrived": read, "missed": missed, "up": ends.link.stop()["up"]}

    outcome = in_sandbox(work)
    up = outcome["up"]
    assert up["packets_in"] == up["delivered"] + sum(up["dropped"].values())
    assert sum(outcome["arrived"]) + outcome["missed"] == up["delivered"]
    return outcome  # type: ignore[no-any-return]


def _check_bits(outcome: dict[str, Any], unmarked: int) -> None:
    """What was read came with CE or as it was sent: as many of each as the link says, less what was not read."""
    read, marked, missed = outcome["arrived"], outcome["up"]["marked"], outcome["missed"]
    assert {bits for bits, count in enumerate(read) if count} == {unmarked, CE}
    assert marked - missed <= read[CE] <= marked


def _packets(folder: Path) -> pl.DataFrame:
    (folder / "raw").mkdir()
    (folder / "link.qplog").rename(folder / "raw" / "link.qplog")
    (folder / "trial.json").write_text("{}")
    return decode_trial(folder).tables["link_packets"].filter(direction="up")


@pytest.mark.parametrize("ip_version", [6, *by_night(4)])
def test_codel_marks_what_understands_marks(backend: Backend, tmp_path: Path, ip_version: int) -> None:
    """With `ecn`, ECT(0) packets cut from super-packets arrive, some of them marked, as many as link and log say: so
    every header checksum is right."""
    outcome = _overloaded(tmp_path, backend, CoDel(ecn=True), ECT0, ip_version)
    marked = outcome["up"]["marked"]
    assert outcome["up"]["dropped"] == {}
    _check_bits(outcome, unmarked=ECT0)
    assert marked > 20
    assert _packets(tmp_path)["ecn_ce"].sum() == marked


def test_codel_drops_what_does_not(backend: Backend, tmp_path: Path) -> None:
    """The same flood without ECN loses packets, each with its reason in the packet log."""
    outcome = _overloaded(tmp_path, backend, CoDel(ecn=True), NOT_ECT)
    dropped = outcome["up"]["dropped"]
    assert outcome["up"]["marked"] == 0
    assert dropped["aqm"] > 20
    packets = _packets(tmp_path)
    assert packets.filter(reason="aqm").height == dropped["aqm"]
    assert packets.filter(action="delivered")["ecn_ce"].sum() == 0


def test_the_step_marks_ect1_only(backend: Backend, tmp_path: Path) -> None:
    """What waited above 1 ms arrives marked, and the packet log says the same of each packet's time in the queue."""
    outcome = _overloaded(tmp_path, backend, Step(), ECT1)
    _check_bits(outcome, unmarked=ECT1)
    packets = _packets(tmp_path).filter(action="delivered")
    in_queue = packets["due_ns"] - packets["arrival_ns"] - packets["service_ns"] - 5_000_000
    assert packets["ecn_ce"].to_list() == (in_queue > 1_000_000).to_list()


def test_fair_queueing_keeps_a_sparse_flow_out_of_the_flood(backend: Backend, tmp_path: Path) -> None:
    """One packet every 20 ms beside a flood: none is dropped, and none waits for more than two packets of the flood,
    unless the machine made several of them come at once."""
    direction = Direction(rate=_RATE, queue=Queue(packets=20_000), aqm=FqCoDel())

    def work() -> dict[str, Any]:
        with open_link(direction, tmp_path, backend) as ends:
            sparse = threading.Thread(target=_flood, args=(ends, NOT_ECT, 4, 5004, 0.02, 1))
            sparse.start()
            _flood(ends, NOT_ECT, 4, 5003, 0.008, _BURST)
            sparse.join()
            return ends.link.stop()

    in_sandbox(work)
    packets = _packets(tmp_path).filter(pl.col("index").is_not_null())
    counts = packets.group_by("flow").len().sort("len")
    sparse, flood = (packets.filter(flow=flow) for flow in counts["flow"])
    assert sparse["action"].unique().to_list() == ["delivered"]
    longest_ns = 3 * _RATE.time_for(ByteCount(_SIZE + 28)).ns
    gap_ns = sparse["arrival_ns"].diff().fill_null(10_000_000)
    by_itself = sparse.filter((gap_ns >= 10_000_000) & (gap_ns.shift(1, fill_value=10_000_000) >= 10_000_000))
    assert by_itself.height > sparse.height / 2
    assert ((by_itself["due_ns"] - by_itself["arrival_ns"]) <= longest_ns).all()
    assert flood.filter(reason="aqm").height > 20
