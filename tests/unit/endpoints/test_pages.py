# SPDX-License-Identifier: Apache-2.0
"""Pages of several hosts, as endpoints are told of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from contexts import CONTEXT, WORK

from quiclab.endpoints._api import PageContext, ServedHost
from quiclab.endpoints.clients.firefox import Firefox
from quiclab.endpoints.servers.caddy import Caddy
from quiclab.endpoints.servers.nginx import Nginx

_HOSTS = (
    ServedHost("www.example", CONTEXT.address, ("h1", "h2", "h3"), Path("/c"), Path("/k")),
    ServedHost("cdn.example", "10.77.0.3", ("h1", "h2"), Path("/c"), Path("/k")),
    ServedHost("font.example", "10.77.0.4", ("h1", "h2", "h3"), Path("/c"), Path("/k")),
)
_PAGE = replace(CONTEXT, page=PageContext("index.html", _HOSTS, 3, 30.0, {"a.js": 250_000_000}))


def test_servers_are_ready_at_all_addresses() -> None:
    """One socket of each kind at each, without UDP where a host has no HTTP/3; of an object, one of each."""
    for server in (Caddy(), Nginx()):
        assert sorted(server.command(_PAGE).sockets) == ["tcp"] * 3 + ["udp"] * 2
        assert server.command(CONTEXT).sockets == ("tcp", "udp")


def test_caddy_waits_for_files_that_have_a_wait() -> None:
    """At every host, and for no other file."""
    servers = json.loads(Caddy().command(_PAGE).files[WORK / "caddy.json"])["apps"]["http"]["servers"]
    assert len(servers) == 3
    for server in servers.values():
        handlers = next(route for route in server["routes"] if "host" in route.get("match", [{}])[0])["handle"]
        (thinking,) = (each for each in handlers if each["handler"] == "subroute")
        (route,) = thinking["routes"]
        assert route["match"] == [{"path": ["/a.js"]}]
        assert route["handle"][0]["load_balancing"]["try_interval"] == 250_000_000
    assert "subroute" not in Caddy().command(CONTEXT).files[WORK / "caddy.json"]


def test_firefox_knows_all_names_and_who_speaks_http3() -> None:
    """The mapping that forces HTTP/3 leaves out hosts without it."""
    job = json.loads(Firefox().command(_PAGE).files[WORK / "client-job.json"])
    assert job["url"] == "https://www.example/index.html"
    assert job["names"] == {
        "server.test": CONTEXT.address,
        "www.example": CONTEXT.address,
        "cdn.example": "10.77.0.3",
        "font.example": "10.77.0.4",
    }
    mapping = job["preferences"]["network.http.http3.alt-svc-mapping-for-testing"]
    assert mapping == "server.test;h3=:443,www.example;h3=:443,font.example;h3=:443"
