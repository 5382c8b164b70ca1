# SPDX-License-Identifier: Apache-2.0
"""Processors that do not go to sleep while a link runs.

A processor that has nothing to do halts. Waking it takes 50 to 100 µs on a virtual machine, and the link or an end acts
that much later. PM QoS (/dev/cpu_dma_latency, root's) asks idle processors to wait awake instead: it needs no thread,
and the request ends with the open file, whatever process is killed.
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
