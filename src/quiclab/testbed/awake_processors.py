# SPDX-License-Identifier: Apache-2.0
"""Processors that do not go to sleep while a link runs.

A processor that has nothing to do halts. To wake it takes a virtual machine 50 to 100 µs, and so much later the link or
an end acts. PM QoS (/dev/cpu_dma_latency, root's) asks idle processors to wait awake instead: no thread runs, and the
request ends with the open file, whoever is killed.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

_LATENCY = Path("/dev/cpu_dma_latency")
_IDLE_DRIVER = Path("/sys/devices/system/cpu/cpuidle/current_driver")
_LIGHTEST_HALT_US = 2


class AwakeProcessors:
    """Processors that wait for work without halting, as long as one of some processes lives."""

    def __init__(self) -> None:
        self._request: int | None = None
        self._processes: set[int] = set()

    def as_long_as(self, pid: int) -> int | None:
        """Have them stay awake for this process too: a descriptor that becomes readable when it has ended, to be given
        to `no_longer_for`; None where that is not granted."""
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
        """The process has ended."""
        self._processes.remove(process)
        os.close(process)
        if not self._processes and self._request is not None:
            os.close(self._request)
            self._request = None

    def close(self) -> None:
        """Nobody is left."""
        for process in list(self._processes):
            self.no_longer_for(process)


def _open_request() -> int:
    """Ask for it; closing the descriptor takes it back. Raises OSError."""
    request = os.open(_LATENCY, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(request, struct.pack("i", _longest_wake_up_us()))
    except OSError:
        os.close(request)
        raise
    return request


def _longest_wake_up_us() -> int:
    """Where to halt is to leave the virtual machine: not to halt at all. Elsewhere: what the lightest halt takes."""
    try:
        driver = _IDLE_DRIVER.read_text().strip()
    except OSError:
        driver = ""
    return 0 if driver == "haltpoll" else _LIGHTEST_HALT_US
