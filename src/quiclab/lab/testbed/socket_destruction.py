# SPDX-License-Identifier: Apache-2.0
"""Destruction of the sockets that are bound to an address, as by an operating system when the address goes."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import closing

from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.model.errors import HostError

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY, _SOCK_DESTROY = 20, 21
_REQUEST, _ACK, _DUMP = 0x01, 0x04, 0x300
_DONE, _ERROR = 3, 2
_HEADER = struct.Struct("=IHHII")
_REQUEST_V2 = struct.Struct("=BBBxI")
"""Layout of struct inet_diag_req_v2 of linux/inet_diag.h up to its socket id."""
_ID = slice(4, 52)
"""Place of struct inet_diag_sockid in struct inet_diag_msg: ports, addresses, interface and cookie."""


def destroy_sockets(namespace: NetworkNamespace, ip_version: int, address: str) -> int:
    """Destroy the TCP and UDP sockets that are bound to `address`, whose programs then read ECONNABORTED.

    Returns their number. Raises HostError if the kernel refuses (CONFIG_INET_DIAG_DESTROY).
    """
    family = socket.AF_INET if ip_version == 4 else socket.AF_INET6
    wanted = socket.inet_pton(family, address)

    def work() -> int:
        count = 0
        with closing(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG)) as diag:
            for protocol in (socket.IPPROTO_TCP, socket.IPPROTO_UDP):
                asked = _REQUEST_V2.pack(family, protocol, 0, 0xFFFFFFFF)
                diag.send(_message(_SOCK_DIAG_BY_FAMILY, _REQUEST | _DUMP, asked + bytes(48)))
                for identity in list(_dumped(diag)):
                    if identity[4 : 4 + len(wanted)] == wanted:
                        diag.send(_message(_SOCK_DESTROY, _REQUEST | _ACK, asked + identity))
                        _acknowledged(diag)
                        count += 1
        return count

    try:
        return namespace.run(work)
    except OSError as error:
        raise HostError(f"the kernel does not destroy sockets (SOCK_DESTROY): {error.strerror}") from error


def _message(kind: int, flags: int, body: bytes) -> bytes:
    return _HEADER.pack(_HEADER.size + len(body), kind, flags, 1, 0) + body


def _dumped(diag: socket.socket) -> Iterator[bytes]:
    while True:
        data = diag.recv(1 << 16)
        while len(data) >= _HEADER.size:
            length, kind, *_ = _HEADER.unpack_from(data)
            if kind == _DONE:
                return
            body = data[_HEADER.size : length]
            if kind == _ERROR:
                _raise(body)
            yield body[_ID]
            data = data[(length + 3) & ~3 :]


def _acknowledged(diag: socket.socket) -> None:
    _raise(diag.recv(1 << 16)[_HEADER.size :])


def _raise(body: bytes) -> None:
    """Raise the error of an NLMSG_ERROR; 0 is an acknowledgement, and a socket that has gone meanwhile counts as
    destroyed."""
    number = -int(struct.unpack_from("=i", body)[0])
    if number not in (0, 2):
        raise OSError(number, "not permitted or not supported" if number in (1, 95) else f"errno {number}")
