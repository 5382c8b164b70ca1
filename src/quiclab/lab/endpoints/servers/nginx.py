# SPDX-License-Identifier: Apache-2.0
"""nginx as a file server for HTTP/1.1, HTTP/2 and HTTP/3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, OwnValues, Role, Unsupported
from quiclab.lab.endpoints._nginx import (
    ABILITIES,
    DATAGRAM,
    KNOBS,
    KNOWN,
    nginx_command,
    nginx_facts,
    nginx_least_window,
    nginx_own_values,
    probe_nginx,
)
from quiclab.model.study import Program, Protocol, Tcp
from quiclab.model.units import ByteCount


class Nginx:
    """nginx with one worker; over TCP, files go by sendfile."""

    name = "nginx"
    role: Role = "server"
    protocols: frozenset[Protocol] = frozenset({"h1", "h2", "h3"})
    knobs = KNOBS
    abilities: frozenset[Ability] = ABILITIES | {"upload", "cacheable"}
    stream_buffer: frozenset[Protocol] = frozenset({"h3"})

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Ask nginx for its version and its modules."""
        return probe_nginx(run, prefix)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Every value of its knobs is possible."""
        return None

    def least_window(self, program: Program) -> ByteCount:
        """Window below which no loss reduces that of its QUIC."""
        return nginx_least_window(program)

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams."""
        return DATAGRAM

    def own_values(self, program: Program, protocol: Protocol) -> OwnValues:
        """Values that it has by itself."""
        return nginx_own_values(program, protocol)

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender: its own QUIC's, or those of the kernel's TCP."""
        return nginx_facts(program, protocol, tcp)

    def unsupported_upload(self, program: Program) -> str | None:
        """Every setting works with uploads."""
        return None

    def upload_facts(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Receive windows; over HTTP/3 as much as its stream buffer holds."""
        if protocol == "h3":
            window = f"QUIC stream window {program.knobs.stream_window or '64 KiB'}"
            return KNOWN.traits(program, {"receive_window": window})
        return {"receive_window": f"TCP buffer up to {tcp.receive_buffer[2]}"}

    def command(self, context: Context) -> Command:
        """Command of a server of the files below the root."""
        if context.received is None:
            return nginx_command(context, f"root {context.root};")
        # An upload is in a temporary file until it is whole; that is in the same file system, so that it is only
        # renamed then.
        roots = f'map $request_method $root {{ default "{context.root}"; PUT "{context.received}"; }}'
        return nginx_command(context, "root $root; dav_methods PUT; client_max_body_size 0;", roots)
