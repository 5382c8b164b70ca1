# SPDX-License-Identifier: Apache-2.0
"""HAProxy 3.2: HTTP/2 or HTTP/3 towards the client, HTTP/1.1 or HTTP/2 towards the origin.

It is the only proxy with a choice of QUIC's congestion control and of its largest window. Version 3.0 will not do: with
clients whose first message takes two packets (ML-KEM key shares) most of its QUIC handshakes fail.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, OwnValues, Role, Unsupported
from quiclab.lab.endpoints._origin import is_cold, origin_facts, with_origin_knob
from quiclab.lab.endpoints._pages import HTTP3_FIELD, HTTP3_HERE, listening
from quiclab.lab.endpoints._stacks import find_program, why_absent
from quiclab.lab.endpoints._tcp import OPENSSL_GROUPS, tcp_sender_facts
from quiclab.lab.endpoints._versions import Known
from quiclab.model.study import Knobs, Program, Protocol, Tcp
from quiclab.project import MORE_PROGRAMS

KNOWN = Known("haproxy", "3.2", "3.4")
"""Read in its manual (quic-cc-algo, the largest window) and its source, 3.2.0 to 3.4.0: before 3.2 it did not pace."""
_OWN_VALUES: Mapping[Protocol, OwnValues] = {
    "h2": {"max_streams": 100},
    "h3": {
        "congestion_control": "cubic",
        "max_window": "480 KiB",
        "max_streams": 100,
        "pacing": True,
        "gso": True,
        "hystart": False,
        "retry": False,
    },
}
"""Defaults by its manual: tune.h2.fe.max-concurrent-streams, quic-cc-algo, the largest window and the number of streams
of a frontend's connection, pacing and UDP GSO of QUIC; quic-cc-hystart and quic-force-retry are to be asked for."""
_DATAGRAMS = {4: 1252, 6: 1232}
"""UDP payload of every full datagram, by version of IP: as much as a packet of 1280 bytes holds."""
_BETA = {"reno": " with beta 0.5", "cubic": " with beta 0.7"}
_CONGESTION_CONTROLS = {"reno": "newreno", "cubic": "cubic", "bbr": "bbr"}


class Haproxy:
    """HAProxy with one thread; no buffering beyond its own 16 KiB, no second try."""

    name = "haproxy"
    role: Role = "proxy"
    protocols: frozenset[Protocol] = frozenset({"h1", "h2", "h3"})
    origin_protocols: frozenset[Protocol] = frozenset({"h1", "h2"})
    knobs: Mapping[Protocol, frozenset[str]] = with_origin_knob(
        {
            "h1": frozenset({"groups", "compression"}),
            "h2": frozenset({"groups", "max_streams", "stream_window", "early_data", "compression"}),
            "h3": frozenset(
                {"congestion_control", "max_window", "groups", "max_streams", "connection_window", "early_data"}
                | {"hystart", "pacing", "gso", "compression", "retry"}
            ),
        }
    )
    abilities: frozenset[Ability] = frozenset({"resumption", "early_data", "pages", "upload"})

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Ask for its version, which must be 3.2 at least."""
        started = find_program("haproxy", prefix)
        text = run([*started.argv, "-v"]) if started else None
        found = re.search(r"version (\d+)\.(\d+)\S*", text or "")
        if started is None or found is None:
            return Unsupported(why_absent("haproxy", started), MORE_PROGRAMS)
        if (int(found[1]), int(found[2])) < (3, 2):
            return Unsupported(f"haproxy {found[1]}.{found[2]} is too old: 3.2 is needed for HTTP/3", MORE_PROGRAMS)
        return Available(found[0].removeprefix("version "), started.path)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Reason why a value is not possible, such as another congestion control."""
        knobs = program.knobs
        if knobs.congestion_control not in (None, *_CONGESTION_CONTROLS):
            known = ", ".join(_CONGESTION_CONTROLS)
            return f"haproxy's congestion control is one of {known}, not {knobs.congestion_control!r}"
        return None

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams."""
        return _DATAGRAMS[ip_version]

    def own_values(self, program: Program, protocol: Protocol) -> OwnValues:
        """Values that it has by itself."""
        return KNOWN.own_values(program, _OWN_VALUES.get(protocol, {}))

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender: its QUIC's, or the kernel's TCP."""
        if protocol != "h3":
            return {**tcp_sender_facts(tcp), **origin_facts(program.knobs)}
        name = program.knobs.congestion_control or "cubic"
        largest = program.knobs.max_window or "480 KiB"
        sending = {
            "congestion_control": f"haproxy {name}{_BETA.get(name, '')}, window at most {largest}",
            "initial_window": "10 packets",
            "packet_size": f"UDP payload {_DATAGRAMS[4]} bytes",
            "pacing": "not paced" if program.knobs.pacing is False else "paced",
        }
        return {**KNOWN.traits(program, sending), **origin_facts(program.knobs)}

    def command(self, context: Context) -> Command:
        """Command for one frontend with a TCP and a QUIC listener for every host, and one backend with the origin."""
        started = find_program("haproxy", context.program.prefix)
        configuration = context.work_dir / "haproxy.cfg"
        return Command(
            argv=(*(started.argv if started else ("haproxy",)), "-db", "-f", str(configuration)),
            env={**(started.env if started else {}), "HOME": str(context.work_dir), "TMPDIR": str(context.work_dir)},
            files={configuration: _configuration(context)},
            sockets=listening(context),
        )


def _configuration(context: Context) -> str:
    knobs, origin = context.knobs, context.origin
    hosts = context.page.hosts if context.page else ()
    loads = [f"load crt {context.certificate} key {context.key} alias server"]
    loads += [f"load crt {host.certificate} key {host.key} alias {host.name}" for host in hosts]
    # The document's name may be a second one, beside that of the warm-up, at the same address.
    binds = _binds(context, context.authority, ("server", *(host.name for host in hosts[:1])), ("h1", "h2", "h3"))
    for host in context.other_hosts:
        binds += _binds(context, replace(context, address=host.address).authority, (host.name,), host.protocols)
    here = f"http-response set-header {HTTP3_FIELD} '{HTTP3_HERE}' if {{ fc_http_major 3 }}" if context.page else ""
    newline = "\n    "
    alpn = {"h1": "http/1.1", "h2": "h2", "h3": "h3"}[origin.protocol if origin else "h1"]
    verified = f"ssl verify required ca-file {context.ca} verifyhost {context.host} sni str({context.host})"
    address = f"{origin.address}:{origin.port}" if origin else ""
    compression = "filter compression\n    compression algo gzip" if knobs.compression else ""
    return f"""global
    nbthread 1
    maxconn 2000
    {_tuning(knobs)}
crt-store study
    {newline.join(loads)}
defaults
    mode http
    timeout connect 5s
    timeout client 120s
    timeout server 120s
    retries 0
frontend client
    {newline.join(binds)}
    http-request set-header Host {context.host}
    # The origin's names the origin's own port.
    http-response del-header {HTTP3_FIELD}
    {here}
    default_backend origin
backend origin
    {compression}
    http-reuse {"never" if is_cold(knobs) else "always"}
    server origin {address} alpn {alpn} {verified} pool-purge-delay 300s
"""


def _binds(context: Context, authority: str, names: Sequence[str], protocols: Sequence[Protocol]) -> list[str]:
    """Listeners of one address; the first name's certificate is for clients that ask for none of the names."""
    knobs = context.knobs
    tls = "ssl" + "".join(f" crt @study/{name}" for name in names)
    if knobs.groups is not None:
        tls += f" curves {':'.join(OPENSSL_GROUPS[group] for group in knobs.groups)}"
    early = " allow-0rtt" if knobs.early_data else ""
    retry = " quic-force-retry" if knobs.retry else ""
    quic = "quic6" if context.ip_version == 6 else "quic4"
    alpn = "h2,http/1.1" if "h2" in protocols else "http/1.1"
    over_tcp = f"bind {authority} {tls} alpn {alpn} ssl-min-ver TLSv1.2{early}"
    over_quic = f"bind {quic}@{authority} {tls} alpn h3{early}{retry} quic-cc-algo {_congestion_control(knobs)}"
    return [over_tcp, over_quic] if "h3" in protocols else [over_tcp]


def _congestion_control(knobs: Knobs) -> str:
    name = _CONGESTION_CONTROLS[knobs.congestion_control or "cubic"]
    return f"{name}({knobs.max_window.bytes})" if knobs.max_window is not None else name


def _tuning(knobs: Knobs) -> str:
    lines = []
    if knobs.max_streams is not None:
        lines += [f"tune.h2.fe.max-concurrent-streams {knobs.max_streams}"]
        lines += [f"tune.quic.frontend.max-streams-bidi {knobs.max_streams}"]
    if knobs.stream_window is not None:
        lines.append(f"tune.h2.fe.initial-window-size {knobs.stream_window.bytes}")
    if knobs.connection_window is not None:
        lines.append(f"tune.quic.frontend.max-data-size {knobs.connection_window.bytes}")
    if knobs.hystart:
        lines.append("tune.quic.cc-hystart on")
    if knobs.pacing is False:
        lines.append("tune.quic.disable-tx-pacing")
    if knobs.gso is False:
        lines.append("tune.quic.disable-udp-gso")
    if knobs.retry:
        lines.append("cluster-secret quiclab")  # for the token, without which it refuses the configuration
    return "\n    ".join(lines)
