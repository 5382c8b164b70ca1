# SPDX-License-Identifier: Apache-2.0
"""Whose the listening sockets are, and that they can be borrowed: with programs of an ordinary user."""

from __future__ import annotations

import socket
import struct
import sys
from pathlib import Path
from typing import Any

import pytest
from live_link import in_sandbox

from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.lab.testbed.process import Process
from quiclab.lab.testbed.tcp_pacing import pace_connections
from quiclab.model.errors import TrialError

pytestmark = pytest.mark.netns

_LISTENS = """
import socket, sys, time
taken = socket.socket()
taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
taken.bind(("127.0.0.1", 4433))
taken.listen()
if "tells" in sys.argv:
    accepted = taken.accept()[0]
    accepted.sendall(accepted.getsockopt(socket.SOL_SOCKET, 47, 8))
time.sleep(100)
"""


def _program(name: str, namespace: NetworkNamespace, folder: Path, *words: str) -> Process:
    argv = [sys.executable, "-I", "-c", _LISTENS, *words]
    return Process(name, argv, {}, namespace, work_dir=folder, output=folder / f"{name}.out")


def test_a_port_that_is_shared_is_nobodys(tmp_path: Path) -> None:
    """The first is ready alone; with the second beside it neither may be measured, and one that has none waits."""

    def work() -> list[Any]:
        told: list[Any] = []
        with NetworkNamespace() as namespace, _program("first", namespace, tmp_path) as first:
            first.wait_for_sockets(4433, ("tcp",), 20)
            idle = Process("idle", ["sleep", "100"], {}, namespace, work_dir=tmp_path, output=tmp_path / "idle.out")
            with idle, _program("second", namespace, tmp_path) as second:
                for each, patience_s in ((second, 20), (first, 20), (idle, 0.05)):
                    try:
                        each.wait_for_sockets(4433, ("tcp",), patience_s)
                    except TrialError as error:
                        told.append(error.message)
        return told

    second, first, idle = in_sandbox(work)
    assert second.startswith("second shares tcp port 4433 with python")
    assert first.startswith("first shares tcp port 4433 with python")
    assert idle.startswith("idle did not open tcp port 4433 within 0.05 s (tcp port 4433 is held by python")


def test_a_program_with_too_few_sockets_is_not_ready(tmp_path: Path) -> None:
    """Where it serves at two addresses, one of them is not enough."""

    def work() -> str:
        with NetworkNamespace() as namespace, _program("server", namespace, tmp_path) as server:
            server.wait_for_sockets(4433, ("tcp",), 20)
            try:
                server.wait_for_sockets(4433, ("tcp", "tcp"), 0.05)
            except TrialError as error:
                return error.message
            return ""

    assert in_sandbox(work).startswith("server did not open tcp port 4433 within 0.05 s")


def test_accepted_connections_inherit_the_rate_limit(tmp_path: Path) -> None:
    """It is set on the listening socket of another process; where there is none, that is the program's failure."""

    def work() -> list[Any]:
        with NetworkNamespace() as namespace, _program("server", namespace, tmp_path, "tells") as server:
            server.wait_for_sockets(4433, ("tcp",), 20)
            limit = pace_connections(namespace, server.pid, 4433)
            with namespace.run(lambda: socket.create_connection(("127.0.0.1", 4433))) as caller:
                (seen,) = struct.unpack("=Q", caller.recv(8, socket.MSG_WAITALL))
            try:
                pace_connections(namespace, server.pid, 4434)
            except TrialError as error:
                return [limit, seen, error.message]
            return [limit, seen, ""]

    limit, seen, told = in_sandbox(work)
    assert limit == seen == 1 << 62
    assert "listens on tcp port 4434" in told
