# SPDX-License-Identifier: Apache-2.0
"""A real client against a real server over a loopback of their own: both as their endpoints start them."""

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

from quiclab.endpoints._api import Command, Context, Endpoint
from quiclab.spec.model import Certificate, Knobs, Program, Protocol
from quiclab.testbed.certificates import HOST, make_certificates
from quiclab.testbed.namespace import NetworkNamespace

ADDRESS = "127.0.0.1"
PORT = 4433
BODY = b"".join(number.to_bytes(4, "big") for number in range(250_000))
"""1 MB in which no two offsets look alike."""

_PATIENCE_S = 20
_TCP_LISTEN = "0A"


@dataclass
class Loopback:
    """A namespace with nothing but a loopback, a client and a server, and a folder."""

    namespace: NetworkNamespace
    client: Endpoint
    server: Endpoint
    context: Context

    @contextmanager
    def serving(self, knobs: Knobs | None = None, **changes: Any) -> Iterator[subprocess.Popen[str]]:
        """A server that listens, until SIGTERM ends it; its exit code is known afterwards."""
        process = self.start(self.server, knobs, **changes)
        patience = time.monotonic() + _PATIENCE_S
        while not self._listens(replace(self.context, **changes)):
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < patience, "the server does not listen"
            time.sleep(0.005)
        try:
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=_PATIENCE_S)

    def visit(self, knobs: Knobs | None = None, **changes: Any) -> dict[str, Any]:
        """One request as the client tells it, with its exit code, what it printed, and whether the body is whole."""
        context = replace(self.context, **changes)
        process = self.start(self.client, knobs, **changes)
        told, _ = process.communicate("go\n", timeout=_PATIENCE_S)
        (request,) = json.loads(context.output.read_text())["requests"]
        whole = request["body_bytes"] == len(BODY) and request["sha256"] == hashlib.sha256(BODY).hexdigest()
        return {"exit": process.returncode, "told": told.strip(), "whole": whole, **request}

    def start(self, endpoint: Endpoint, knobs: Knobs | None = None, **changes: Any) -> subprocess.Popen[str]:
        """Start it with its files written."""
        program = Program(endpoint.name, knobs=knobs or Knobs())
        command: Command = endpoint.command(replace(self.context, program=program, **changes))
        for file, text in command.files.items():
            file.write_text(text)
        pipe = subprocess.PIPE
        return self.namespace.run(
            lambda: subprocess.Popen(command.argv, stdin=pipe, stdout=pipe, text=True, env=dict(command.env))
        )

    def _listens(self, context: Context) -> bool:
        kind = "udp" if context.protocol == "h3" else "tcp"
        table = self.namespace.read(kind if context.ip_version == 4 else f"{kind}6")
        lines = [line.split() for line in table.splitlines()[1:]]
        return any(line[1].endswith(f":{PORT:04X}") and (kind == "udp" or line[3] == _TCP_LISTEN) for line in lines)


@contextmanager
def loopback(folder: Path, client: Endpoint, server: Endpoint, protocol: Protocol) -> Iterator[Loopback]:
    """Inside a sandbox."""
    kind = Certificate()
    made = make_certificates(folder / "tls", [ADDRESS], [kind])[kind]
    for name in ("www", "qlog"):
        (folder / name).mkdir()
    (folder / "www" / "object").write_bytes(BODY)
    context = Context(
        program=Program("any"),
        protocols=(protocol,),
        ip_version=4,
        address=ADDRESS,
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
    with NetworkNamespace() as namespace:
        yield Loopback(namespace, client, server, context)
