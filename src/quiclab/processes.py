# SPDX-License-Identifier: Apache-2.0
"""Work done in fresh processes: shared among all processors, or done by one process apart from this one.

`multiprocessing` cannot do it: a copy of this process would hang in a lock of its threads, and its fresh processes run
the program's main script again.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from quiclab.model.errors import HostError

MOST = 8
"""Largest number of processes, because of the memory that each takes."""
NO_HOME = "/dev/null"
"""Home of a program that is only asked something: nothing can be made below it, not even by root."""
_CHILD = "from quiclab.processes import serve; serve()"
_PR_SET_PDEATHSIG = 1
_PATIENCE_S = 60
"""Time that a process has to clean up after it is asked to end."""


class EndedByMachineError(HostError):
    """A process that shared the work was killed, for want of memory or by somebody: it may go well the next time."""


Item = TypeVar("Item")
Result = TypeVar("Result")


def available_bytes() -> int:
    """Memory that programs can still have."""
    lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    return next(int(line[1]) * 1024 for line in lines if line[0] == "MemAvailable:")


def by_all_processors(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    at_most: int = MOST,
    done: Callable[[], None] = lambda: None,
) -> list[Result]:
    """Return `work(item)` for each item, in order; both must be picklable. `done` is called here after each item.

    Raises what `work` raises, and HostError where the machine ended a process.
    """
    processes = max(1, min(len(os.sched_getaffinity(0)), len(items), at_most))
    shares = [items[first::processes] for first in range(processes)]
    with ExitStack() as ended:
        helpers = [_Helper(work, share, done, ended) for share in shares[1:]]
        own = []
        for item in shares[0]:
            own.append(work(item))
            done()
        found = [own, *(helper.results() for helper in helpers)]
    return [found[place % processes][place // processes] for place in range(len(items))]


def in_fresh_process(work: Callable[[Item], Result], item: Item) -> Result:
    """Return `work(item)` from a process without this one's threads. An interrupt ends that process in order.

    Raises what `work` raises, and HostError where the machine ended the process.
    """
    with ExitStack() as ended:
        helper = _Helper(work, [item], lambda: None, ended)
        try:
            result: Result = helper.results()[0]
        except KeyboardInterrupt:
            helper.end_in_order()
            raise
    return result


def serve() -> None:
    """Work through the items at standard input and write answers to what was standard output: the new process's main
    function."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever is printed meanwhile is not an answer
    caller, work, share = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the process that started this one
    # A process whose caller is killed would go on writing files that another run owns by then.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != caller:
        return
    for item in share:
        try:
            answer, is_error = work(item), False
        except KeyboardInterrupt:  # nobody waits for an answer any more
            return
        except Exception as error:  # whatever it is, it is raised again where the work was asked for
            answer, is_error = error, True
        answers.write(_pickled(answer, is_error))
        answers.flush()
        if is_error:
            return


def _pickled(answer: object, is_error: bool) -> bytes:
    try:
        return pickle.dumps((answer, is_error))
    except (pickle.PicklingError, TypeError, AttributeError):  # the error holds something that cannot be pickled
        return pickle.dumps((HostError(f"a process that shared the work failed: {answer}"), True))


class _Helper:
    """One process with its share of the work."""

    def __init__(
        self, work: Callable[[Any], Any], share: Sequence[Any], done: Callable[[], None], ended: ExitStack
    ) -> None:
        """Start the process; it is killed when `ended` closes, whether it is done or not."""
        # The work goes by a file, which is written at once: a pipe would block until the process has started.
        with tempfile.TemporaryFile() as asked:
            pickle.dump((os.getpid(), work, share), asked)
            asked.seek(0)
            # With a session of its own, an interrupt from the keyboard reaches only the process that waits.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _CHILD], stdin=asked, stdout=subprocess.PIPE, start_new_session=True,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )  # fmt: skip
        self._wanted = len(share)
        self._answers: list[Any] = []
        self._error: Exception | None = None
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout, done), daemon=True)
        self._reader.start()
        ended.callback(self._end)

    def _read(self, told: BinaryIO, done: Callable[[], None]) -> None:
        try:
            while len(self._answers) < self._wanted:
                answer, is_error = pickle.load(told)  # noqa: S301 - from our own process
                if is_error:
                    self._error = answer
                    return
                self._answers.append(answer)
                done()
        except (EOFError, pickle.UnpicklingError) as error:
            hint = "is the memory used up? Run the same command to try again"
            self._error = EndedByMachineError("the machine ended a process that shared the work", hint)
            self._error.__cause__ = error

    def results(self) -> list[Any]:
        """Wait for the process and return what it found."""
        self._reader.join()
        if self._error is not None:
            raise self._error
        return self._answers

    def end_in_order(self) -> None:
        """Ask the process to clean up what it holds, if it still runs."""
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE_S)

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        if self._process.stdout is not None:
            self._process.stdout.close()
