# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, once and twice."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from quiclab.study import stopping
from quiclab.study.stopping import Stop, TimeIsOver, deaf_to_ctrl_c


@pytest.fixture(autouse=True)
def usual_handler() -> Iterator[None]:
    """SIGINT is KeyboardInterrupt as usual outside."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often the sandbox's caller was sent SIGINT."""
    number = [0]
    monkeypatch.setattr(stopping, "ctrl_c_count", lambda: number[0])
    return number


def _ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_once_stops_while_blocks_run(count: list[int]) -> None:
    """One Ctrl-C may come several times, from the terminal, also before the caller counts it, and from processes that
    hand it on; it is told once."""
    told: list[str] = []
    with Stop(lambda: told.append("told")) as stop, pytest.raises(KeyboardInterrupt), stop.while_blocks_run():
        stop.check()
        assert not stop.asked
        for number in (0, 1, 1):
            count[0] = number
            _ctrl_c()
        assert stop.asked
        assert told == ["told"]
        stop.check()
    with pytest.raises(KeyboardInterrupt):
        _ctrl_c()


def test_twice_stops_at_once(count: list[int]) -> None:
    """However soon the second one comes, and in the way of before, which may turn further signals away while it is
    cleared up."""
    with Stop() as stop, pytest.raises(KeyboardInterrupt), stop.while_blocks_run():
        for number in (1, 1, 2):
            count[0] = number
            _ctrl_c()
        pytest.fail("it goes on")


def test_two_that_were_sent_before_one_is_heard_are_two(count: list[int]) -> None:
    """A process that computes hears them late, and together."""
    with Stop() as stop, pytest.raises(KeyboardInterrupt), stop.while_blocks_run():
        count[0] = 2
        _ctrl_c()
        pytest.fail("it goes on")


def test_outside_the_sandbox_each_signal_counts() -> None:
    """There is one process, to which the terminal sends it once."""
    with Stop() as stop, pytest.raises(KeyboardInterrupt), stop.while_blocks_run():
        _ctrl_c()
        assert stop.asked
        _ctrl_c()
        pytest.fail("it goes on")


def test_before_and_after_there_is_nothing_to_finish() -> None:
    """It stops at once there; and where it was asked for during the last block, after it."""
    with Stop() as stop:
        with pytest.raises(KeyboardInterrupt):
            _ctrl_c()
        with stop.while_blocks_run():
            assert not stop.asked
        with pytest.raises(KeyboardInterrupt):
            _ctrl_c()
        with pytest.raises(KeyboardInterrupt), stop.while_blocks_run():
            _ctrl_c()


def test_what_the_handler_of_before_sets_stays() -> None:
    """A handler that has signals ignored from then on is not put back."""

    def once(_number: int, _frame: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, once)
    with pytest.raises(KeyboardInterrupt), Stop() as stop, stop.while_blocks_run():
        _ctrl_c()
        stop.check()
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


@pytest.mark.usefixtures("count")
def test_one_that_was_heard_before_and_swallowed_counts() -> None:
    """The sandbox has signals ignored from then on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with pytest.raises(KeyboardInterrupt), Stop():
        pytest.fail("it begins")


def test_in_the_background_it_is_ignored_as_it_was() -> None:
    """A shell has what a script starts with & ignore SIGINT: outside the sandbox nobody has pressed Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Stop() as stop, stop.while_blocks_run():
        _ctrl_c()
        stop.check()
    assert not stop.asked
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def test_forked_processes_leave_it_to_their_parent() -> None:
    """And a program that they start hears it."""
    with deaf_to_ctrl_c():
        _ctrl_c()
        child = os.spawnlp(os.P_WAIT, "sh", "sh", "-c", "kill -INT $$; exit 3")
    assert child == -signal.SIGINT
    assert signal.getsignal(signal.SIGINT) == signal.default_int_handler


def test_no_block_begins_when_the_time_is_over() -> None:
    """The blocks that ran are a good end: what comes after them goes on."""
    with Stop(until_s=time.monotonic() - 1) as stop, stop.while_blocks_run(), pytest.raises(TimeIsOver):
        stop.check()
    with Stop(until_s=time.monotonic() + 3600) as stop, stop.while_blocks_run():
        stop.check()
