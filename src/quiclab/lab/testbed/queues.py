# SPDX-License-Identifier: Apache-2.0
"""Kinds of the queues below the sockets of a namespace (queueing disciplines, tc(8)), from the kernel by rtnetlink.

The queue fq spreads the packets of every TCP connection over time, whatever its congestion control.
"""

from __future__ import annotations

import contextlib
import socket
import struct

from quiclab.lab.testbed.namespace import NetworkNamespace

_GET_QDISC = 38
_REQUEST_DUMP = 0x301
_ERROR, _DONE = 2, 3
_TCA_KIND = 1


def queue_kinds(namespace: NetworkNamespace) -> list[str]:
    """Names of the queues of all devices of a namespace, each once; none where the kernel does not tell."""
    with contextlib.suppress(OSError), namespace.run(_route_socket) as route:
        return sorted(_ask(route))
    return []


def _route_socket() -> socket.socket:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE)


def _ask(route: socket.socket) -> set[str]:
    # struct nlmsghdr, then struct tcmsg of linux/rtnetlink.h: any device.
    route.send(struct.pack("=IHHIIBxxxiIII", 36, _GET_QDISC, _REQUEST_DUMP, 1, 0, socket.AF_UNSPEC, 0, 0, 0, 0))
    found: set[str] = set()
    while True:
        data = route.recv(1 << 16)
        while data:
            length, message = struct.unpack_from("=IH", data)
            if message in (_DONE, _ERROR):
                return found
            found |= _kinds(data[36:length])
            data = data[(length + 3) & ~3 :]


def _kinds(attributes: bytes) -> set[str]:
    found = set()
    while len(attributes) >= 4:
        length, kind = struct.unpack_from("=HH", attributes)
        if kind == _TCA_KIND:
            found.add(attributes[4:length].rstrip(b"\0").decode(errors="replace"))
        attributes = attributes[max(4, (length + 3) & ~3) :]
    return found
