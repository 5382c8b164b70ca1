# SPDX-License-Identifier: Apache-2.0
"""Pages of several hosts, as endpoints are told of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from contexts import CONTEXT, WORK

from quiclab.lab.endpoints._api import Origin, PageContext, ServedHost
from quiclab.lab.endpoints.clients.firefox import Firefox
from quiclab.lab.endpoints.proxies.caddy import CaddyProxy
from quiclab.lab.endpoints.proxies.envoy import Envoy
from quiclab.lab.endpoints.proxies.haproxy import Haproxy
from quiclab.lab.endpoints.proxies.nginx import NginxProxy
from quiclab.lab.endpoints.servers.caddy import Caddy
from quiclab.lab.endpoints.servers.nginx import Nginx

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


_PROXIED = replace(_PAGE, origin=Origin("10.77.0.2", 8443, "h1"))


def test_proxies_answer_for_all_hosts() -> None:
    """Each at its own address with its own certificate; all of them ask the one origin by the name that it knows."""
    for proxy in (CaddyProxy(), NginxProxy(), Haproxy(), Envoy()):
        command = proxy.command(_PROXIED)
        assert sorted(command.sockets) == ["tcp"] * 3 + ["udp"] * 2
        (text,) = command.files.values()
        for host in _HOSTS:
            assert host.address in text
        assert "8443" in text
        assert proxy.command(replace(CONTEXT, origin=_PROXIED.origin)).sockets == ("tcp", "udp")


def test_haproxy_shows_each_name_its_certificate_and_speaks_what_the_host_speaks() -> None:
    """The document's name stands beside that of the warm-up; a host without HTTP/3 has no socket for it."""
    (text,) = Haproxy().command(_PROXIED).files.values()
    binds = [line.strip() for line in text.splitlines() if line.strip().startswith("bind ")]
    assert binds == [
        "bind 10.77.0.2:443 ssl crt @study/server crt @study/www.example alpn h2,http/1.1 ssl-min-ver TLSv1.2",
        "bind quic4@10.77.0.2:443 ssl crt @study/server crt @study/www.example alpn h3 quic-cc-algo cubic",
        "bind 10.77.0.3:443 ssl crt @study/cdn.example alpn h2,http/1.1 ssl-min-ver TLSv1.2",
        "bind 10.77.0.4:443 ssl crt @study/font.example alpn h2,http/1.1 ssl-min-ver TLSv1.2",
        "bind quic4@10.77.0.4:443 ssl crt @study/font.example alpn h3 quic-cc-algo cubic",
    ]


def test_nginx_adds_what_pages_need_once() -> None:
    """As a server; as a proxy it hands on what its origin says, for a browser refuses two of them."""
    for command, added in ((Nginx().command(_PAGE), 1), (NginxProxy().command(_PROXIED), 0)):
        (text,) = command.files.values()
        assert text.count("Access-Control-Allow-Origin") == added


_KEPT = replace(_PAGE, page=replace(_PAGE.page, cacheable=True)) if _PAGE.page else _PAGE


def test_a_browser_may_keep_all_but_the_document_where_it_has_a_cache() -> None:
    """Nothing may be kept where it has none, and nothing of objects."""
    for server in (Caddy(), Nginx()):
        texts = [next(iter(server.command(each).files.values())) for each in (_KEPT, _PAGE, CONTEXT)]
        assert ["max-age" in text for text in texts] == [True, False, False]
        assert all("no-store" in text for text in texts)
    routes = json.loads(Caddy().command(_KEPT).files[WORK / "caddy.json"])["apps"]["http"]["servers"]["study"]["routes"]
    said = [
        (route.get("match"), handler["response"]["set"]["Cache-Control"])
        for route in routes
        for handler in route["handle"]
        if "Cache-Control" in handler.get("response", {}).get("set", {})
    ]
    assert said == [(None, ["max-age=86400"]), ([{"path": ["/index.html"]}], ["no-store"])]


def test_a_proxy_hands_on_what_its_origin_says_of_caches() -> None:
    """A field of its own would stand beside that of the origin."""
    (text,) = NginxProxy().command(replace(_KEPT, origin=_PROXIED.origin)).files.values()
    assert "Cache-Control" not in text
    (text,) = NginxProxy().command(_PROXIED).files.values()
    assert "Cache-Control no-store" in text


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
