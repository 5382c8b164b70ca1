# SPDX-License-Identifier: Apache-2.0
"""The process that moves the packets of a trial's links: one of its own, or one that several trials share at a time.

Both hear the same words and tell the same events. The shared one keeps many links punctual for hardly more than one
costs: a single thread has precedence over all programs, and spins for all of them together.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from quiclab.lab.testbed.real_time import ask_for_awake_processors, ask_for_real_time
from quiclab.model.errors import HostError
from quiclab.project import own_program

_THREADS = 3
"""Threads of a shared process that serves: one moves packets, one takes requests, one ends runs."""
_STARTING_S, _LOOK_S = 1.0, 0.001


class LinkProcess(Protocol):
    """The process as a trial sees it that has its links there."""

    awake: bool
    """True if processors stay awake as long as it runs."""

    @property
    def pid(self) -> int:
        """Process id, as numbered in the sandbox that started it."""

    def make_punctual(self, real_time: str) -> None:
        """Ask for what only root may grant, where it has got no more than `real_time` by itself."""

    def hear(self) -> str:
        """The next line that it tells; empty where it has ended."""

    def say(self, line: str) -> None:
        """Tell it something; a process that has ended is noticed when it does not answer."""

    def stop(self) -> bool:
        """Tell it to close these links and to account for them; False where it was told before."""

    def ended(self) -> str | None:
        """End of the process in words; None while it runs."""

    def kill(self) -> str:
        """End these links, as it has nothing more to say; return how."""

    def close(self, *, accounted: bool) -> None:
        """Let it go. If it has not `accounted` for these links they end at once."""


class OwnProcess:
    """A `quiclab-link` that ends with the links of its configuration."""

    def __init__(self, program: Sequence[str], config_fd: int, fds: Sequence[int], *, real_time: bool) -> None:
        """Start it; `fds` are those that the configuration names."""
        self.awake = False
        self._real_time = real_time
        self._process = subprocess.Popen(
            [*(program or [link_binary()]), f"/proc/self/fd/{config_fd}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=(config_fd, *fds),
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def make_punctual(self, real_time: str) -> None:
        if self._real_time and real_time == "none":
            ask_for_real_time(self.pid, deadline=True)
        self.awake = ask_for_awake_processors(self.pid)

    def hear(self) -> str:
        return self._process.stdout.readline() if self._process.stdout else ""

    def say(self, line: str) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.write(line)
                self._process.stdin.flush()

    def stop(self) -> bool:
        if self._process.stdin is None or self._process.stdin.closed:
            return False
        self._process.stdin.close()
        return True

    def ended(self) -> str | None:
        code = self._process.poll()
        if code is None:
            return None
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def kill(self) -> str:
        # It may be about to end by itself, which says more than our signal.
        self._process.kill()
        self._process.wait()
        return self.ended() or ""

    def close(self, *, accounted: bool) -> None:
        if not accounted:  # else it ends by itself, and need not be watched
            self.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


class SharedLinkProcess:
    """Context manager: a `quiclab-link --serve`, which processes use that are forked while it is there."""

    def __init__(self) -> None:
        self._asks, self._hears = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process: subprocess.Popen[bytes] | None = None
        self.awake = False

    def __enter__(self) -> Self:
        self._process = subprocess.Popen([link_binary(), "--serve"], stdin=self._hears.fileno(), start_new_session=True)
        self._hears.close()
        self._await_threads()
        ask_for_real_time(self._process.pid, deadline=True)
        self.awake = ask_for_awake_processors(self._process.pid)
        return self

    def _await_threads(self) -> None:
        """Wait until the process has started its threads: the kernel refuses one (EAGAIN) whose parent becomes a
        deadline thread meanwhile."""
        assert self._process is not None
        tasks, deadline = Path(f"/proc/{self._process.pid}/task"), time.monotonic() + _STARTING_S
        while self._process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                if len(list(tasks.iterdir())) >= _THREADS:
                    return
            time.sleep(_LOOK_S)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._asks.close()
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    @property
    def pid(self) -> int:
        """Process id of the link."""
        assert self._process is not None
        return self._process.pid

    def ask(self, config_fd: int, paths: Mapping[str, int]) -> ServedLinks:
        """Have it run the links of a configuration in which every path that is to be reached is one of `paths`, or
        below one: each has a file descriptor. Raises HostError where it has ended."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        text = json.dumps({"paths": list(paths)}).encode()
        with theirs:
            try:
                socket.send_fds(self._asks, [text], [theirs.fileno(), config_fd, *paths.values()])
            except OSError:
                ours.close()
                told = "the link's process, which all trials side by side share, was ended"
                raise HostError(told, "run it again: finished trials are kept") from None
        return ServedLinks(ours, self)


class ServedLinks:
    """The links of one trial in a process that others share."""

    def __init__(self, connection: socket.socket, server: SharedLinkProcess) -> None:
        self.awake = server.awake
        self._connection = connection
        self._lines = connection.makefile("r")
        self._server = server
        self._stopped = False

    @property
    def pid(self) -> int:
        return self._server.pid

    def make_punctual(self, real_time: str) -> None:
        """Do nothing: the shared process was made punctual at its start."""

    def hear(self) -> str:
        try:
            return self._lines.readline()
        except OSError:
            return ""

    def say(self, line: str) -> None:
        with contextlib.suppress(OSError):
            self._connection.sendall(line.encode())

    def stop(self) -> bool:
        if self._stopped:
            return False
        self._stopped = True
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)
        return True

    def ended(self) -> str | None:
        try:
            gone = self._connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return None
        except OSError:
            gone = True
        return "ended" if gone else None

    def kill(self) -> str:
        self.close(accounted=False)
        return "ended"

    def close(self, *, accounted: bool) -> None:  # noqa: ARG002 - these links end with their connection
        self._lines.close()
        self._connection.close()


def link_binary() -> str:
    """Path of the link emulator `quiclab-link`. Raises HostError where it is not installed."""
    return own_program("quiclab-link")


def folder_fd(folder: Path) -> int:
    """A descriptor of a folder, for a process to which its path may mean another one."""
    return os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
