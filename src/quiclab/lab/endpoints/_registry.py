# SPDX-License-Identifier: Apache-2.0
"""Every endpoint, listed by hand: to add one takes one file, one line here, and one test."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from quiclab.lab.endpoints._address_change import objections_to_change
from quiclab.lab.endpoints._api import Endpoint, LimitedObjects, Proxy, Role
from quiclab.lab.endpoints._upload import unsent
from quiclab.lab.endpoints.clients.aioquic import AioquicClient
from quiclab.lab.endpoints.clients.chromium import Chromium
from quiclab.lab.endpoints.clients.curl import Curl
from quiclab.lab.endpoints.clients.curl_cffi import CurlCffi
from quiclab.lab.endpoints.clients.firefox import Firefox
from quiclab.lab.endpoints.clients.nghttp import Nghttp
from quiclab.lab.endpoints.clients.ngtcp2 import Ngtcp2Client
from quiclab.lab.endpoints.clients.quic_go import QuicGoClient
from quiclab.lab.endpoints.clients.quiche import QuicheClient
from quiclab.lab.endpoints.clients.quinn import QuinnClient
from quiclab.lab.endpoints.clients.wget2 import Wget2
from quiclab.lab.endpoints.command import CommandClient, CommandProxy, CommandServer
from quiclab.lab.endpoints.proxies.caddy import CaddyProxy
from quiclab.lab.endpoints.proxies.envoy import Envoy
from quiclab.lab.endpoints.proxies.haproxy import Haproxy
from quiclab.lab.endpoints.proxies.nginx import NginxProxy
from quiclab.lab.endpoints.servers.aioquic import AioquicFaultyImplicitAck, AioquicServer
from quiclab.lab.endpoints.servers.caddy import Caddy
from quiclab.lab.endpoints.servers.nginx import Nginx
from quiclab.lab.endpoints.servers.ngtcp2 import Ngtcp2Server
from quiclab.lab.endpoints.servers.quic_go import QuicGoServer
from quiclab.lab.endpoints.servers.quiche import QuicheServer
from quiclab.lab.endpoints.servers.quinn import (
    QuinnFaultyCoarseTimers,
    QuinnFaultyEveryLoss,
    QuinnFaultyInitialPto,
    QuinnFaultyReducedTwice,
    QuinnFaultyRttSample,
    QuinnFaultyThreshold,
    QuinnFaultyTrickle,
    QuinnServer,
    QuinnTimeThreshold,
)
from quiclab.model.errors import SpecError
from quiclab.model.study import OCTETS, Arm, Study, Workload

ENDPOINTS: tuple[Endpoint, ...] = (
    Caddy(),
    Nginx(),
    Ngtcp2Server(),
    QuicheServer(),
    QuinnServer(),
    QuicGoServer(),
    AioquicServer(),
    QuinnTimeThreshold(),
    QuinnFaultyThreshold(),
    QuinnFaultyInitialPto(),
    QuinnFaultyTrickle(),
    QuinnFaultyRttSample(),
    QuinnFaultyEveryLoss(),
    QuinnFaultyReducedTwice(),
    QuinnFaultyCoarseTimers(),
    AioquicFaultyImplicitAck(),
    CommandServer(),
    Envoy(),
    Haproxy(),
    NginxProxy(),
    CaddyProxy(),
    CommandProxy(),
    CurlCffi(),
    Curl(),
    Ngtcp2Client(),
    QuicheClient(),
    QuinnClient(),
    QuicGoClient(),
    AioquicClient(),
    Wget2(),
    Nghttp(),
    Chromium(),
    Firefox(),
    CommandClient(),
)


def known(role: Role, name: str) -> Endpoint | None:
    """The endpoint of that name and role; None of the servers of others, which a probe asks."""
    return next((endpoint for endpoint in ENDPOINTS if (endpoint.role, endpoint.name) == (role, name)), None)


def find(role: Role, name: str) -> Endpoint:
    """The endpoint of that name and role. Raises SpecError with the closest name that exists."""
    if (endpoint := known(role, name)) is not None:
        return endpoint
    names = [endpoint.name for endpoint in ENDPOINTS if endpoint.role == role]
    close = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise SpecError(f"there is no {role} called {name!r}", f"{hint}known: {', '.join(names)}")


def names_by_role() -> dict[str, list[str]]:
    """Names of all endpoints, by role."""
    roles: tuple[Role, ...] = ("client", "server", "proxy")
    return {role: [endpoint.name for endpoint in ENDPOINTS if endpoint.role == role] for role in roles}


def objections(arm: Arm, workloads: Collection[Workload] = ()) -> list[str]:
    """Reasons why an arm cannot run these workloads, as clauses: what its programs do not have or cannot do."""
    found = []
    server, client = find("server", arm.server.name), find("client", arm.client.name)
    several = [workload for workload in workloads if len(workload.object_sizes) > 1]
    found += [why for workload in several if (why := _unfetched(arm, client, workload)) is not None]
    proxy = find("proxy", arm.proxy.name) if arm.proxy else None
    if any(workload.upload for workload in workloads):
        found += unsent(arm, client, server, proxy, ENDPOINTS)
    found += _unloaded(client, server, proxy, [workload for workload in workloads if workload.page is not None])
    if {workload.content_type for workload in workloads} - {OCTETS} and "content_type" not in server.abilities:
        found.append(f"the server {server.name} cannot be told the content type of an object: unsupported")
    if any(workload.video is not None for workload in workloads):
        found += _unplayed(client, server)
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
    found += _unvisited(arm, client, workloads)
    if arm.client.knobs.http_cache and "cacheable" not in server.abilities:
        able = [each.name for each in ENDPOINTS if "cacheable" in each.abilities]
        found.append(
            f"the server {server.name} lets no browser keep what a page needs, as http_cache is about: unsupported; "
            f"{', '.join(able)} can"
        )
    return found + _unheard(arm) + _uncompressed(arm) + objections_to_change(arm, workloads, client)


def objections_to(study: Study) -> tuple[str, ...]:
    """Return the reasons why arms of a study cannot run its workloads, each with its arm."""
    return tuple(f"arm {arm.name!r}: {why}" for arm, workloads in study.runs() for why in objections(arm, workloads))


def _unfetched(arm: Arm, client: Endpoint, workload: Workload) -> str | None:
    """Reason why the client cannot fetch several objects on one connection."""
    if "objects" not in client.abilities:
        able = [each.name for each in ENDPOINTS if "objects" in each.abilities and arm.protocol in each.protocols]
        told = f"the client {client.name} cannot fetch the {len(workload.object_sizes)} objects of {workload.name}"
        return f"{told} on one connection: unsupported; {', '.join(able)} can"
    if arm.protocol == "h1" and workload.at_once > 1:
        told = f"HTTP/1.1 has one request at a time on a connection, and {workload.name} asks for several at once"
        return f"{told}: unsupported; give it concurrency = 1"
    return client.unsupported_objects(arm.client, workload) if isinstance(client, LimitedObjects) else None


def _unloaded(client: Endpoint, server: Endpoint, proxy: Endpoint | None, pages: Collection[Workload]) -> list[str]:
    """Reasons why pages cannot be loaded or served."""
    found = []
    for endpoint, does in ((client, "load"), (server, "serve")):
        if pages and "pages" not in endpoint.abilities:
            able = [each.name for each in ENDPOINTS if each.role == endpoint.role and "pages" in each.abilities]
            found.append(f"the {endpoint.role} {endpoint.name} cannot {does} pages: unsupported; {', '.join(able)} can")
    thinks = any(each.page and each.page.har and each.page.think == "wait" for each in pages)
    if thinks and "think_time" not in server.abilities:
        able = [each.name for each in ENDPOINTS if "think_time" in each.abilities]
        told = f"the server {server.name} cannot wait before it answers, as the servers of a HAR did: unsupported"
        found.append(f'{told}; {", ".join(able)} can, or write think = "none"')
    several = any(each.page is not None and each.page.several_hosts for each in pages)
    if proxy is not None and several and "pages" not in proxy.abilities:
        able = [each.name for each in ENDPOINTS if each.role == "proxy" and "pages" in each.abilities]
        told = f"the proxy {proxy.name} answers for one host, not for a page of several: unsupported"
        found.append(f"{told}; {', '.join(able)} can")
    return found


def _unvisited(arm: Arm, client: Endpoint, workloads: Collection[Workload]) -> list[str]:
    """Reasons why a client that makes its first visit itself cannot do so."""
    if "first_visit" not in client.abilities or arm.client.knobs.session is None:
        return []
    asked = f'session = "{arm.client.knobs.session}"'
    found = []
    if others := [each.name for each in workloads if each.page is None]:
        found.append(f"the client {client.name} visits pages first, and {others[0]} is none: {asked} is not possible")
    if shared := [each.name for each in workloads if each.page is not None and each.competition is not None]:
        found.append(f"in the competition of {shared[0]} there is no time for a first visit: {asked} is not possible")
    return found


def _unplayed(client: Endpoint, server: Endpoint) -> list[str]:
    """Reasons why the arm's programs cannot play a video or serve it."""
    found = []
    for endpoint, ability, what in ((client, "video", "play a video"), (server, "ranges", "serve parts of a file")):
        if ability not in endpoint.abilities:
            able = [each.name for each in ENDPOINTS if each.role == endpoint.role and ability in each.abilities]
            found.append(f"the {endpoint.role} {endpoint.name} cannot {what}: unsupported; {', '.join(able)} can")
    return found


def _unheard(arm: Arm) -> list[str]:
    """Reasons why an end cannot change the other end's acknowledgements: the other one does not know ACK_FREQUENCY."""
    client, front = find("client", arm.client.name), find("proxy" if arm.proxy else "server", arm.front.name)
    found = []
    for asking, program, other in ((client, arm.client, front), (front, arm.front, client)):
        asked = {"peer_ack_frequency", "peer_ack_delay"} & set(program.knobs.asked())
        if asked and "ack_frequency" not in other.abilities:
            told = f"the {other.role} {other.name} knows no ACK_FREQUENCY frames"
            found.append(f"{told}, by which the {asking.role} {asking.name} would ask it for its acknowledgements")
    return found


def _uncompressed(arm: Arm) -> list[str]:
    """Reason why bodies cannot be compressed: it takes one end that asks for it and one that does it."""
    ends = ("client", arm.client), ("proxy" if arm.proxy else "server", arm.front)
    asked = [bool(program.knobs.compression) for _, program in ends]
    if asked[0] == asked[1]:
        return []
    role, program = ends[asked.index(False)]
    return [f"compression needs both ends, and the {role} {program.name} is not told to"]


def _choice(known: frozenset[str]) -> str:
    return f"it has {', '.join(sorted(known))}" if known else "it has no knobs"
