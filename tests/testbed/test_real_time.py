# SPDX-License-Identifier: Apache-2.0
"""Real-time scheduling and awake processors cross the sandbox's wall where the caller is root, and are refused politely
elsewhere."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from live_link import BACKENDS, in_sandbox, open_link, with_backend
from slices import slices_ns, usual_ns

from quiclab.lab.testbed import link_process
from quiclab.lab.testbed.link import SERVER_ADDRESSES, Backend
from quiclab.lab.testbed.link_process import SharedLinkProcess
from quiclab.lab.testbed.real_time import AwakeProcessors, ask_for_awake_processors, ask_for_real_time, leaves_room
from quiclab.model.study import Direction, Queue
from quiclab.model.units import Bitrate

_SCHED_DEADLINE = 6
_UDP_SEGMENT = 103
"""Option of UDP sockets that cuts what is sent into datagrams (linux/udp.h)."""
SHORTEST_NS = 100_000
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
        names = {os.SCHED_FIFO: "fifo", _SCHED_DEADLINE: "deadline"}
        return [granted, names.get(policy, "none"), own == os.SCHED_OTHER]

    granted, policy, others = in_sandbox(work)
    assert granted == policy
    assert (granted != "none") is _may_grant()
    assert others


def test_where_processors_are_few_a_sleepless_link_shares_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take one of two whole, which both ends need."""
    for processors, bit_per_s, expected in (
        (2, 10_000_000, True),
        (2, 169_000_000, True),
        (2, 170_000_000, False),
        (2, None, False),
        (3, 1_000_000_000, True),
        (3, None, True),
    ):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, number=processors: set(range(number)))
        assert leaves_room(None if bit_per_s is None else Bitrate(bit_per_s)) is expected


@pytest.mark.parametrize("asked", [True, False])
def test_a_link_says_how_it_is_scheduled(tmp_path: Path, asked: bool) -> None:
    """In its summary and in its file, whoever made it real-time; and not at all if it is not to be."""

    def work() -> list[object]:
        with open_link(Direction(), tmp_path, "veth", real_time=asked) as ends:
            policy = os.sched_getscheduler(ends.link.pid) & ~os.SCHED_RESET_ON_FORK
            summary = ends.link.stop()
            return [policy, summary["real_time"], summary["slice_ns"]]

    policy, told, slice_told = in_sandbox(work)
    assert told == {os.SCHED_FIFO: "fifo", _SCHED_DEADLINE: "deadline"}.get(policy, "none")
    assert (told != "none") is (asked and _may_grant())
    assert slice_told == (SHORTEST_NS if told == "none" and usual_ns() else None)
    summary = json.loads((tmp_path / "link.json").read_text())
    assert summary["real_time"] == told
    assert summary["awake_processors"] is os.access(REQUEST, os.W_OK)


@pytest.mark.nightly  # takes a whole processor for up to 20 s
def test_a_link_gives_its_precedence_up_where_it_takes_what_the_ends_need(tmp_path: Path) -> None:
    """A packet every 22 us takes a whole processor: of few ones it becomes an ordinary thread, and says when."""
    few = len(os.sched_getaffinity(0)) < 3

    def work() -> list[Any]:
        path = Direction(rate=Bitrate(500_000_000), queue=Queue())
        with open_link(path, tmp_path, "veth") as ends:
            begins = os.sched_getscheduler(ends.link.pid) & ~os.SCHED_RESET_ON_FORK
            with ends.client.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as sender:
                sender.setsockopt(socket.IPPROTO_UDP, _UDP_SEGMENT, 1400)
                deadline_s = time.monotonic() + (20 if few else 1)
                while time.monotonic() < deadline_s and (not few or os.sched_getscheduler(ends.link.pid)):
                    for _ in range(10):
                        sender.sendto(bytes(40 * 1400), (SERVER_ADDRESSES[4], 9))
            summary = ends.link.stop()
            return [begins, summary["real_time"], summary["gave_way_ns"], summary["slice_ns"]]

    begins, ends_as, gave_way_ns, slice_told = in_sandbox(work)
    had_precedence = begins in (os.SCHED_FIFO, _SCHED_DEADLINE)
    assert had_precedence is _may_grant()
    gives_way = had_precedence and few
    assert (gave_way_ns is not None) is gives_way
    assert (ends_as != "none") is (had_precedence and not few)
    if gives_way:
        assert gave_way_ns > 0
        assert slice_told == (SHORTEST_NS if usual_ns() else None)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_ordinary_link_has_the_shortest_slice(tmp_path: Path, backend: Backend) -> None:
    """Its forwarder alone, as the kernel tells it and the summary, too."""
    backend = with_backend(backend)

    def work() -> list[Any]:
        with open_link(Direction(), tmp_path, backend, real_time=False) as ends:
            return [slices_ns(ends.link.pid), ends.link.stop()["slice_ns"]]

    slices, told = in_sandbox(work)
    usual = usual_ns()
    assert told == (SHORTEST_NS if usual else None)
    assert slices == {"quiclab-link": SHORTEST_NS if usual else 0, "log-writer": usual}


def test_a_shared_link_has_the_shortest_slice_where_it_is_not_real_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that it starts later do not inherit it."""
    monkeypatch.setattr(link_process, "ask_for_real_time", lambda pid, *, deadline: "none")

    def work() -> dict[str, int]:
        with SharedLinkProcess() as shared:
            deadline_s = time.monotonic() + 10
            while len(slices := slices_ns(shared.pid)) < 3 and time.monotonic() < deadline_s:
                time.sleep(0.01)
            return slices

    usual = usual_ns()
    expected = {"quiclab-link": SHORTEST_NS if usual else 0, "endings": usual, "requests": usual}
    assert in_sandbox(work) == expected


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
        return [granted, ask_for_real_time(os.getpid(), deadline=False) != "none"]

    assert in_sandbox(work) == [os.access(REQUEST, os.W_OK), _may_grant()]


def test_outside_a_sandbox_nobody_is_asked() -> None:
    """The answer is no."""
    assert ask_for_real_time(os.getpid(), deadline=True) == "none"
    assert ask_for_awake_processors(os.getpid()) is False
