# SPDX-License-Identifier: Apache-2.0
"""What the kernel says of TCP connections, sampled from inside a namespace (inet_diag) and kept as the kernel gave it.

A sample costs what a walk through the namespace's table of connections costs. That table is the machine's own, with
hundreds of thousands of places, unless the namespace was made after `net.ipv4.tcp_child_ehash_entries` was written.
The file is described in docs/reference/tcp-info-log.md.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from quiclab.testbed import clock
from quiclab.testbed._ticker import Ticker
from quiclab.testbed.namespace import NetworkNamespace
from quiclab.units import Duration

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_REQUEST_DUMP = 0x301
_NLMSG_ERROR, _NLMSG_DONE = 2, 3

_INFO, _VEGASINFO, _CONG, _SKMEMINFO = 2, 3, 4, 7
_EXTENSIONS = sum(1 << (number - 1) for number in (_INFO, _VEGASINFO, _CONG, _SKMEMINFO))
"""INET_DIAG_VEGASINFO asks for whatever the congestion control tells of itself: BBR answers INET_DIAG_BBRINFO."""

_STATES = sum(1 << number for number in (1, 4, 5, 8, 9, 11))
"""Connections that may still move data: ESTABLISHED, FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT, LAST_ACK, CLOSING."""

_FAMILIES = {4: (socket.AF_INET, socket.AF_INET6), 6: (socket.AF_INET6,)}
"""A server that listens on :: has IPv6 sockets for its IPv4 clients."""

_HEADER = struct.Struct("<8sIIQHBB4xQQq8x")
_MAGIC, _VERSION = b"QLTCPINF", 1
_RECORD = struct.Struct("<QQII")
_MESSAGE = struct.Struct("=IH")
"""Of a struct nlmsghdr: length and type."""


class TcpInfoSampler:
    """Context manager: writes every connection at `local_port` to `output`, every `interval`.

    Where the kernel refuses, nothing is sampled and `summary` says `unsupported`.
    """

    def __init__(
        self, namespace: NetworkNamespace, ip_version: int, local_port: int, interval: Duration, output: Path
    ) -> None:
        self._namespace = namespace
        self._ip_version = ip_version
        self._local_port = local_port
        self._interval = interval
        self._output = output
        self._requests = tuple(_request(family, local_port) for family in _FAMILIES[ip_version])
        self._stack = ExitStack()
        self._ticker = Ticker(interval, self._sample)
        self._slowest_ns = 0
        self.summary: dict[str, Any] = {}
        """After the end, for trial.json: samples, missed, slowest_ns, cpu_share (of one core); or unsupported."""

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            try:
                self._diag = stack.enter_context(self._namespace.run(_diag_socket))
                for request in self._requests:
                    self._ask(request)
            except OSError as error:
                self.summary = {"unsupported": f"inet_diag: {error.strerror} (as root: modprobe tcp_diag)"}
                return self
            self._file: BinaryIO = stack.enter_context(self._output.open("wb"))
            self._offset_ns = clock.read().realtime_minus_monotonic_ns
            self._file.write(self._header())
            stack.callback(self._finish)
            stack.enter_context(self._ticker)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _finish(self) -> None:
        """The thread has ended; the file is still open."""
        ticker = self._ticker
        self._file.seek(0)
        self._file.write(self._header())
        self.summary = {
            "samples": ticker.ticks,
            "missed": ticker.missed,
            "interval_ns": self._interval.ns,
            "slowest_ns": self._slowest_ns,
            "cpu_share": round(ticker.cpu_ns / max(1, ticker.elapsed_ns), 5),
        }
        if ticker.error is not None:
            self.summary["ended_early"] = str(ticker.error)

    def _sample(self) -> None:
        before = time.monotonic_ns()
        found = b""
        for request in self._requests:
            found = self._ask(request)
            if found:
                # One server, one family: from here on only that one is asked.
                self._requests = (request,)
                break
        after = time.monotonic_ns()
        self._slowest_ns = max(self._slowest_ns, after - before)
        self._file.write(_RECORD.pack(before, after, len(found), 0) + found)

    def _ask(self, request: bytes) -> bytes:
        """The kernel's messages, one a socket, without the last that only says that it is the last."""
        self._diag.send(request)
        answer = b""
        while True:
            part = self._diag.recv(1 << 16)
            position = 0
            while position < len(part):
                length, kind = _MESSAGE.unpack_from(part, position)
                if kind == _NLMSG_DONE:
                    return answer + part[:position]
                if kind == _NLMSG_ERROR:
                    number = -struct.unpack_from("=i", part, position + 16)[0]
                    raise OSError(number, os.strerror(number))
                position += (length + 3) & ~3
            answer += part

    def _header(self) -> bytes:
        """Without counts as long as the thread runs."""
        ended = self._ticker.elapsed_ns > 0
        counts = (self._ticker.ticks, self._ticker.missed) if ended else (0, 0)
        settings = (self._interval.ns, self._local_port, self._ip_version, ended)
        return _HEADER.pack(_MAGIC, _VERSION, _HEADER.size, *settings, *counts, self._offset_ns)


def _request(family: int, local_port: int) -> bytes:
    """struct nlmsghdr and inet_diag_req_v2 (linux/inet_diag.h): all sockets with this local port; any cookie."""
    ports_and_addresses = struct.pack("!HH32x", local_port, 0)
    body = struct.pack("=BBBxI", family, socket.IPPROTO_TCP, _EXTENSIONS, _STATES) + ports_and_addresses
    body += struct.pack("=I8s", 0, b"\xff" * 8)
    return struct.pack("=IHHII", 16 + len(body), _SOCK_DIAG_BY_FAMILY, _REQUEST_DUMP, 1, 0) + body


def _diag_socket() -> socket.socket:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG)
