# SPDX-License-Identifier: Apache-2.0
"""Work shared out among all processors, each in a process that begins from nothing.

Not by `multiprocessing`: a copy of this process would hang in a lock of its threads, and its fresh processes run the
program's main script again.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from quiclab.errors import HostError

_MOST = 8
"""Processes, for their memory."""
_CHILD = "from quiclab.report.page.processes import serve; serve()"

Item = TypeVar("Item")
Result = TypeVar("Result")


def by_all_processors(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """`work` of each item, in their order; both can be pickled.

    Raises what `work` raises, and HostError where the machine ended a process.
    """
    processors = max(1, min(len(os.sched_getaffinity(0)), len(items), _MOST))
    shares = [items[first::processors] for first in range(processors)]
    helpers = [_Helper(work, share) for share in shares[1:]]
    try:
        done = [[work(item) for item in shares[0]]]
        done += [helper.results() for helper in helpers]
    finally:
        for helper in helpers:
            helper.end()
    return [done[place % len(shares)][place // len(shares)] for place in range(len(items))]


def serve() -> None:
    """In the new process: work through what stands at standard input, answer at standard output."""
    work, share = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the process that started this one
    answer: list[Any] | Exception
    try:
        answer = [work(item) for item in share]
    except Exception as error:  # whatever it is, it is raised again where the work was asked for
        answer = error
    try:
        told = pickle.dumps(answer)
    except (pickle.PicklingError, TypeError, AttributeError):  # an error that holds what has no copy
        told = pickle.dumps(HostError(f"a process that drew figures failed: {answer}"))
    sys.stdout.buffer.write(told)


class _Helper:
    """One process with its share."""

    def __init__(self, work: Callable[[Any], Any], share: Sequence[Any]) -> None:
        # By a file, which is written at once: a pipe would wait until the process has begun.
        with tempfile.TemporaryFile() as asked:
            pickle.dump((work, share), asked)
            asked.seek(0)
            # In a session of its own, an interrupt from the keyboard reaches only the one that waits.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _CHILD], stdin=asked, stdout=subprocess.PIPE, start_new_session=True,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )  # fmt: skip

    def results(self) -> list[Any]:
        """What it found; it is waited for."""
        assert self._process.stdout is not None
        try:
            answer = pickle.load(self._process.stdout)  # noqa: S301 - from our own process
        except (EOFError, pickle.UnpicklingError) as error:
            hint = "is its memory used up? `quiclab report STUDY` tries again"
            raise HostError("the machine ended a process that drew the report's figures", hint) from error
        if isinstance(answer, Exception):
            raise answer
        return list(answer)

    def end(self) -> None:
        """Whether it is done or not."""
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
