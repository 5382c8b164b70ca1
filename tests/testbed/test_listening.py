# SPDX-License-Identifier: Apache-2.0
"""A server is ready when its sockets are there: seen without a packet, by inet_diag and by /proc/net alike."""

from __future__ import annotations

import socket

import pytest
from live_link import in_sandbox

from quiclab.lab.testbed.listening import ListeningPorts
from quiclab.lab.testbed.namespace import NetworkNamespace

pytestmark = pytest.mark.netns


@pytest.mark.parametrize("by_diag", [True, False])
def test_ports_appear_when_they_are_opened(by_diag: bool) -> None:
    """TCP and UDP, IPv4 and IPv6; connected sockets are not listening."""

    def work() -> list[list[int]]:
        with NetworkNamespace() as namespace, ListeningPorts(namespace) as ports:
            if not by_diag:
                ports._diag.close()  # type: ignore[union-attr]
                ports._diag = None
            before = sorted(ports.sockets("tcp") | ports.sockets("udp"))
            four = namespace.run(lambda: socket.create_server(("127.0.0.1", 81)))
            six = namespace.run(lambda: socket.create_server(("::1", 82), family=socket.AF_INET6))
            datagram = namespace.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            datagram.bind(("127.0.0.1", 83))
            caller = namespace.run(lambda: socket.create_connection(("127.0.0.1", 81)))
            found = [before, sorted(ports.sockets("tcp")), sorted(ports.sockets("udp"))]
            for each in (four, six, datagram, caller):
                each.close()
            return found

    assert in_sandbox(work) == [[], [81, 82], [83]]
