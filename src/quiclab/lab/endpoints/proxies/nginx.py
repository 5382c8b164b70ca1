# SPDX-License-Identifier: Apache-2.0
"""nginx as a reverse proxy: HTTP/2 or HTTP/3 towards the client, HTTP/1.1 towards the origin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, OwnValues, Role, Unsupported
from quiclab.lab.endpoints._nginx import (
    ABILITIES,
    DATAGRAM,
    KNOBS,
    nginx_command,
    nginx_facts,
    nginx_least_window,
    nginx_own_values,
    probe_nginx,
)
from quiclab.lab.endpoints._origin import is_cold, origin_facts, with_origin_knob
from quiclab.model.study import Program, Protocol, Tcp
from quiclab.model.units import ByteCount


class NginxProxy:
    """nginx with one worker; no cache, no buffering of bodies on disk, no second try."""

    name = "nginx"
    role: Role = "proxy"
    protocols: frozenset[Protocol] = frozenset({"h1", "h2", "h3"})
    origin_protocols: frozenset[Protocol] = frozenset({"h1"})
    knobs = with_origin_knob(KNOBS)
    abilities: frozenset[Ability] = ABILITIES | {"upload"}
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
        return {**nginx_facts(program, protocol, tcp), **origin_facts(program.knobs)}

    def command(self, context: Context) -> Command:
        """Command of a proxy that verifies the origin under the study's CA."""
        address = context.origin.authority if context.origin else ""
        cold = is_cold(context.knobs)
        upstream = f"upstream origin {{ server {address};{'' if cold else ' keepalive 8;'} }}"
        location = "\n      ".join(
            (
                "proxy_pass https://origin;",
                "proxy_http_version 1.1;",
                f'proxy_set_header Connection "{"close" if cold else ""}";',
                f"proxy_set_header Host {context.host};",
                "proxy_ssl_server_name on;",
                f"proxy_ssl_name {context.host};",
                "proxy_ssl_protocols TLSv1.3;",
                "proxy_ssl_verify on;",
                "proxy_ssl_verify_depth 20;",
                f"proxy_ssl_trusted_certificate {context.ca};",
                # The origin's Alt-Svc names the origin's own port.
                "proxy_hide_header Alt-Svc;",
                "proxy_max_temp_file_size 0;",
                "proxy_next_upstream off;",
                # What is uploaded is passed on as it comes.
                "proxy_request_buffering off;",
                "client_max_body_size 0;",
            )
        )
        return nginx_command(context, location, upstream)
