# SPDX-License-Identifier: Apache-2.0
"""The caller's terminal, which a shell inside a sandbox uses as its own."""

from __future__ import annotations

import contextlib
import os
import signal
import termios
from collections.abc import Iterator


@contextlib.contextmanager
def terminal_restored() -> Iterator[None]:
    """Context manager: restores the terminal's modes and its foreground process group at the end.

    A shell cannot give the terminal back itself: its caller's process group has no number in its PID namespace.
    """
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        yield
        return
    try:
        modes, foreground = termios.tcgetattr(terminal), os.tcgetpgrp(terminal)
        try:
            yield
        finally:
            if foreground == os.getpgrp():
                # Until it is in the foreground again, the kernel would stop a process that changes the terminal.
                before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
                with contextlib.suppress(OSError, termios.error):
                    os.tcsetpgrp(terminal, foreground)
                    termios.tcsetattr(terminal, termios.TCSADRAIN, modes)
                signal.signal(signal.SIGTTOU, before)
    finally:
        os.close(terminal)
