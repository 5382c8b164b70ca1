# SPDX-License-Identifier: Apache-2.0
"""Signals and output streams that a command has from its caller, also when they are not as usual."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TextIO

_ERROR = 2
"""File descriptor of standard error."""


@contextmanager
def ended_in_order() -> Iterator[None]:
    """SIGTERM and SIGHUP end a command as Ctrl-C does; a SIGHUP that nohup took away stays away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    wanted = [each for each in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(each) == signal.SIG_DFL]
    for number in wanted:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number in wanted:
            signal.signal(number, signal.SIG_DFL)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def patient_streams() -> None:
    """Go on when nobody reads standard output or error any more, or they were never open: the work is not lost.

    What cannot be written in the terminal's encoding, such as a file name of other bytes, is written as an escape.
    """
    for name, fd in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, _text(io.FileIO(os.open(os.devnull, os.O_WRONLY), "w"), "utf-8"))
        elif isinstance(stream, io.TextIOWrapper) and isinstance(_raw(stream), io.FileIO):
            stream.flush()
            setattr(sys, name, _text(_Patient(fd, "w", closefd=False), stream.encoding))


def is_read(stream: TextIO) -> bool:
    """True if somebody still reads standard output: what would be long need not be made for nobody."""
    raw = _raw(stream) if isinstance(stream, io.TextIOWrapper) else None
    return not (isinstance(raw, _Patient) and raw.given_up)


def _raw(stream: io.TextIOWrapper) -> object:
    """Writer to the file itself: with $PYTHONUNBUFFERED there is nothing in between."""
    return getattr(stream.buffer, "raw", stream.buffer)


def _text(raw: io.FileIO, encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding,
        errors="backslashreplace",
        line_buffering=raw.isatty() or raw.fileno() == _ERROR,
    )


class _Patient(io.FileIO):
    """A stream whose reader may go: nothing is written then. Another refusal, as of a full disk, is told once."""

    given_up = False
    """True if writing was refused once."""

    def write(self, data: Any, /) -> int:
        if not self.given_up:
            try:
                return super().write(data) or 0
            except BrokenPipeError:
                self.given_up = True
            except OSError:
                self.given_up = True
                raise
        return len(data)
