# SPDX-License-Identifier: Apache-2.0
"""nginx as a server and as a proxy: one worker, one listener for all versions of HTTP.

Its QUIC sends with NewReno up to version 1.27.4 and with CUBIC from 1.27.5 on, does not pace, and accepts early data
from 1.29.1 on (with OpenSSL). Up to 1.27.4 its window counts in the largest datagram that it accepts, 65,527 bytes, in
place of one that the path carries: it starts at two of these, not at the ten packets of RFC 9002 section 7.2, so that
only its stream buffer ends the first flight, and no loss reduces it below that: on a path that holds less it does not
react to loss.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, OwnValues, Unsupported
from quiclab.lab.endpoints._pages import (
    CONTENT_TYPES,
    HEADERS,
    HTTP3_FIELD,
    HTTP3_HERE,
    MAY_KEEP,
    MAY_NOT_KEEP,
    listening,
)
from quiclab.lab.endpoints._stacks import find_program, why_absent
from quiclab.lab.endpoints._tcp import OPENSSL_GROUPS, tcp_sender_facts
from quiclab.lab.endpoints._versions import ByVersion, Known
from quiclab.model.study import Program, Protocol, Tcp
from quiclab.model.units import ByteCount
from quiclab.project import MORE_PROGRAMS

INSTALL = MORE_PROGRAMS
KNOBS: Mapping[Protocol, frozenset[str]] = {
    "h1": frozenset({"groups", "compression"}),
    "h2": frozenset({"groups", "max_streams", "upload_window", "early_data", "compression"}),
    "h3": frozenset({"groups", "max_streams", "stream_window", "gso", "early_data", "compression"})
    | {"retry", "udp_receive_buffer"},
}
_OWN_VALUES: Mapping[Protocol, OwnValues] = {
    "h2": {"max_streams": 128, "upload_window": "64 KiB"},
    "h3": {"max_streams": 128, "stream_window": "64 KiB", "gso": False, "retry": False},
}
"""Defaults by its documentation: http2_ and http3_max_concurrent_streams, http2_body_preread_size,
http3_stream_buffer_size, quic_gso, quic_retry."""
ABILITIES: frozenset[Ability] = frozenset({"resumption", "early_data", "content_type", "ranges", "pages"})
KNOWN = Known("nginx", "1.25", "1.31")
"""Read in its source: the tags 1.25.0 to 1.31.4, src/event/quic."""
DATAGRAM = 1200
"""UDP payload of a datagram before path MTU discovery has found that more goes through (NGX_QUIC_MIN_INITIAL_SIZE)."""
INITIAL_PACKETS = 10
_LEAST_WINDOW = {"1.25": 2 * 65_527, "1.27.5": 2 * DATAGRAM}
"""Window in bytes below which no loss reduces it, by version."""
_SENDING: Mapping[str, str | ByVersion] = {
    "congestion_control": {
        "1.25": "nginx NewReno with beta 0.5, window never below 131 KB",
        "1.27.5": "nginx CUBIC with beta 0.7 (of what is in flight)",
    },
    "packet_size": f"UDP payload {DATAGRAM} bytes, growing by path MTU discovery",
    "pacing": "not paced",
}
_ALL: tuple[Protocol, ...] = ("h1", "h2", "h3")


def probe_nginx(run: BoundedRun, prefix: str | None) -> Available | Unsupported:
    """Run nginx for its version and modules; a build without HTTP/3 will not do."""
    started = find_program("nginx", prefix)
    # nginx prints its version on stderr, and a bounded runner returns stdout: hence the shell's 2>&1.
    text = run(["/bin/sh", "-c", '"$@" 2>&1', "sh", *started.argv, "-V"]) if started else None
    if started is None or text is None:
        return Unsupported(why_absent("nginx", started), INSTALL)
    if "http_v3_module" not in text:
        return Unsupported(f"{started.path} was built without HTTP/3", INSTALL)
    return Available(text.split("nginx/", 1)[1].split()[0], started.path)


def nginx_facts(program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
    """Facts about nginx's sending: those of its QUIC, or of the kernel's TCP."""
    if protocol != "h3":
        return tcp_sender_facts(tcp)
    buffer = program.knobs.stream_window or "64 KiB"
    sending = {
        **_SENDING,
        "initial_window": {
            "1.25": f"as much as its stream buffer of {buffer} holds (the window is 131 KB)",
            "1.27.5": f"{INITIAL_PACKETS} packets of {DATAGRAM} bytes",
        },
    }
    return KNOWN.traits(program, sending)


def nginx_own_values(program: Program, protocol: Protocol) -> OwnValues:
    """Values that nginx has by itself."""
    return KNOWN.own_values(program, _OWN_VALUES.get(protocol, {}))


def nginx_least_window(program: Program) -> ByteCount:
    """Window below which no loss reduces it, as far as its stream buffer fills it."""
    buffer = program.knobs.stream_window or ByteCount.parse("64 KiB")
    return min(buffer, ByteCount(KNOWN.fact(program, _LEAST_WINDOW)))


def nginx_command(context: Context, location: str, upstream: str = "") -> Command:
    """nginx with a configuration of its own; `location` is the content of `location / { … }`, `upstream` goes beside
    the server."""
    started = find_program("nginx", context.program.prefix)
    folder = context.work_dir / f"nginx-{context.port}"
    configuration = context.work_dir / f"nginx-{context.port}.conf"
    return Command(
        argv=(*(started.argv if started else ("nginx",)), "-p", str(context.work_dir), "-c", str(configuration)),
        env={**(started.env if started else {}), "HOME": str(context.work_dir), "TMPDIR": str(context.work_dir)},
        files={configuration: _configuration(context, folder, location, upstream)},
        sockets=listening(context),
    )


def _caching(context: Context) -> str:
    """Directives for Cache-Control. Where a browser is to have a cache, a proxy hands on what its origin says."""
    if context.page is None or not context.page.cacheable:
        return f"add_header Cache-Control {MAY_NOT_KEEP};"
    if context.origin is not None:
        return ""
    asked_again = f"'/{context.page.document}' {MAY_NOT_KEEP};"
    return f"map $uri $may_keep {{ default {MAY_KEEP}; {asked_again} }} add_header Cache-Control $may_keep;"


def _configuration(context: Context, folder: Path, location: str, upstream: str) -> str:
    knobs = context.knobs
    # For all servers of the address: TLS begins with the settings of the default one.
    tls = [
        f"ssl_certificate {context.certificate};",
        f"ssl_certificate_key {context.key};",
        "ssl_protocols TLSv1.2 TLSv1.3;",
        f"ssl_early_data {'on' if knobs.early_data else 'off'};",
        "ssl_session_tickets on;",
    ]
    if knobs.groups is not None:
        tls.append(f"ssl_ecdh_curve {':'.join(OPENSSL_GROUPS[group] for group in knobs.groups)};")
    server = [f"quic_gso {'on' if knobs.gso else 'off'};"]
    if knobs.compression:
        server += ["gzip on;", "gzip_types *;", "gzip_min_length 0;", "gzip_proxied any;"]
    if knobs.max_streams is not None:
        server += [f"http{version}_max_concurrent_streams {knobs.max_streams};" for version in (2, 3)]
    if knobs.stream_window is not None:
        server.append(f"http3_stream_buffer_size {knobs.stream_window.bytes};")
    if knobs.upload_window is not None:
        server.append(f"http2_body_preread_size {knobs.upload_window.bytes};")
    if knobs.retry:
        server.append("quic_retry on;")
    sockets = f" rcvbuf={knobs.udp_receive_buffer.bytes}" if knobs.udp_receive_buffer is not None else ""
    temporary = "\n  ".join(
        f"{name}_temp_path {folder}-{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    common, own = "\n  ".join(tls), "\n    ".join(server)
    servers = [_server(_listens(context.authority, context.host, _ALL, sockets), own, location)]
    for host in context.page.hosts if context.page else ():
        if host.name == context.host:
            continue
        # The document's name may be a second one, beside that of the warm-up, at the same address.
        authority = replace(context, address=host.address).authority
        listens = _listens(authority, host.name, host.protocols, sockets, again=host.address == context.address)
        shown = [f"ssl_certificate {host.certificate};", f"ssl_certificate_key {host.key};"]
        servers.append(_server([*listens, *shown], own, location))
    newline = "\n  "
    types = "".join(f" {media_type.partition(';')[0]} {ending};" for ending, media_type in CONTENT_TYPES.items())
    # A proxy hands on those of its origin; browsers refuse a field that comes twice.
    served = context.page is not None and context.origin is None
    more = [f'add_header {name} "{value}";' for name, value in HEADERS.items()] if served else []
    # nginx does not send a field without a value, which it has over TCP.
    here = f"map $http3 $http3_here {{ default ''; h3 '{HTTP3_HERE}'; }}" if context.page else ""
    more += [f"add_header {HTTP3_FIELD} $http3_here;"] if context.page else []
    return f"""daemon off;
worker_processes 1;
pid {folder}.pid;
error_log stderr warn;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  sendfile on;
  keepalive_requests 1000000;
  {_caching(context)}
  {" ".join(more)}
  types {{{types if context.page else ""} }}
  default_type {context.content_type};
  {temporary}
  {common}
  {upstream}
  {here}
  {newline.join(servers)}
  server {{
    listen {context.authority} ssl default_server;
    ssl_reject_handshake on;
  }}
}}
"""


def _listens(
    authority: str, name: str, protocols: Collection[Protocol], sockets: str, *, again: bool = False
) -> list[str]:
    """Directives for what a server of this name listens to, with options of the sockets of QUIC; `again` if another one
    opens the same socket."""
    options = "" if again else f" reuseport{sockets}"
    quic = [f"listen {authority} quic{options};", "http3 on;"] if "h3" in protocols else []
    return [
        *quic,
        f"listen {authority} ssl;",
        f"http2 {'on' if 'h2' in protocols else 'off'};",
        f"server_name {name};",
    ]


def _server(listens: Sequence[str], own: str, location: str) -> str:
    lines = "\n    ".join([*listens, own])
    return f"""server {{
    {lines}
    location / {{
      {location}
    }}
  }}"""
