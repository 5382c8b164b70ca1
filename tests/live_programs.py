# SPDX-License-Identifier: Apache-2.0
"""Real programs, started as their endpoints start them, over a loopback or a link of their own: helpers for tests."""

from __future__ import annotations

import hashlib
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from live_link import open_link

from quiclab.lab.endpoints._api import Context, Endpoint
from quiclab.lab.testbed.certificates import HOST, make_certificates
from quiclab.lab.testbed.link import SERVER_ADDRESSES
from quiclab.lab.testbed.listening import Kind, ListeningPorts
from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.model.study import Certificate, Direction, Knobs, Program, Protocol

ADDRESS = "127.0.0.1"
PORT = 4433
BODY = b"".join(number.to_bytes(4, "big") for number in range(250_000))
"""1 MB in which no two offsets look alike."""
SIZE = len(BODY)
PATIENCE_S = 60


@dataclass
class LivePrograms:
    """Where the two ends run, and the context of their commands. `changes` of a call are changes of the context."""

    client: NetworkNamespace
    server: NetworkNamespace
    context: Context

    def start(self, endpoint: Endpoint, knobs: Knobs | None = None, **changes: Any) -> subprocess.Popen[str]:
        """Start it at its end, with its files written."""
        program = Program(endpoint.name, knobs=knobs or Knobs())
        command = endpoint.command(replace(self.context, program=program, **changes))
        for file, text in command.files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        where, pipe = self.client if endpoint.role == "client" else self.server, subprocess.PIPE
        return where.run(
            lambda: subprocess.Popen(command.argv, stdin=pipe, stdout=pipe, text=True, env=dict(command.env))
        )

    @contextmanager
    def serve(
        self, endpoint: Endpoint, knobs: Knobs | None = None, *, orderly: bool = True, **changes: Any
    ) -> Iterator[subprocess.Popen[str]]:
        """A server that listens, until SIGTERM ends it: without a word and with exit code 0, if it is `orderly`."""
        process = self.start(endpoint, knobs, **changes)
        kind: Kind = "udp" if replace(self.context, **changes).protocol == "h3" else "tcp"
        patience = time.monotonic() + PATIENCE_S
        with ListeningPorts(self.server) as listening:
            while PORT not in listening.sockets(kind):
                assert process.poll() is None, process.communicate()[0]
                assert time.monotonic() < patience, "the server does not listen"
                time.sleep(0.005)
        try:
            yield process
        finally:
            process.terminate()
            told, _ = process.communicate(timeout=PATIENCE_S)
            assert not orderly or (process.returncode, told) == (0, "")

    def refused(self, endpoint: Endpoint, knobs: Knobs | None = None, **changes: Any) -> tuple[int, str]:
        """Exit code and words of a program that cannot begin."""
        process = self.start(endpoint, knobs, **changes)
        told, _ = process.communicate("go\n", timeout=PATIENCE_S)
        return process.returncode, told

    def visit(self, endpoint: Endpoint, knobs: Knobs | None = None, **changes: Any) -> dict[str, Any]:
        """One request as the client tells it, with its exit code, what it printed, and whether the body is whole."""
        output = replace(self.context, **changes).output
        process = self.start(endpoint, knobs, **changes)
        told, _ = process.communicate("go\n", timeout=PATIENCE_S)
        document = json.loads(output.read_text()) if output.exists() else {"requests": [{}]}
        (request,) = document["requests"]
        whole = (request.get("body_bytes"), request.get("sha256")) == (SIZE, hashlib.sha256(BODY).hexdigest())
        browser = {"browser": document["browser"]} if "browser" in document else {}
        return {"exit": process.returncode, "told": told.strip(), "whole": whole, **browser, **request}


@contextmanager
def on_loopback(folder: Path, protocol: Protocol = "h3") -> Iterator[LivePrograms]:
    """Both ends in one namespace with nothing but a loopback; inside a sandbox."""
    with NetworkNamespace() as namespace:
        yield LivePrograms(namespace, namespace, _context(folder, ADDRESS, protocol))


@contextmanager
def over_link(folder: Path, direction: Direction) -> Iterator[LivePrograms]:
    """A link that does the same both ways between the two ends; inside a sandbox."""
    with open_link(direction, None) as ends:
        yield LivePrograms(ends.client, ends.server, _context(folder, SERVER_ADDRESSES[4], "h3"))


def _context(folder: Path, address: str, protocol: Protocol) -> Context:
    kind = Certificate()
    made = make_certificates(folder / "tls", [address], [kind])[kind]
    for name in ("www", "qlog"):
        (folder / name).mkdir()
    (folder / "www" / "object").write_bytes(BODY)
    return Context(
        program=Program("any"),
        protocols=(protocol,),
        ip_version=4,
        address=address,
        port=PORT,
        host=HOST,
        object_name="object",
        work_dir=folder,
        root=folder / "www",
        certificate=made.certificate,
        key=made.key,
        ca=made.ca,
        qlog_dir=folder / "qlog",
        keylog=folder / "keys.log",
        output=folder / "client.json",
        session_file=folder / "session",
    )


def qlog_events(folder: Path, role: str) -> list[dict[str, Any]]:
    """Events of the qlog of the connection of a role that began last, in order."""
    records = max(map(_records, (folder / "qlog").glob(f"*[-_]{role}.sqlog")), key=_began)
    return [record for record in records if "name" in record]


def _records(log: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in log.read_text().split("\x1e") if text]


def _began(records: list[dict[str, Any]]) -> Any:
    """Beginning of the connection, by its qlog's header; the file's own time would be that of its end, and a server may
    end connections in another order."""
    reference = records[0]["trace"]["common_fields"]["reference_time"]
    return reference["wall_clock_time"] if isinstance(reference, dict) else reference
