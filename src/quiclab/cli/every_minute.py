# SPDX-License-Identifier: Apache-2.0
"""A line every minute, for output that nobody draws a bar on: a pipe, a file, the log of a job."""

from __future__ import annotations

import threading
from collections.abc import Callable

MINUTE_S = 60.0


class EveryMinute:
    """Calls a function again and again from a thread of its own, until it is stopped."""

    def __init__(self, call: Callable[[], None], every_s: float = MINUTE_S) -> None:
        """Prepare it; the first call comes after `every_s`."""
        self._call, self._every_s = call, every_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        """Begin to count."""
        self._thread.start()

    def stop(self) -> None:
        """End it; no call is under way afterwards, and none comes. It may not have been started."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while not self._over.wait(self._every_s):
            self._call()
