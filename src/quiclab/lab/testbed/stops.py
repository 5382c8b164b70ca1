# SPDX-License-Identifier: Apache-2.0
"""Times at which a program was stopped from outside (SIGSTOP, a debugger, a container that was paused by signals).

Its parent learns of each stop from the kernel (waitid(2), WSTOPPED and WCONTINUED), however short. Children of the
program have another parent: their state is in /proc, at each look.
"""

from __future__ import annotations

import os
import threading
import time

_NEWS = os.WSTOPPED | os.WCONTINUED


class Stops:
    """Watcher of a child of this process: a thread that sleeps until there is something to note."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._lock = threading.Lock()
        self._number = 0
        self._stopped_ns = 0
        self._since_ns: int | None = None
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            try:
                # The news of its end is left (WNOWAIT) for the thread that waits for the program; that of a stop is
                # consumed, so that the next one is news again.
                seen = os.waitid(os.P_PID, self._pid, _NEWS | os.WEXITED | os.WNOWAIT)
                if seen is None or seen.si_code not in (os.CLD_STOPPED, os.CLD_CONTINUED):
                    return
                event = os.waitid(os.P_PID, self._pid, _NEWS | os.WNOHANG)
            except ChildProcessError:
                return
            if event is None:
                continue
            now = time.monotonic_ns()
            with self._lock:
                if event.si_code == os.CLD_STOPPED:
                    self._number += 1
                    self._since_ns = now
                elif event.si_code == os.CLD_CONTINUED:
                    if self._since_ns is None:
                        self._number += 1  # it was over before this thread could look
                    else:
                        self._stopped_ns += now - self._since_ns
                    self._since_ns = None

    def begin(self) -> None:
        """Count from here on; a stop that lasts now goes on."""
        with self._lock:
            self._stopped_ns = 0
            self._number = 0 if self._since_ns is None else 1
            self._since_ns = None if self._since_ns is None else time.monotonic_ns()

    def summary(self) -> dict[str, int]:
        """Number of stops (those that follow one another before this thread runs count as one), and their total
        time."""
        with self._lock:
            since_ns = self._since_ns
            standing_ns = 0 if since_ns is None else time.monotonic_ns() - since_ns
            return {"number": self._number, "stopped_ns": self._stopped_ns + standing_ns}
