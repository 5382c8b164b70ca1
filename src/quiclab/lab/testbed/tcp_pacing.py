# SPDX-License-Identifier: Apache-2.0
"""Linux TCP's own pacing, switched on for every connection that a program accepts, without the program's knowledge.

A socket with a rate limit paces by itself, without the fq queue (SO_MAX_PACING_RATE, socket(7)), and accepted
connections inherit it from the listening one, which is borrowed from the program for a moment (pidfd_getfd(2)).
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct

from quiclab.lab.testbed import _libc
from quiclab.lab.testbed._socket_owners import descriptors
from quiclab.lab.testbed.listening import ListeningPorts
from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.model.errors import HostError, TrialError

_SO_MAX_PACING_RATE = 47
_NO_LIMIT = 1 << 62
"""Limit in bytes per second, far above any link, so that window and round trip decide. All bits set would mean no
pacing."""


def pace_connections(namespace: NetworkNamespace, pid: int, port: int) -> int:
    """Pace the TCP connections that the program `pid` will accept at `port`; return the limit that they get.

    Raises HostError where the kernel does not lend the socket, TrialError where there is none.
    """
    with ListeningPorts(namespace) as listening:
        inodes = listening.sockets("tcp").get(port, set())
    limits = []
    for owner, fd in descriptors(pid, inodes).values():
        try:
            with contextlib.closing(_borrowed(owner, fd)) as borrowed:
                borrowed.setsockopt(socket.SOL_SOCKET, _SO_MAX_PACING_RATE, struct.pack("=Q", _NO_LIMIT))
                limits.append(struct.unpack("=Q", borrowed.getsockopt(socket.SOL_SOCKET, _SO_MAX_PACING_RATE, 8))[0])
        except OSError as error:
            raise HostError(
                f"unsupported: tcp.pacing: {error.strerror}", "needs Linux 5.6; leave tcp.pacing out"
            ) from error
    if not limits:
        raise TrialError(f"tcp.pacing is not possible: no socket of the program listens on tcp port {port}")
    return int(min(limits))


def _borrowed(pid: int, fd: int) -> socket.socket:
    pidfd = os.pidfd_open(pid)
    try:
        return socket.socket(fileno=_libc.pidfd_getfd(pidfd, fd))
    finally:
        os.close(pidfd)
