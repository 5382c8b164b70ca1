# SPDX-License-Identifier: Apache-2.0
"""Which socket lost datagrams, as the kernel counts them."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest
from live_link import in_sandbox

from quiclab.testbed.namespace import NetworkNamespace
from quiclab.testbed.sampler import counters
from quiclab.testbed.udp_drops import UdpDrops

pytestmark = pytest.mark.netns


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_full_socket_is_told_from_its_neighbour(family: int, address: str) -> None:
    """Drops stand under the full socket's port, agree with the namespace's sum, and outlive the socket."""

    def work() -> dict[str, Any]:
        with NetworkNamespace() as namespace, UdpDrops(namespace) as drops:
            full, read, sender = (
                namespace.run(lambda: socket.socket(socket.AddressFamily(family), socket.SOCK_DGRAM)) for _ in range(3)
            )
            full.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            for each, port in ((full, 4433), (read, 4434)):
                each.bind((address, port))
            for port in [4433] * 50 + [4434] * 3:
                sender.sendto(bytes(1000), (address, port))
            taken = 0
            full.setblocking(False)
            try:
                while full.recv(2000):
                    taken += 1
            except BlockingIOError:
                pass
            time.sleep(0.3)
            for each in (full, read, sender):
                each.close()
            time.sleep(0.2)
            # /proc/net/snmp counts IPv4 alone.
            total = counters(namespace)["UdpRcvbufErrors"]
            return {"found": [(each.port, each.drops) for each in drops.per_socket()], "taken": taken, "total": total}

    told = in_sandbox(work)
    assert told["found"] == [[4433, 50 - told["taken"]]]
    assert told["total"] == (50 - told["taken"] if family == socket.AF_INET else 0)
    assert told["taken"] < 50


def test_a_quiet_namespace_has_nothing_to_tell() -> None:
    """Sockets without drops are left out."""

    def work() -> int:
        with NetworkNamespace() as namespace, UdpDrops(namespace) as drops:
            receiver = namespace.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            receiver.bind(("127.0.0.1", 4433))
            time.sleep(0.15)
            receiver.close()
            return len(drops.per_socket())

    assert in_sandbox(work) == 0
