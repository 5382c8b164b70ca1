# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while trials run: once to stop when the blocks that run are over, twice to stop at once.

A block is what is compared, so a whole one is worth its last trial; and whatever is not waited for is run again.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self

from quiclab.lab.testbed.sandbox import ctrl_c_count, raise_if_interrupted


class TimeIsOver(Exception):  # noqa: N818 - the end that was agreed, not a mistake
    """The time for a run is over: the blocks that ran are whole, and no other begins."""


class Stop:
    """Asked for or not. As a context manager, in the main thread, it has SIGINT ask for it."""

    def __init__(self, told: Callable[[], None] = lambda: None, until_s: float = math.inf) -> None:
        """Prepare one: `told` is called when it is asked for, and no block begins from `until_s` on, by the clock of
        `time.monotonic`."""
        self._told = told
        self._until_s = until_s
        self._signals = 0
        self._asked = False
        self._waits = False

    def __enter__(self) -> Self:
        self._before = signal.getsignal(signal.SIGINT)
        if self._before == signal.SIG_IGN and ctrl_c_count() is None:
            return self  # the program was started in the background, by a shell that had it ignore Ctrl-C
        signal.signal(signal.SIGINT, self._ask)
        if self._before == signal.SIG_IGN:
            # The sandbox ignores it once it was heard. What was imported then may have swallowed the exception.
            raise KeyboardInterrupt
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if signal.getsignal(signal.SIGINT) == self._ask:
            signal.signal(signal.SIGINT, self._before)

    @property
    def asked(self) -> bool:
        """True if no further block is to begin."""
        return self._asked

    @contextmanager
    def while_blocks_run(self) -> Iterator[None]:
        """Blocks run in it: before and after, Ctrl-C stops at once, as there is nothing to finish."""
        self._waits = True
        try:
            yield
        finally:
            self._waits = False
        self._check_asked()

    def check(self) -> None:
        """Raise KeyboardInterrupt where it was asked for, TimeIsOver where its time is over: for before a block."""
        self._check_asked()
        if time.monotonic() >= self._until_s:
            raise TimeIsOver

    def _check_asked(self) -> None:
        raise_if_interrupted()
        if self.asked:
            self._at_once(signal.SIGINT, None)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1
        count = ctrl_c_count()
        if count is None:
            count = self._signals
        if not self._waits:
            self._at_once(number, frame)
        if not self._asked:
            self._asked = True
            self._told()
        if count > 1:
            self._at_once(number, frame)

    def _at_once(self, number: int, frame: FrameType | None) -> None:
        if callable(self._before):
            self._before(number, frame)
        raise KeyboardInterrupt


@contextmanager
def deaf_to_ctrl_c() -> Iterator[None]:
    """Processes that are forked in it leave Ctrl-C to this one. Programs that they start hear it as usual."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
