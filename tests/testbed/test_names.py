# SPDX-License-Identifier: Apache-2.0
"""Names inside the sandbox: the ends of the link, and one name server."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from live_link import in_sandbox

from quiclab.lab.testbed import _libc
from quiclab.lab.testbed.link import CLIENT_ADDRESSES, SERVER_ADDRESSES
from quiclab.lab.testbed.user_commands import name_the_ends, use_name_server

pytestmark = pytest.mark.netns


def test_the_ends_have_names_and_the_machines_own_stay() -> None:
    """What /etc/hosts said before is still said, outside nothing changes."""
    before = Path("/etc/hosts").read_text()

    def work() -> list[str]:
        name_the_ends()
        found = [socket.gethostbyname(name) for name in ("client", "server")]
        found += [socket.getaddrinfo(name, 0, socket.AF_INET6)[0][4][0] for name in ("client6", "server6")]
        return [*found, Path("/etc/hosts").read_text()]

    *addresses, hosts = in_sandbox(work)
    assert addresses == [CLIENT_ADDRESSES[4], SERVER_ADDRESSES[4], CLIENT_ADDRESSES[6], SERVER_ADDRESSES[6]]
    assert hosts.endswith(before)
    assert Path("/etc/hosts").read_text() == before


def test_only_the_one_name_server_is_asked() -> None:
    """No other stands in resolv.conf, and the sockets of the machine's name services are closed."""

    def work() -> list[str]:
        _libc.mount("tmpfs", "/run", "tmpfs")
        service = Path("/run/nscd/socket")
        service.parent.mkdir()
        with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
            listener.bind(str(service))
            listener.listen()
            use_name_server("192.0.2.7")
            try:
                client.connect(str(service))
            except OSError as error:
                return [type(error).__name__, Path("/etc/resolv.conf").read_text()]
        return ["it connects"]

    assert in_sandbox(work) == ["ConnectionRefusedError", "nameserver 192.0.2.7\n"]
