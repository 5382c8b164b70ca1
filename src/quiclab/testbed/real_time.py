# SPDX-License-Identifier: Apache-2.0
"""What makes the link punctual and only root may grant: real-time scheduling, and processors that stay awake.

Best is SCHED_DEADLINE: to a thread under SCHED_FIFO the kernel prefers ordinary threads for up to 50 ms of every second
(sched(7), the fair server), which makes packets late by that. The link leaves ordinary threads their share by itself.

Inside a user namespace nobody may ask for any of this; the caller, outside, may if it is root. So the sandbox's first
process names the link's process to the caller over a socket (SCM_CREDENTIALS carries the pid across PID namespaces),
and the caller answers whether it could. On two busy cores this takes the link's p99 lateness from milliseconds to
tens of microseconds; a plain user goes without, and every trial says which it was.

A link that never sleeps takes a processor whole, and under real time nobody gets it back: where the ends need it, what
would have been the link's lateness becomes the ends', which wait for a processor instead. So it goes without there.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import threading
from collections.abc import Mapping
from typing import Literal

from quiclab.testbed import _libc
from quiclab.testbed.awake_processors import AwakeProcessors
from quiclab.units import Bitrate

RealTime = Literal["deadline", "fifo", "none"]
"""How a process is scheduled; `none` has no precedence over others."""

PRIORITY = 50
"""Under SCHED_FIFO."""
_PROCESSORS = 3
"""One each for the link, the sender and the receiver."""
_SLEEPLESS = Bitrate(200_000_000)
"""Packets of 1500 bytes follow each other by 60 µs, for which the link spins: from here on it never sleeps."""
_RUNTIME_NS, _PERIOD_NS = 999_000, 1_000_000
"""Under SCHED_DEADLINE: nearly all of a processor, since the link naps before it would use it up."""

_UCRED = struct.Struct("iII")
_DEADLINE, _FIFO, _AWAKE, _NOTHING = b"d", b"f", b"a", b"n"
"""What is asked for, and granted."""
_ANSWERS: Mapping[bytes, RealTime] = {_DEADLINE: "deadline", _FIFO: "fifo"}

_caller: socket.socket | None = None


class Grants:
    """The caller's side: answers until the sandbox is gone. Make it before the fork."""

    def __init__(self) -> None:
        self._outside, self._inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._outside.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._thread = threading.Thread(target=self._answer, daemon=True)

    def enter_sandbox(self) -> None:
        """Called in the sandbox's processes: from here on `ask_for_real_time` works."""
        global _caller
        self._outside.close()
        _caller = self._inside

    def serve(self) -> None:
        """Called in the caller, after the fork."""
        self._inside.close()
        self._thread.start()

    def close(self) -> None:
        """The sandbox is gone: end the thread."""
        self._thread.join()
        self._outside.close()

    def _answer(self) -> None:
        awake, events = AwakeProcessors(), select.poll()
        events.register(self._outside, select.POLLIN)
        while True:
            for fd, _ in events.poll():
                if fd != self._outside.fileno():
                    events.unregister(fd)
                    awake.no_longer_for(fd)
                    continue
                message, ancillary, _, _ = self._outside.recvmsg(1, socket.CMSG_SPACE(_UCRED.size))
                if not message:
                    awake.close()
                    return
                granted = _NOTHING
                for level, kind, data in ancillary:
                    if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                        pid, _, _ = _UCRED.unpack(data[: _UCRED.size])
                        if message == _AWAKE:
                            process_fd = awake.as_long_as(pid)
                            if process_fd is not None:
                                granted = _AWAKE
                                events.register(process_fd, select.POLLIN)
                        else:
                            granted = _grant(pid) if message == _DEADLINE else _grant_fifo(pid)
                self._outside.send(granted)


def leaves_room(busiest: Bitrate | None) -> bool:
    """Whether a real-time link leaves the ends the processors that they want; `busiest` is the highest rate that a
    direction of the path passes, None if nothing limits it."""
    few = len(os.sched_getaffinity(0)) < _PROCESSORS
    return not few or (busiest is not None and busiest.bit_per_s < _SLEEPLESS.bit_per_s)


def ask_for_real_time(pid: int, *, deadline: bool) -> RealTime:
    """How the caller has the process (as numbered in the sandbox) scheduled now.

    `deadline`: SCHED_DEADLINE if it can be had, which only one process should ask for, as it reserves a processor;
    else SCHED_FIFO.
    """
    return _ANSWERS.get(_ask(pid, _DEADLINE if deadline else _FIFO), "none")


def ask_for_awake_processors(pid: int) -> bool:
    """Whether the caller keeps processors awake as long as the process (as numbered in the sandbox) lives."""
    return _ask(pid, _AWAKE) == _AWAKE


def _ask(pid: int, what: bytes) -> bytes:
    """What was granted."""
    if _caller is None:
        return _NOTHING
    credentials = (socket.SOL_SOCKET, socket.SCM_CREDENTIALS, _UCRED.pack(pid, os.getuid(), os.getgid()))
    try:
        _caller.sendmsg([what], [credentials])
        return _caller.recv(1)
    except OSError:
        return _NOTHING


def _grant(pid: int) -> bytes:
    try:
        _libc.set_deadline(pid, runtime_ns=_RUNTIME_NS, period_ns=_PERIOD_NS)
    except OSError:
        return _grant_fifo(pid)
    return _DEADLINE


def _grant_fifo(pid: int) -> bytes:
    try:
        os.sched_setscheduler(pid, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(PRIORITY))
    except OSError:
        return _NOTHING
    return _FIFO
