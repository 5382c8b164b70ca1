# SPDX-License-Identifier: Apache-2.0
"""Work that is repeated in a thread of its own, and what that costs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from quiclab.model.units import Duration

_SHORT_S = 0.02


class Ticker:
    """Context manager: calls `work` at once and then at whole intervals from the start. Instants that pass while `work`
    still runs or waits for a processor are missed and counted, not made up for."""

    def __init__(self, interval: Duration, work: Callable[[], None]) -> None:
        self._interval_ns = interval.ns
        self._work = work
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.ticks = 0
        self.missed = 0
        self.cpu_ns = 0
        """CPU time of the thread, once it has ended."""
        self.elapsed_ns = 0
        self.error: OSError | None = None
        """Reason why the thread stopped before it was told to."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _sleep(self, seconds: float) -> bool:
        """Sleep; return whether the end has come meanwhile. An Event's wait takes twice the CPU of a sleep: only long
        sleeps use it."""
        if seconds > _SHORT_S:
            return self._stop.wait(seconds)
        time.sleep(max(0.0, seconds))
        return self._stop.is_set()

    def _run(self) -> None:
        started = due = time.monotonic_ns()
        try:
            while True:
                self._work()
                self.ticks += 1
                behind = (time.monotonic_ns() - due) // self._interval_ns
                self.missed += behind
                due += (behind + 1) * self._interval_ns
                if self._sleep((due - time.monotonic_ns()) / 1e9):
                    break
        except OSError as error:
            self.error = error
        self.cpu_ns = time.thread_time_ns()
        self.elapsed_ns = time.monotonic_ns() - started
