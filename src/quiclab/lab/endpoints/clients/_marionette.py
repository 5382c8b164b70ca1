# SPDX-License-Identifier: Apache-2.0
"""Firefox's Marionette protocol: JSON messages over loopback TCP, each after its length and a colon."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from quiclab.lab.endpoints.clients._browser import START_PATIENCE_S, BrowserError, Json


class Marionette:
    """A session in which scripts run, in the browser itself (`chrome`) or in its page (`content`)."""

    def __init__(self, profile: Path, process: subprocess.Popen[bytes]) -> None:
        """Wait until Firefox has written into its profile which port it chose. Raises BrowserError."""
        self._unread = b""
        self._number = 0
        self._context = ""
        self._socket = _connect(profile / "MarionetteActivePort", process)
        self._receive(START_PATIENCE_S)  # the greeting
        session = self.call("WebDriver:NewSession", {"strictFileInteractability": True})
        self.version: str = session["capabilities"]["browserVersion"]
        # The longest possible limit: without any (null) it would not wait for promises.
        self.call("WebDriver:SetTimeouts", {"script": 2**31 - 1})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def enter(self, context: Literal["chrome", "content"]) -> None:
        """Direct the calls from here on to the browser itself, or to its page."""
        if context != self._context:
            self.call("Marionette:SetContext", {"value": context})
            self._context = context

    def run(self, context: Literal["chrome", "content"], script: str, *arguments: Any, patience_s: float | None) -> Any:
        """Run a script; return its result, awaited if it is a promise."""
        self.enter(context)
        parameters = {"script": script, "args": list(arguments), "sandbox": None, "newSandbox": False}
        return self.call("WebDriver:ExecuteScript", parameters, patience_s)["value"]

    def call(self, command: str, parameters: Json, patience_s: float | None = START_PATIENCE_S) -> Any:
        """Send a command and wait for its answer. Raises BrowserError; a patience of None waits for ever."""
        self._number += 1
        text = json.dumps([0, self._number, command, parameters]).encode()
        try:
            self._socket.sendall(b"%d:%s" % (len(text), text))
            number = -1
            while number < self._number:  # answers that nobody waits for any longer may come before it
                _, number, error, result = self._receive(patience_s)
        except OSError as trouble:
            raise BrowserError(f"Firefox did not answer {command}: {trouble}") from trouble
        if number != self._number or error is not None:
            raise BrowserError(f"{command}: {(error or {}).get('message', 'the answer to another command')}")
        return result

    def _receive(self, patience_s: float | None) -> Any:
        self._socket.settimeout(patience_s)
        while b":" not in self._unread:
            self._read()
        length, _, self._unread = self._unread.partition(b":")
        while len(self._unread) < int(length):
            self._read()
        text, self._unread = self._unread[: int(length)], self._unread[int(length) :]
        return json.loads(text)

    def _read(self) -> None:
        data = self._socket.recv(1 << 16)
        if not data:
            raise BrowserError("Firefox ended")
        self._unread += data


def _connect(port_file: Path, process: subprocess.Popen[bytes]) -> socket.socket:
    deadline = time.monotonic() + START_PATIENCE_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise BrowserError(f"it ended with exit code {process.returncode}")
        try:
            return socket.create_connection(("127.0.0.1", int(port_file.read_text())), START_PATIENCE_S)
        except (OSError, ValueError):
            time.sleep(0.02)
    raise BrowserError("its Marionette did not listen in time")
