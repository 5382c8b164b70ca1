# SPDX-License-Identifier: Apache-2.0
"""Processes that measure on one machine know of each other, also from inside the sandbox, and leave nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from live_link import in_sandbox

from quiclab.lab.testbed.neighbours import MACHINE, Neighbour, announced, current

_HOLDS = """
import sys
from quiclab.lab.testbed.neighbours import announced
with announced():
    print("measures", flush=True)
    sys.stdin.read()
"""
_WAITS = """
from quiclab.lab.testbed.neighbours import announced, current
with announced(wait=True, tell=lambda others: print("waits for", *(each.pid for each in others), flush=True)):
    print("alone" if not current().others() else "not alone", flush=True)
"""


@contextmanager
def process(program: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A process of another study, killed in the end."""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    ) as started:
        try:
            yield started
        finally:
            started.kill()


@contextmanager
def neighbour(**environment: str) -> Iterator[subprocess.Popen[str]]:
    """One that measures."""
    with process(_HOLDS, **environment) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == "measures\n"
        yield started


def pids() -> list[int]:
    """Processes that measure beside this one."""
    own = current()
    assert own is not None
    return [each.pid for each in own.others()]


def test_two_know_of_each_other() -> None:
    """Each sees the other until one is killed; none sees a process in another share of the machine."""
    told: list[tuple[Neighbour, ...]] = []
    with neighbour() as first, neighbour(**{MACHINE: "a share of its own"}):
        with announced(tell=told.append):
            assert [each.pid for (each,) in told] == pids() == [first.pid]
            assert f"process {first.pid} of " in str(told[0][0])
            with announced(tell=told.append):  # as the sandbox of a run does, again
                assert pids() == [first.pid]
            first.send_signal(signal.SIGKILL)
            first.wait()
            assert not pids()
        assert len(told) == 1
        assert current() is None


@pytest.mark.netns
def test_the_sandbox_sees_who_is_outside() -> None:
    """Its own network has no such names; the list that was opened before is that of the machine."""
    with announced():

        def inside() -> list[int]:
            return pids()

        assert in_sandbox(inside) == []
        with neighbour() as other:
            assert in_sandbox(inside) == [other.pid]


def test_those_who_wait_go_on_one_at_a_time() -> None:
    """However the one that they wait for ends; each of them finds itself alone."""
    with neighbour() as first, process(_WAITS) as second, process(_WAITS) as third:
        for each in (second, third):
            assert each.stdout is not None
            assert each.stdout.readline() == f"waits for {first.pid}\n"
        first.send_signal(signal.SIGKILL)
        for each in (second, third):
            assert each.stdout is not None
            assert each.stdout.read() == "alone\n"


def test_a_name_that_is_not_ours_is_nobody() -> None:
    """Whatever stands in the list: a program may call its sockets as it likes."""
    import socket

    with announced(), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stranger:
        stranger.bind(f"\0quiclab-measures/{os.environ[MACHINE]}/9999999999999999/\x1b[31m/x".encode())
        assert not pids()
