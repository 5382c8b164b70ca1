# SPDX-License-Identifier: Apache-2.0
"""nginx as a file server for HTTP/1.1, HTTP/2 and HTTP/3."""

from __future__ import annotations

from collections.abc import Mapping

from quiclab.endpoints._api import Available, BoundedRun, Command, Context, Role, Unsupported
from quiclab.endpoints._nginx import ABILITIES, KNOBS, nginx_command, nginx_facts, probe_nginx
from quiclab.spec.model import Program, Protocol, Tcp


class Nginx:
    """One worker; files go by sendfile over TCP."""

    name = "nginx"
    role: Role = "server"
    protocols: frozenset[Protocol] = frozenset({"h1", "h2", "h3"})
    knobs = KNOBS
    abilities = ABILITIES

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Ask it for its version and its modules."""
        return probe_nginx(run, prefix)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Every value of its knobs can be had."""
        return None

    def facts(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Its QUIC's own, or the kernel's TCP."""
        return nginx_facts(protocol, tcp)

    def command(self, context: Context) -> Command:
        """Files below the root."""
        return nginx_command(context, f"root {context.root};")
