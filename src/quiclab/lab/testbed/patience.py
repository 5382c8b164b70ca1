# SPDX-License-Identifier: Apache-2.0
"""Programs that let others go first: those that get ready, beside those that are measured.

A program with a long slice works as much as others do, but one with a shorter slice that wakes up does not wait for it
(sched(7), EEVDF). Any user may ask for that and take it back, unlike for a lower priority.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from quiclab.lab.testbed import _libc

_LONGEST_SLICE_NS = 100_000_000
_LOWEST_PRIORITY = 19


def be_patient() -> None:
    """Let this thread, and all processes that it starts, let others go first."""
    with contextlib.suppress(OSError):
        _libc.set_slice(0, _LONGEST_SLICE_NS)


def work_last() -> None:
    """Let this process and its threads work when no other program wants a processor; call it before they start.

    Where the kernel shares processors between sessions first (sched(7), autogroup), the session has to be last, too.
    """
    with contextlib.suppress(OSError):
        os.setsid()
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(_LOWEST_PRIORITY))
    be_patient()
    os.nice(_LOWEST_PRIORITY)


def hurry(pid: int) -> None:
    """Give all threads of a process the system's own slice again. Raises OSError."""
    for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - names are all that is needed
        _libc.set_slice(int(thread), 0)
