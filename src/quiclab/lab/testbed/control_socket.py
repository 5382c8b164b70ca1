# SPDX-License-Identifier: Apache-2.0
"""A Unix socket over which the settings of a running link are shown and changed: a line of JSON there, one back."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import stat
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol, Self

from quiclab.model.errors import HostError, QuiclabError, SpecError
from quiclab.model.units import Duration
from quiclab.spec.live_path import LivePath

LONGEST_NAME = 107
"""Bytes of a Unix socket's name (unix(7)), without the zero byte behind it."""
_MOST_BYTES = 1 << 20
_PATIENCE_S = 2.0
_ONLY_MINE = 0o177


class Changeable(Protocol):
    """A link whose settings change while it runs."""

    def change(self, change: Mapping[str, object]) -> int:
        """Change settings; return the instant in its model's time in ns. An empty change only asks for that."""


class ControlSocket:
    """A socket of the caller's alone, at a place that is not taken."""

    def __init__(self, path: Path) -> None:
        """Listen there. Raises SpecError where something else is, or the name is too long, HostError where nothing can
        be made."""
        self._path = path.absolute()
        if len(os.fsencode(self._path)) > LONGEST_NAME:
            raise SpecError(
                f"--control: {self._path} is longer than the {LONGEST_NAME} bytes that a socket's name may have",
                "choose a shorter one",
            )
        _clear_away(self._path)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(_ONLY_MINE)
        try:
            self._listener.bind(str(self._path))
        except OSError as error:
            self._listener.close()
            told = f"cannot make the socket {self._path}: {error.strerror}"
            raise HostError(told, "choose a folder of your own for --control") from error
        finally:
            os.umask(before)
        self._listener.listen()
        made = os.lstat(self._path)
        self._made = (made.st_dev, made.st_ino)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the socket, unless another one is there now."""
        self._listener.close()
        with contextlib.suppress(FileNotFoundError):
            there = os.lstat(self._path)
            if (there.st_dev, there.st_ino) == self._made:
                self._path.unlink()

    @contextlib.contextmanager
    def serve(self, link: Changeable, path: LivePath) -> Iterator[None]:
        """Answer, in a thread of its own, until the block is left."""
        wakes, woken = socket.socketpair()
        thread = threading.Thread(target=self._answer_all, args=(_Talk(link, path), woken), daemon=True)
        thread.start()
        try:
            yield
        finally:
            wakes.close()
            thread.join()
            woken.close()

    def _answer_all(self, talk: _Talk, woken: socket.socket) -> None:
        while True:
            ready, _, _ = select.select([self._listener, woken], [], [])
            if woken in ready:
                return
            with contextlib.suppress(OSError):
                connection, _ = self._listener.accept()
                with connection:
                    connection.settimeout(_PATIENCE_S)
                    answer = talk.answer(read_line(connection))
                    connection.sendall(json.dumps(answer).encode() + b"\n")


class _Talk:
    """The running link, and its path as it is by now."""

    def __init__(self, link: Changeable, path: LivePath) -> None:
        self._link = link
        self._path = path
        self._last_ns = 0

    def answer(self, line: bytes) -> dict[str, object]:
        """Answer a request: the path with its changes and the time, or what is wrong."""
        try:
            request = json.loads(line)
            settings, link = request["set"], request.get("link")
            at_ns = self._link.change({})
            if any(settings.values()):
                # Two changes before the first packet are at t = 0 both; their order is that of the schedule.
                noted = max(at_ns, self._last_ns + 1)
                path, told = self._path.changed(settings, link, Duration(noted))
                at_ns = self._link.change(told)
                self._path, self._last_ns = path, noted
        except QuiclabError as error:
            return {"error": str(error), "hint": error.hint, "problems": list(error.problems)}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return {"error": f"the request is not understood: {error}", "hint": "use quiclab link", "problems": []}
        return {"at_ns": at_ns, "path": self._path.table, "folder": str(self._path.folder)}


def ask(path: Path, request: Mapping[str, object]) -> dict[str, object]:
    """Ask the link that listens at a socket. Raises HostError where none does, SpecError with what it refuses."""
    told = f"no running link answers at {path}"
    hint = "give the socket that `quiclab exec --control SOCKET` was given, while it runs"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(2 * _PATIENCE_S)
            connection.connect(str(path))
            connection.sendall(json.dumps(request).encode() + b"\n")
            line = read_line(connection)
    except OSError as error:
        raise HostError(f"{told}: {error.strerror or error}", hint) from error
    try:
        answer: dict[str, object] = json.loads(line)
    except ValueError:
        raise HostError(f"{told}: it ended meanwhile", hint) from None
    if "error" in answer:
        problems = answer.get("problems")
        several = tuple(map(str, problems)) if isinstance(problems, list) else ()
        raise SpecError(str(answer["error"]), str(answer.get("hint", "")), several)
    return answer


def read_line(connection: socket.socket) -> bytes:
    """Bytes up to a line's end, or up to the end of the connection. Raises OSError of a line that has no end."""
    line = b""
    while not line.endswith(b"\n") and (more := connection.recv(1 << 16)):
        line += more
        if len(line) > _MOST_BYTES:
            raise OSError("the line is too long")
    return line


def _clear_away(path: Path) -> None:
    """Remove a socket of the caller's that nobody listens at any more, as a killed run leaves it. Raises SpecError
    where something else is there."""
    try:
        there = os.lstat(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise HostError(f"cannot look at {path}: {error.strerror}", "choose a folder of your own") from error
    if not stat.S_ISSOCK(there.st_mode) or there.st_uid != os.geteuid():
        raise SpecError(f"--control: {path} is there already, and is no socket of yours", "name a place that is free")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return
        except OSError as error:
            raise SpecError(
                f"--control: {path} is of another program: {error.strerror}", "name a free place"
            ) from error
    raise SpecError(f"--control: another running command has {path}", "name another place for this one")
