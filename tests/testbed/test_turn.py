# SPDX-License-Identifier: Apache-2.0
"""A turn that one process at a time has."""

from __future__ import annotations

import os
import signal
import time

from quiclab.lab.testbed.turn import Turn


def _takes(turn: Turn, then_s: float) -> tuple[int, int]:
    """A child that takes the turn, says so, and ends after a while; its pid and the pipe."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        turn.take()
        os.write(writer, b"x")
        time.sleep(then_s)
        os._exit(0)
    os.close(writer)
    return child, reader


def test_one_at_a_time_and_taken_from_the_dead() -> None:
    """A second process waits until the first gives it up, or is killed with it."""
    turn = Turn()
    turn.take()
    turn.take()  # it has it
    child, reader = _takes(turn, 60)
    os.set_blocking(reader, False)
    time.sleep(0.1)
    try:
        said = os.read(reader, 1)
    except BlockingIOError:
        said = b"waits"
    assert said == b"waits"
    turn.give_up()
    turn.give_up()  # it does not have it
    os.set_blocking(reader, True)
    assert os.read(reader, 1) == b"x"
    os.kill(child, signal.SIGKILL)
    turn.take()
    os.waitpid(child, 0)
    os.close(reader)
