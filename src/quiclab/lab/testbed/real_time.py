# SPDX-License-Identifier: Apache-2.0
"""Privileges that make the link punctual and that only root may grant: real-time scheduling, and processors that stay
awake.

Best is SCHED_DEADLINE: to a thread under SCHED_FIFO the kernel prefers ordinary threads for up to 50 ms of every second
(sched(7), the fair server), which makes packets late by that. The link leaves ordinary threads their share by itself.

Inside a user namespace no process may ask for any of this; the caller, outside, may if it is root. So the sandbox's
first process names the link's process to the caller over a socket (SCM_CREDENTIALS carries the pid across PID
namespaces), and the caller answers whether it granted the request. On two busy cores this takes the link's p99 lateness
from milliseconds to tens of microseconds; a plain user goes without, and every trial says which it was.

A link that never sleeps takes a whole processor, and under real time no other process gets it back: if the ends need
that processor, the lateness merely moves from the link to the ends. So on fewer than three processors a link gives its
precedence up by itself once it takes too much of one (`link-run/src/precedence.rs`): what comes decides, not what may
come. A process that several links share keeps it, and only links that carry little share one (`leaves_room`).

Processors that do not go to sleep while a link runs.

A processor that has nothing to do halts. Waking it takes 50 to 100 µs on a virtual machine, and the link or an end acts
that much later. PM QoS (/dev/cpu_dma_latency, root's) asks idle processors to wait awake instead: it needs no thread,
and the request ends with the open file, whatever process is killed.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from quiclab.lab.testbed import _libc
from quiclab.lab.testbed.patience import hurry
from quiclab.lab.testbed.turn import Turn
from quiclab.model.units import Bitrate

_LATENCY = Path("/dev/cpu_dma_latency")
_IDLE_DRIVER = Path("/sys/devices/system/cpu/cpuidle/current_driver")
_LIGHTEST_HALT_US = 2


class AwakeProcessors:
    """Processors that wait for work without halting, as long as one of some processes lives."""

    def __init__(self) -> None:
        self._request: int | None = None
        self._processes: set[int] = set()

    def as_long_as(self, pid: int) -> int | None:
        """Keep processors awake for this process too. Return a descriptor that becomes readable when the process has
        ended, to be passed to `no_longer_for`; None where the request is not granted."""
        try:
            process = os.pidfd_open(pid)
        except OSError:
            return None
        try:
            if self._request is None:
                self._request = _open_request()
        except OSError:
            os.close(process)
            return None
        self._processes.add(process)
        return process

    def no_longer_for(self, process: int) -> None:
        """Withdraw the request for a process that has ended."""
        self._processes.remove(process)
        os.close(process)
        if not self._processes and self._request is not None:
            os.close(self._request)
            self._request = None

    def close(self) -> None:
        """Withdraw the request for all processes."""
        for process in list(self._processes):
            self.no_longer_for(process)


def _open_request() -> int:
    """Request awake processors; closing the descriptor withdraws the request. Raises OSError."""
    request = os.open(_LATENCY, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(request, struct.pack("i", _longest_wake_up_us()))
    except OSError:
        os.close(request)
        raise
    return request


def _longest_wake_up_us() -> int:
    """Longest wake-up to allow: none at all where a halt leaves the virtual machine; elsewhere that of the lightest
    halt."""
    try:
        driver = _IDLE_DRIVER.read_text().strip()
    except OSError:
        driver = ""
    return 0 if driver == "haltpoll" else _LIGHTEST_HALT_US


RealTime = Literal["deadline", "fifo", "none"]
"""Scheduling of a process; `none` has no precedence over others."""

PRIORITY = 50
"""Priority under SCHED_FIFO."""
_PROCESSORS = 3
"""Processors that are enough: one each for the link, the sender and the receiver."""
_HARDLY_SLEEPS = Bitrate(170_000_000)
"""Rate from which on the link takes more than 85 % of a processor: packets of 1500 bytes follow each other by
71 µs, and it spins for 60 before each."""
_RUNTIME_NS, _PERIOD_NS = 999_000, 1_000_000
"""Budget under SCHED_DEADLINE: nearly all of a processor, since the link naps before it would use it up."""

_UCRED = struct.Struct("iII")
_DEADLINE, _FIFO, _AWAKE, _PROMPT, _NOTHING = b"d", b"f", b"a", b"p", b"n"
"""Messages of what is asked for, and granted."""
_ANSWERS: Mapping[bytes, RealTime] = {_DEADLINE: "deadline", _FIFO: "fifo"}

_caller: socket.socket | None = None
_asking: Turn | None = None
"""Turn of the one process whose question and answer are under way."""


class Grants:
    """The caller's side: answers until the sandbox is gone. Make it before the fork."""

    def __init__(self) -> None:
        self._outside, self._inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._outside.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._thread = threading.Thread(target=self._answer, daemon=True)

    def enter_sandbox(self) -> None:
        """Make `ask_for_real_time` work from here on; called before the sandbox's processes are forked."""
        global _caller, _asking
        self._outside.close()
        _caller, _asking = self._inside, Turn()

    def serve(self) -> None:
        """Start to answer; called in the caller, after the fork."""
        self._inside.close()
        self._thread.start()

    def close(self) -> None:
        """End the thread, once the sandbox is gone."""
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
                        elif message == _PROMPT:
                            with contextlib.suppress(OSError):
                                hurry(pid)
                                granted = _PROMPT
                        else:
                            granted = _grant(pid) if message == _DEADLINE else _grant_fifo(pid)
                self._outside.send(granted)


def leaves_room(busiest: Bitrate | None) -> bool:
    """True of a path over which a real-time link always leaves the ends the processors that they want; `busiest` is
    the highest rate that a direction of the path passes, None if nothing limits it."""
    few = len(os.sched_getaffinity(0)) < _PROCESSORS
    return not few or (busiest is not None and busiest.bit_per_s < _HARDLY_SLEEPS.bit_per_s)


def ask_for_real_time(pid: int, *, deadline: bool) -> RealTime:
    """Ask the caller to schedule the process (as numbered in the sandbox) in real time; return what it granted.

    `deadline` asks for SCHED_DEADLINE if possible, which only one process should do, as it reserves a processor;
    otherwise it is SCHED_FIFO.
    """
    return _ANSWERS.get(_ask(pid, _DEADLINE if deadline else _FIFO), "none")


def ask_for_awake_processors(pid: int) -> bool:
    """Ask the caller to keep processors awake as long as the process (as numbered in the sandbox) lives; return whether
    it does."""
    return _ask(pid, _AWAKE) == _AWAKE


def make_prompt(pid: int) -> None:
    """Let a process that was patient (`patience`) wait no longer than others; where it has another user than we, ask
    the caller to."""
    try:
        hurry(pid)
    except PermissionError:
        _ask(pid, _PROMPT)
    except OSError:  # it has ended
        return


def _ask(pid: int, what: bytes) -> bytes:
    """Send a request; return what was granted."""
    if _caller is None or _asking is None:
        return _NOTHING
    credentials = (socket.SOL_SOCKET, socket.SCM_CREDENTIALS, _UCRED.pack(pid, os.getuid(), os.getgid()))
    _asking.take()
    try:
        _caller.sendmsg([what], [credentials])
        return _caller.recv(1)
    except OSError:
        return _NOTHING
    finally:
        _asking.give_up()


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
