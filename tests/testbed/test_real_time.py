# SPDX-License-Identifier: Apache-2.0
"""Real-time scheduling and awake processors cross the sandbox's wall where the caller is root, and are refused politely
elsewhere."""

from __future__ import annotations

import os
import select
import subprocess
from pathlib import Path

import pytest
from live_link import in_sandbox

from quiclab.testbed.awake_processors import AwakeProcessors
from quiclab.testbed.real_time import ask_for_awake_processors, ask_for_real_time

_SCHED_DEADLINE = 6
REQUEST = "/dev/cpu_dma_latency"

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


def _requests() -> list[str]:
    """What this process asks of the processors' sleep."""
    open_files = (os.path.realpath(each) for each in Path("/proc/self/fd").iterdir())
    return [name for name in open_files if name == REQUEST]


@pytest.mark.skipif(not os.access(REQUEST, os.W_OK), reason="only root may keep processors awake")
def test_processors_stay_awake_as_long_as_a_process_lives() -> None:
    """The request is held until the last of the processes has ended, and then taken back."""
    awake = AwakeProcessors()
    processes = [subprocess.Popen(["cat"], stdin=subprocess.PIPE) for _ in range(2)]
    ends = [awake.as_long_as(process.pid) for process in processes]
    held = []
    for process, end in zip(processes, ends, strict=True):
        assert end is not None
        held.append(_requests())
        process.communicate()
        assert select.select([end], [], [], 10)[0] == [end]
        awake.no_longer_for(end)
    assert held == [[REQUEST], [REQUEST]]
    assert _requests() == []


def test_the_caller_keeps_processors_awake_where_it_may() -> None:
    """A process named from inside is enough, and when it has ended the caller goes on answering."""

    def work() -> list[bool]:
        process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        granted = ask_for_awake_processors(process.pid)
        process.communicate()
        return [granted, ask_for_real_time(os.getpid(), deadline=False)]

    assert in_sandbox(work) == [os.access(REQUEST, os.W_OK), _may_grant()]


def test_outside_a_sandbox_nobody_is_asked() -> None:
    """The answer is no."""
    assert ask_for_real_time(os.getpid(), deadline=True) is False
    assert ask_for_awake_processors(os.getpid()) is False
