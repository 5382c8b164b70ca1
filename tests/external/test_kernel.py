# SPDX-License-Identifier: Apache-2.0
"""What we believe of Linux. When one of these fails, the belief is wrong here, not the project."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from live_link import Ends, in_sandbox, open_link

from quiclab.lab.testbed.link import SERVER_ADDRESSES
from quiclab.lab.testbed.namespace import NetworkNamespace, RouteMetrics, add_veth
from quiclab.lab.testbed.sampler import tcp_congestion_control
from quiclab.lab.testbed.tcp_settings import sysctls
from quiclab.model.study import Direction, Tcp

pytestmark = pytest.mark.netns


def _pair(name: str) -> str | None:
    with NetworkNamespace() as client, NetworkNamespace() as server:
        for namespace in (client, server):
            namespace.write_sysctls(sysctls(Tcp("reno")))
        add_veth(client, "v0", server, "v1", ("02:00:00:00:00:01", "02:00:00:00:00:02"))
        client.configure("v0", mtu=1500, addresses={"10.0.0.1": 24}, route=RouteMetrics(name, 10))
        server.configure("v1", mtu=1500, addresses={"10.0.0.2": 24}, route=RouteMetrics(name, 10))
        listener = server.run(lambda: socket.create_server(("10.0.0.2", 80)))
        caller = client.run(lambda: socket.create_connection(("10.0.0.2", 80)))
        accepted, _ = listener.accept()
        found = tcp_congestion_control(server, 4, 80)
        for each in (caller, accepted, listener):
            each.close()
        return found


@pytest.mark.parametrize("name", ["reno", "cubic", "bbr"])
def test_a_route_sets_the_congestion_control_of_accepted_sockets(name: str) -> None:
    """A user namespace may name on a route what `tcp_allowed_congestion_control` refuses to the sysctl."""
    if name not in Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text():
        pytest.skip(f"this kernel has no {name}")
    assert in_sandbox(lambda: _pair(name)) == name


def test_sockets_stay_in_the_namespace_they_were_made_in() -> None:
    """A socket made in a thread that was moved serves the whole process."""

    def work() -> str:
        with open_link(Direction(), None, "veth") as ends:
            return _greet(ends)

    assert in_sandbox(work) == "hello"


def _greet(ends: Ends) -> str:
    listener = ends.server.run(lambda: socket.create_server((SERVER_ADDRESSES[4], 80)))
    caller = ends.client.run(lambda: socket.create_connection((SERVER_ADDRESSES[4], 80)))
    accepted, _ = listener.accept()
    accepted.sendall(b"hello")
    with caller, accepted, listener:
        return caller.recv(100).decode()
