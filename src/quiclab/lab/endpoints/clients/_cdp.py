# SPDX-License-Identifier: Apache-2.0
"""The Chrome DevTools Protocol over a pair of pipes (--remote-debugging-pipe): JSON messages that end in a zero byte.

A library would start a process of its own that listens to every data event of the page in mid-transfer.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import time
from types import TracebackType
from typing import Any, Self

from quiclab.lab.endpoints.clients._browser import START_PATIENCE_S, BrowserError, Json

BROWSER_FDS = (3, 4)
"""File descriptors at which Chromium reads commands and writes answers."""


class Pipes:
    """Both pipes, with the browser's ends at the numbers that it expects, until `hand_over`."""

    def __init__(self) -> None:
        ends = [*os.pipe(), *os.pipe()]
        theirs_in, self.to_browser, self.from_browser, theirs_out = (
            fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends
        )
        for end in ends:
            os.close(end)
        for end, number in zip((theirs_in, theirs_out), BROWSER_FDS, strict=True):
            os.dup2(end, number)
            os.close(end)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close both pipes; Chromium ends when its command pipe does."""
        os.close(self.to_browser)
        os.close(self.from_browser)

    def hand_over(self) -> None:
        """Close our copies of the browser's ends, once it has them, so that its own end shows as the end of the
        pipe."""
        for number in BROWSER_FDS:
            os.close(number)


class Cdp:
    """Commands and their answers; events are kept until somebody waits for them."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes
        self._unread = b""
        self._number = 0
        self._events: list[Json] = []

    def send(self, method: str, session: str | None = None, **parameters: Any) -> int:
        """Send a command without waiting for its answer; return its number."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        try:
            os.write(self._pipes.to_browser, json.dumps(message).encode() + b"\0")
        except BrokenPipeError as error:
            raise BrowserError("the browser closed its command pipe") from error
        return self._number

    def call(
        self, method: str, session: str | None = None, *, patience_s: float | None = START_PATIENCE_S, **parameters: Any
    ) -> Json:
        """Send a command and wait for its answer. Raises BrowserError; a patience of None waits for ever."""
        number = self.send(method, session, **parameters)
        deadline = None if patience_s is None else time.monotonic() + patience_s
        while True:
            message = self._receive(method, deadline)
            if message.get("id") != number:
                self._events.append(message)
            elif "error" in message:
                raise BrowserError(f"{method}: {message['error'].get('message')}")
            else:
                result: Json = message["result"]
                return result

    def wait_for(self, event: str, patience_s: float = START_PATIENCE_S) -> dict[str, object]:
        """The parameters of the next event of that name. Raises BrowserError."""
        deadline = time.monotonic() + patience_s
        while True:
            for position, message in enumerate(self._events):
                if message.get("method") == event:
                    del self._events[: position + 1]
                    parameters: dict[str, object] = message["params"]
                    return parameters
            self._events.append(self._receive(event, deadline))

    def wait_for_end(self, patience_s: float) -> None:
        """Wait until the browser closes its pipe. Raises BrowserError when it does, or if it does not in time."""
        deadline = time.monotonic() + patience_s
        while True:
            self._receive("its end", deadline)

    def _receive(self, what: str, deadline: float | None) -> Json:
        while b"\0" not in self._unread:
            remaining = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([self._pipes.from_browser], [], [], remaining)[0]:
                raise BrowserError(f"the browser did not answer in time: {what}")
            data = os.read(self._pipes.from_browser, 1 << 16)
            if not data:
                raise BrowserError("the browser ended")
            self._unread += data
        text, _, self._unread = self._unread.partition(b"\0")
        message: Json = json.loads(text)
        return message
