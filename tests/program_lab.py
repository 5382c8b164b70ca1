# SPDX-License-Identifier: Apache-2.0
"""A real client endpoint against a real server endpoint in namespaces of their own: helpers for tests."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from live_link import open_link

from quiclab.endpoints._api import Command, Context, Endpoint
from quiclab.spec.model import Certificate, Direction, Knobs, Program
from quiclab.testbed.certificates import HOST, make_certificates
from quiclab.testbed.link import SERVER_ADDRESSES
from quiclab.testbed.namespace import NetworkNamespace

SIZE = 1_000_000
PORT = 4433
_PATIENCE_S = 30


def body() -> bytes:
    """Bytes that no two offsets share."""
    return b"".join(number.to_bytes(4, "big") for number in range(SIZE // 4))


@dataclass
class ProgramLab:
    """Where the two ends run, and the context of their commands."""

    client: NetworkNamespace
    server: NetworkNamespace
    context: Context

    def start(self, command: Command, where: NetworkNamespace) -> subprocess.Popen[str]:
        """Start it with its files written."""
        for file, text in command.files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        environment = {"PATH": os.environ["PATH"], **command.env}
        pipe = subprocess.PIPE
        return where.run(lambda: subprocess.Popen(command.argv, stdin=pipe, stdout=pipe, text=True, env=environment))

    @contextmanager
    def serve(self, endpoint: Endpoint, knobs: Knobs | None = None) -> Iterator[None]:
        """A server that listens; SIGTERM ends it in good order."""
        process = self.start(endpoint.command(self.asked(endpoint, knobs)), self.server)
        patience = time.monotonic() + _PATIENCE_S
        while f":{PORT:04X} " not in self.server.read("udp"):
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < patience, "the server does not listen"
            time.sleep(0.005)
        try:
            yield
        finally:
            process.terminate()
            told, _ = process.communicate(timeout=_PATIENCE_S)
            assert (process.returncode, told) == (0, "")

    def refused(self, endpoint: Endpoint, **changes: Any) -> tuple[int, str]:
        """Exit code and words of a server that cannot start."""
        process = self.start(endpoint.command(replace(self.asked(endpoint, None), **changes)), self.server)
        told, _ = process.communicate(timeout=_PATIENCE_S)
        return process.returncode, told

    def visit(self, endpoint: Endpoint, knobs: Knobs | None = None, **changes: Any) -> dict[str, Any]:
        """One request, as the client tells it, with its exit code and what it printed."""
        context = replace(self.asked(endpoint, knobs), **changes)
        process = self.start(endpoint.command(context), self.client)
        told, _ = process.communicate("go\n", timeout=_PATIENCE_S)
        (request,) = json.loads(context.output.read_text())["requests"]
        return {"exit": process.returncode, "told": told.strip(), **request}

    def asked(self, endpoint: Endpoint, knobs: Knobs | None) -> Context:
        """The context with these knobs."""
        return replace(self.context, program=Program(endpoint.name, knobs=knobs or Knobs()))


@contextmanager
def on_loopback(folder: Path) -> Iterator[ProgramLab]:
    """Both ends in one namespace with nothing but a loopback; inside a sandbox."""
    with NetworkNamespace() as namespace:
        yield ProgramLab(namespace, namespace, _context(folder, "127.0.0.1"))


@contextmanager
def over_link(folder: Path, direction: Direction) -> Iterator[ProgramLab]:
    """A link that does the same both ways between the two ends; inside a sandbox."""
    with open_link(direction, None) as ends:
        yield ProgramLab(ends.client, ends.server, _context(folder, SERVER_ADDRESSES[4]))


def _context(folder: Path, address: str) -> Context:
    kind = Certificate()
    made = make_certificates(folder / "tls", [address], [kind])[kind]
    root = folder / "www"
    root.mkdir()
    (root / "object").write_bytes(body())
    return Context(
        program=Program("any"),
        protocols=("h3",),
        ip_version=4,
        address=address,
        port=PORT,
        host=HOST,
        object_name="object",
        work_dir=folder,
        root=root,
        certificate=made.certificate,
        key=made.key,
        ca=made.ca,
        qlog_dir=folder / "qlog",
        keylog=folder / "keys.log",
        output=folder / "client.json",
        session_file=folder / "session",
    )


def qlog_events(folder: Path, role: str) -> list[dict[str, Any]]:
    """Events of the last connection's qlog of a role, in order."""
    log = max((folder / "qlog").glob(f"*-{role}.sqlog"), key=lambda file: file.stat().st_mtime_ns)
    records = [json.loads(text) for text in log.read_text().split("\x1e") if text]
    return [record for record in records if "name" in record]
