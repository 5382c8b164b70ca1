# SPDX-License-Identifier: Apache-2.0
"""Slices of threads as the kernel tells them (sched_getattr(2))."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from pathlib import Path

_SCHED_GETATTR = {"x86_64": 315, "aarch64": 275}
_ATTRIBUTES = struct.Struct("IIQiIQQQ")


def slice_ns(thread: int) -> int:
    """Slice of a thread; 0 from a kernel that has none (before Linux 6.12)."""
    answer = ctypes.create_string_buffer(_ATTRIBUTES.size)
    call = _SCHED_GETATTR[platform.machine()]
    assert ctypes.CDLL(None).syscall(call, thread, answer, _ATTRIBUTES.size, 0) == 0
    return int(_ATTRIBUTES.unpack(answer.raw)[5])


def slices_ns(pid: int) -> dict[str, int]:
    """Slice of each thread of a process, by the thread's name."""
    folders = Path(f"/proc/{pid}/task").iterdir()
    return {(folder / "comm").read_text().strip(): slice_ns(int(folder.name)) for folder in folders}


def usual_ns() -> int:
    """Slice of a thread for which nobody asked for another one; 0 as in `slice_ns`."""
    return slice_ns(os.getpid())
