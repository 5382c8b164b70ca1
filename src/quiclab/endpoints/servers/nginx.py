# SPDX-License-Identifier: Apache-2.0
"""nginx as a file server for HTTP/1.1, HTTP/2 and HTTP/3."""

from __future__ import annotations

from collections.abc import Mapping

from quiclab.endpoints._api import Ability, Available, BoundedRun, Command, Context, Role, Unsupported
from quiclab.endpoints._nginx import ABILITIES, KNOBS, nginx_command, nginx_facts, probe_nginx
from quiclab.spec.model import Program, Protocol, Tcp


class Nginx:
    """One worker; files go by sendfile over TCP."""

    name = "nginx"
    role: Role = "server"
    protocols: frozenset[Protocol] = frozenset({"h1", "h2", "h3"})
    knobs = KNOBS
    abilities: frozenset[Ability] = ABILITIES | {"upload"}

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Ask it for its version and its modules."""
        return probe_nginx(run, prefix)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Every value of its knobs can be had."""
        return None

    def facts(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Its QUIC's own, or the kernel's TCP."""
        return nginx_facts(protocol, tcp)

    def unsupported_upload(self, program: Program) -> str | None:
        """With every setting."""
        return None

    def upload_facts(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Over HTTP/3 as much as its stream buffer holds."""
        if protocol == "h3":
            return {"receive_window": f"QUIC stream window {program.knobs.stream_window or '64 KiB'}"}
        return {"receive_window": f"TCP buffer up to {tcp.receive_buffer[2]}"}

    def command(self, context: Context) -> Command:
        """Files below the root."""
        if context.received is None:
            return nginx_command(context, f"root {context.root};")
        # What is sent lies in a temporary file until it is whole: one in the same file system, so that it only gets
        # another name then.
        roots = f'map $request_method $root {{ default "{context.root}"; PUT "{context.received}"; }}'
        return nginx_command(context, "root $root; dav_methods PUT; client_max_body_size 0;", roots)
