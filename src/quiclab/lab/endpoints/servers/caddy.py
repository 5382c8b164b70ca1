# SPDX-License-Identifier: Apache-2.0
"""Caddy as an HTTP/2 and HTTP/3 file server."""

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
from quiclab.lab.endpoints._pages import CONTENT_TYPES, HEADERS, MAY_KEEP, MAY_NOT_KEEP
from quiclab.model.study import Program, Protocol, Tcp


class Caddy:
    """One process that serves both protocols on one port."""

    name = "caddy"
    role: Role = "server"
    protocols: frozenset[Protocol] = frozenset({"h1", "h2", "h3"})
    knobs = KNOBS
    abilities: frozenset[Ability] = frozenset(
        {"qlog", "resumption", "early_data", "content_type", "ranges", "pages", "think_time", "cacheable"}
    )

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
        return caddy_facts(program, protocol, tcp)

    def command(self, context: Context) -> Command:
        """Command for one listener and one site, or one of each for every host of a page."""
        handlers: list[dict[str, object]] = [
            {"handler": "headers", "response": {"set": _headers(context)}},
            *_thinking(context),
            {"handler": "file_server", "root": str(context.root)},
        ]
        return caddy_of_hosts(context, handlers, [*_types(context), *_caching(context)])


def _headers(context: Context) -> dict[str, list[str]]:
    if context.page is None:
        return {"Cache-Control": [MAY_NOT_KEEP], "Content-Type": [context.content_type]}
    declared = {name: [value] for name, value in HEADERS.items()}
    return declared if context.page.cacheable else {"Cache-Control": [MAY_NOT_KEEP], **declared}


def _caching(context: Context) -> list[dict[str, object]]:
    """Routes that let a browser keep all but the document, where it is to have a cache; the later one prevails."""
    if context.page is None or not context.page.cacheable:
        return []
    asked_again = {"match": [{"path": [f"/{context.page.document}"]}]}
    return [
        {**where, "handle": [{"handler": "headers", "response": {"set": {"Cache-Control": [said]}}}]}
        for where, said in (({}, MAY_KEEP), (asked_again, MAY_NOT_KEEP))
    ]


def _types(context: Context) -> list[dict[str, object]]:
    """Routes that set the media type by a file's ending; objects have the type of the spec."""
    if context.page is None:
        return []
    return [
        {
            "match": [{"path": [f"*.{ending}"]}],
            "handle": [{"handler": "headers", "response": {"set": {"Content-Type": [media_type]}}}],
        }
        for ending, media_type in CONTENT_TYPES.items()
    ]


def _thinking(context: Context) -> list[dict[str, object]]:
    """Handlers that wait. Caddy has no such handler: this is a proxy without an upstream, which looks for one again
    after an interval and then gives up, whereupon the file is served."""
    waits = context.page.waits if context.page else {}
    served = {"handler": "file_server", "root": str(context.root), "status_code": "200"}
    return (
        [
            {
                "handler": "subroute",
                "routes": [
                    {
                        "match": [{"path": [f"/{name}"]}],
                        "handle": [
                            {
                                "handler": "reverse_proxy",
                                "upstreams": [],
                                "load_balancing": {"retries": 1, "try_interval": wait_ns},
                            }
                        ],
                    }
                    for name, wait_ns in waits.items()
                ],
                "errors": {"routes": [{"handle": [served]}]},
            }
        ]
        if waits
        else []
    )
