# SPDX-License-Identifier: Apache-2.0
"""Several pairs of ends share one link: each reaches its own far end only, and all meet at the one bottleneck."""

from __future__ import annotations

import socket
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from by_night import by_night
from live_link import in_sandbox

from quiclab.lab.testbed.backend import tun_problem
from quiclab.lab.testbed.hub import Hub, Pair
from quiclab.lab.testbed.link import Backend, End, Link, LinkSettings
from quiclab.lab.testbed.namespace import NetworkNamespace, RouteMetrics
from quiclab.model.study import Direction, Queue
from quiclab.model.study import Path as LinkPath
from quiclab.model.units import Bitrate, ByteCount, Duration
from quiclab.spec.link import link_config

pytestmark = pytest.mark.netns
ENDS: tuple[End, ...] = ("client", "server")
PORT = 5001
PAIRS = (Pair(0), Pair(1))
ROUTES = (RouteMetrics("reno", 10), RouteMetrics("cubic", 32))


@pytest.fixture(params=["tun", *by_night("veth")])
def backend(request: pytest.FixtureRequest) -> Backend:
    """Both ways to carry packets, where this machine has them."""
    if request.param == "tun" and (problem := in_sandbox(tun_problem)) is not None:
        pytest.skip(f"no TUN device here: {problem}")
    return request.param  # type: ignore[no-any-return]


class _Shared:
    """Two pairs behind hubs, and the link between these."""

    def __init__(self, stack: ExitStack, folder: Path, backend: Backend) -> None:
        direction = Direction(rate=Bitrate(20_000_000), delay=Duration(5_000_000), queue=Queue(bytes=ByteCount(60_000)))
        path = LinkPath("shared", up=direction, down=direction)
        self.hubs = {end: Hub(end, stack.enter_context(NetworkNamespace()), path.mtu) for end in ENDS}
        self.members = {(end, pair): stack.enter_context(NetworkNamespace()) for end in ENDS for pair in PAIRS}
        for pair, route in zip(PAIRS, ROUTES, strict=True):
            for end in ENDS:
                self.hubs[end].add(pair, self.members[end, pair], route)
        settings = LinkSettings(
            backend=backend, mtu=path.mtu, model=link_config(path, 1), route=None, work_dir=folder, captures=True
        )
        link = Link(settings, self.hubs["client"].namespace, self.hubs["server"].namespace)
        self.link = stack.enter_context(link)
        for hub in self.hubs.values():
            hub.join()

    def download(self, pair: Pair, seconds: float, ip_version: int = 4) -> dict[str, Any]:
        """So many bytes came from the pair's server, under its own congestion control."""
        family = socket.AF_INET if ip_version == 4 else socket.AF_INET6
        address = (pair.addresses("server")[ip_version], PORT)
        listener = self.members["server", pair].run(lambda: socket.create_server(address, family=family))
        receiver = self.members["client", pair].run(lambda: socket.socket(family, socket.SOCK_STREAM))
        receiver.settimeout(10)
        receiver.connect(address)
        sender, peer = listener.accept()
        name = sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()
        stop = threading.Timer(seconds, lambda: sender.shutdown(socket.SHUT_RDWR))
        stop.start()
        feed = threading.Thread(target=_feed, args=[sender])
        feed.start()
        count = 0
        while part := receiver.recv(1 << 16):
            count += len(part)
        feed.join()
        for each in (sender, receiver, listener):
            each.close()
        return {"bytes": count, "peer": peer[0], "congestion_control": name}


def _feed(sender: socket.socket) -> None:
    try:
        while True:
            sender.sendall(bytes(1 << 16))
    except OSError:
        pass


def _open(folder: Path, backend: Backend, work: Any) -> Any:
    def inside() -> Any:
        with ExitStack() as stack:
            return work(_Shared(stack, folder, backend))

    return in_sandbox(inside)


def test_two_pairs_share_one_bottleneck(backend: Backend, tmp_path: Path) -> None:
    """Each with its own addresses and congestion control; the link's books balance, hold what both received, and the
    hubs drop nothing."""

    def work(shared: _Shared) -> dict[str, Any]:
        outcome: dict[int, Any] = {}

        def run(pair: Pair) -> None:
            outcome[pair.number] = shared.download(pair, 3)

        threads = [threading.Thread(target=run, args=[pair]) for pair in PAIRS]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        flows = [outcome[pair.number] for pair in PAIRS]
        drops = [hub.dropped() for hub in shared.hubs.values()]
        return {"flows": flows, "summary": shared.link.stop(), "drops": drops}

    told = _open(tmp_path, backend, work)
    assert [flow["peer"] for flow in told["flows"]] == ["10.77.0.1", "10.77.1.1"]
    assert [flow["congestion_control"] for flow in told["flows"]] == ["reno", "cubic"]
    assert told["drops"] == [0, 0]
    down = told["summary"]["down"]
    assert down["packets_in"] == down["delivered"] + sum(down["dropped"].values()) + down["inside_at_end"]
    assert sum(told["summary"]["outside_drops"].values()) == 0
    received = sum(flow["bytes"] for flow in told["flows"])
    assert all(flow["bytes"] > 0 for flow in told["flows"])
    assert received < down["delivered_bytes"]
    assert received > 0.85 * down["delivered_bytes"]
    assert down["delivered_bytes"] * 8 < 20_000_000 * 4


def test_ipv6_goes_through_the_hubs_too(backend: Backend, tmp_path: Path) -> None:
    """The second pair over IPv6, by its own subnet."""
    flow = _open(tmp_path, backend, lambda shared: shared.download(PAIRS[1], 0.5, 6))
    assert flow["peer"] == "fd77:0:0:1::1"
    assert flow["bytes"] > 100_000


def test_a_pair_does_not_reach_another(backend: Backend, tmp_path: Path) -> None:
    """The first client finds nobody at the second server's address."""

    def work(shared: _Shared) -> str:
        address = (PAIRS[1].addresses("server")[4], PORT)
        listener = shared.members["server", PAIRS[1]].run(lambda: socket.create_server(address))
        caller = shared.members["client", PAIRS[0]].run(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        caller.settimeout(1)
        try:
            caller.connect(address)
        except OSError as error:
            return type(error).__name__
        finally:
            listener.close()
            caller.close()
        return "connected"

    assert _open(tmp_path, backend, work) == "OSError"
