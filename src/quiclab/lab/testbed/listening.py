# SPDX-License-Identifier: Apache-2.0
"""Ports of a namespace that are being listened on, and the sockets that do, from the kernel; no packet is sent.

The source is inet_diag (sock_diag(7)), which takes microseconds. /proc/net/tcp walks the machine's whole hash of
established connections, 5 ms of CPU each time: it is the fallback where the kernel has no inet_diag.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from typing import Literal, Self

from quiclab.lab.testbed.namespace import NetworkNamespace

Kind = Literal["tcp", "udp"]

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_REQUEST_DUMP = 0x301
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_WAITING: dict[Kind, tuple[int, int]] = {"tcp": (socket.IPPROTO_TCP, 10), "udp": (socket.IPPROTO_UDP, 7)}
"""Protocol, and the state of a socket that waits for a peer: TCP_LISTEN; TCP_CLOSE, which is an unconnected UDP."""


class ListeningPorts:
    """The listening ports of a namespace, which may be asked for repeatedly and from any thread."""

    def __init__(self, namespace: NetworkNamespace) -> None:
        self._namespace = namespace
        self._diag: socket.socket | None = None

    def __enter__(self) -> Self:
        with contextlib.suppress(OSError):
            self._diag = self._namespace.run(_diag_socket)
        return self

    def __exit__(self, *_: object) -> None:
        if self._diag is not None:
            self._diag.close()

    def sockets(self, kind: Kind) -> dict[int, set[int]]:
        """Inode numbers of the listening sockets by local port, over IPv4 and IPv6; more than one with SO_REUSEPORT."""
        found: dict[int, set[int]] = {}
        for port, inode in self._sockets(kind):
            found.setdefault(port, set()).add(inode)
        return found

    def _sockets(self, kind: Kind) -> list[tuple[int, int]]:
        if self._diag is not None:
            try:
                return [each for family in (socket.AF_INET, socket.AF_INET6) for each in _ask(self._diag, family, kind)]
            except OSError:
                self._diag.close()
                self._diag = None
        return self._from_proc(kind)

    def _from_proc(self, kind: Kind) -> list[tuple[int, int]]:
        _, state = _WAITING[kind]
        found = []
        for table in (kind, f"{kind}6"):
            with contextlib.suppress(FileNotFoundError):
                rows = [line.split() for line in self._namespace.read(table).splitlines()[1:]]
                found += [(int(row[1].rpartition(":")[2], 16), int(row[9])) for row in rows if int(row[3], 16) == state]
        return found


def _diag_socket() -> socket.socket:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG)


def _ask(diag: socket.socket, family: int, kind: Kind) -> list[tuple[int, int]]:
    """Port and inode of each waiting socket. Raises OSError where the kernel has no inet_diag for this."""
    protocol, state = _WAITING[kind]
    # struct nlmsghdr, then struct inet_diag_req_v2 of linux/inet_diag.h with no address and any cookie.
    request = struct.pack("=BBBxI40x8s", family, protocol, 0, 1 << state, b"\xff" * 8)
    diag.send(struct.pack("=IHHII", 16 + len(request), _SOCK_DIAG_BY_FAMILY, _REQUEST_DUMP, 1, 0) + request)
    found: list[tuple[int, int]] = []
    while True:
        data = diag.recv(1 << 16)
        while data:
            length, message = struct.unpack_from("=IH", data)
            if message == _NLMSG_DONE:
                return found
            if message == _NLMSG_ERROR:
                raise OSError(-struct.unpack_from("=i", data, 16)[0], "inet_diag refused")
            # struct inet_diag_msg: family, state, timer, retrans, then idiag_sport; idiag_inode is its last field.
            (port,), (inode,) = struct.unpack_from("!H", data, 16 + 4), struct.unpack_from("=I", data, 16 + 68)
            found.append((port, inode))
            data = data[(length + 3) & ~3 :]
