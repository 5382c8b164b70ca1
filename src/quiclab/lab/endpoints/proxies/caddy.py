# SPDX-License-Identifier: Apache-2.0
"""Caddy as a reverse proxy: HTTP/2 or HTTP/3 towards the client, any of the three towards the origin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, OwnValues, Role, Unsupported
from quiclab.lab.endpoints._caddy import (
    KNOBS,
    KNOWN,
    PAYLOAD,
    caddy_facts,
    caddy_lacks,
    caddy_of_hosts,
    caddy_own_values,
    probe_caddy,
)
from quiclab.lab.endpoints._origin import is_cold, origin_facts, with_origin_knob
from quiclab.model.study import Program, Protocol, Tcp

_VERSIONS: Mapping[Protocol, str] = {"h1": "1.1", "h2": "2", "h3": "3"}


class CaddyProxy:
    """Caddy as a proxy without cache and second tries, which hands everything on at once."""

    name = "caddy"
    role: Role = "proxy"
    protocols: frozenset[Protocol] = frozenset({"h1", "h2", "h3"})
    origin_protocols: frozenset[Protocol] = frozenset({"h1", "h2", "h3"})
    knobs = with_origin_knob(KNOBS)
    abilities: frozenset[Ability] = frozenset({"qlog", "resumption", "early_data", "pages"})

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Ask for its version."""
        return probe_caddy(run, prefix)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Reason why a value is not possible: there is New Reno only."""
        return caddy_lacks(program)

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams."""
        return KNOWN.fact(program, PAYLOAD)[ip_version]

    def own_values(self, program: Program, protocol: Protocol) -> OwnValues:
        """Values that it has by itself."""
        return caddy_own_values(program, protocol)

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender: its own QUIC's, or those of the kernel's TCP."""
        return {**caddy_facts(program, protocol, tcp), **origin_facts(program.knobs)}

    def command(self, context: Context) -> Command:
        """Command for one listener, or one for every host of a page; the origin is verified under the study's CA."""
        return caddy_of_hosts(context, [_relay(context)])


def _relay(context: Context) -> dict[str, object]:
    origin, files = context.origin, [str(context.ca)]
    trusted: Mapping[str, Mapping[str, object]] = {
        "2.5": {"root_ca_pem_files": files},
        "2.8": {"ca": {"provider": "file", "pem_files": files}},
    }
    return {
        "handler": "reverse_proxy",
        "upstreams": [{"dial": origin.authority if origin else ""}],
        "flush_interval": -1,
        # The origin's Alt-Svc names the origin's own port.
        "headers": {"request": {"set": {"Host": [context.host]}}, "response": {"delete": ["Alt-Svc"]}},
        "transport": {
            "protocol": "http",
            "versions": [_VERSIONS[origin.protocol if origin else "h1"]],
            "compression": False,
            "keep_alive": {"enabled": not is_cold(context.knobs), "idle_timeout": "300s"},
            "tls": {
                "server_name": context.host,
                **KNOWN.fact(context.program, trusted),
            },
        },
    }
