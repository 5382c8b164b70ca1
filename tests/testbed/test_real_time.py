# SPDX-License-Identifier: Apache-2.0
"""Real-time scheduling crosses the sandbox's wall where the caller is root, and is refused politely elsewhere."""

from __future__ import annotations

import os
import subprocess

import pytest
from live_link import in_sandbox

from quiclab.testbed.real_time import ask_for_real_time

_SCHED_DEADLINE = 6

pytestmark = pytest.mark.netns


def _may_grant() -> bool:
    return subprocess.run(["chrt", "-f", "50", "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0


def test_the_caller_grants_what_it_may() -> None:
    """The process named from inside becomes real-time, and says so itself; nobody else does."""

    def work() -> list[object]:
        process = subprocess.Popen(["sleep", "5"])
        granted = ask_for_real_time(process.pid, deadline=True)
        policy = os.sched_getscheduler(process.pid) & ~os.SCHED_RESET_ON_FORK
        own = os.sched_getscheduler(0)
        process.kill()
        process.wait()
        return [granted, policy in (os.SCHED_FIFO, _SCHED_DEADLINE), own == os.SCHED_OTHER]

    expected = _may_grant()
    assert in_sandbox(work) == [expected, expected, True]


def test_outside_a_sandbox_nobody_is_asked() -> None:
    """The answer is no."""
    assert ask_for_real_time(os.getpid(), deadline=True) is False
