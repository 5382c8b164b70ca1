# SPDX-License-Identifier: Apache-2.0
"""Every endpoint, listed by hand: adding one is one file, one line here, one test."""

from __future__ import annotations

import difflib

from quiclab.endpoints import command
from quiclab.endpoints._api import Endpoint, Proxy, Role
from quiclab.endpoints.clients import aioquic as aioquic_client
from quiclab.endpoints.clients import chromium, curl, curl_cffi, nghttp, wget2
from quiclab.endpoints.clients import ngtcp2 as ngtcp2_client
from quiclab.endpoints.proxies import envoy, haproxy
from quiclab.endpoints.proxies import nginx as nginx_proxy
from quiclab.endpoints.servers import aioquic as aioquic_server
from quiclab.endpoints.servers import caddy, nginx
from quiclab.endpoints.servers import ngtcp2 as ngtcp2_server
from quiclab.errors import SpecError
from quiclab.spec.model import Arm

ENDPOINTS: tuple[Endpoint, ...] = (
    caddy.Caddy(),
    nginx.Nginx(),
    ngtcp2_server.Ngtcp2Server(),
    aioquic_server.AioquicServer(),
    command.CommandServer(),
    envoy.Envoy(),
    haproxy.Haproxy(),
    nginx_proxy.NginxProxy(),
    command.CommandProxy(),
    curl_cffi.CurlCffi(),
    chromium.Chromium(),
    curl.Curl(),
    ngtcp2_client.Ngtcp2Client(),
    wget2.Wget2(),
    nghttp.Nghttp(),
    aioquic_client.AioquicClient(),
    command.CommandClient(),
)


def find(role: Role, name: str) -> Endpoint:
    """The endpoint of that name and role. Raises SpecError with the closest name that exists."""
    names = [endpoint.name for endpoint in ENDPOINTS if endpoint.role == role]
    for endpoint in ENDPOINTS:
        if endpoint.role == role and endpoint.name == name:
            return endpoint
    close = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise SpecError(f"there is no {role} called {name!r}", f"{hint}known: {', '.join(names)}")


def names_by_role() -> dict[str, list[str]]:
    """Names of all endpoints, by role."""
    roles: tuple[Role, ...] = ("client", "server", "proxy")
    return {role: [endpoint.name for endpoint in ENDPOINTS if endpoint.role == role] for role in roles}


def objections(arm: Arm) -> list[str]:
    """Why an arm cannot run, each as a clause: protocols, knobs and values that its programs do not have."""
    found = []
    for role, program, protocol in arm.programs():
        endpoint = find(role, program.name)
        if isinstance(endpoint, Proxy) and arm.origin_protocol not in endpoint.origin_protocols:
            spoken = ", ".join(sorted(endpoint.origin_protocols))
            found.append(f"the proxy {program.name} speaks {spoken} to its origin, not {arm.origin_protocol}")
        if protocol not in endpoint.protocols:
            spoken = ", ".join(sorted(endpoint.protocols))
            found.append(f"the {role} {program.name} speaks {spoken}, not {protocol}")
            continue
        known = endpoint.knobs.get(protocol, frozenset())
        found += [
            f"the {role} {program.name} has no {knob} over {protocol}: unsupported; {_choice(known)}"
            for knob in program.knobs.asked()
            if knob not in known
        ]
        if not set(program.knobs.asked()) - known and (why := endpoint.unsupported(program, protocol)) is not None:
            found.append(why)
    return found


def _choice(known: frozenset[str]) -> str:
    return f"it has {', '.join(sorted(known))}" if known else "it has no knobs"
