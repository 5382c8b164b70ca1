# SPDX-License-Identifier: Apache-2.0
"""Pages of several hosts through proxies: whoever answers the client is all of the hosts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from by_night import by_night
from small_study import main_only, quiclab, trials
from stack_study import need, spec_text

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_PAGE = """{ html = "4 KB", hosts = 2, others_protocol = "h2", resources = [
  {type = "style", size = "5 KB"}, {type = "font", size = "8 KB", third_party = "100 %"},
  {type = "image", size = "9 KB", count = 6, third_party = "50 %"},
  {type = "data", size = "2 KB", third_party = "100 %"}
] }"""
_BYTES = 4_000 + 5_000 + 8_000 + 6 * 9_000 + 2_000
_TWO_LINKS = """
[[path.link]]
name = "access"
rate = "20 Mbit/s"
delay = "5 ms"

[[path.link]]
name = "core"
rate = "50 Mbit/s"
delay = "3 ms"
"""


def _run(folder: Path, arms: dict[str, str], path: str = "", page: str = _PAGE) -> dict[str, dict[str, Any]]:
    spec = folder / "spec.toml"
    workload = 'kind = "page"\npage = ' + page.replace("\n", " ")
    text = spec_text(arms, None, workload=workload, path=path)
    if path:
        text = text.replace('rate = "50 Mbit/s"\ndelay = "10 ms"\n', "", 1)
    spec.write_text(text)
    done = quiclab("run", main_only(spec), "--out", folder / "study", "--no-report", timeout=300)
    assert "Traceback" not in done.stdout + done.stderr
    kept = trials(folder / "study")
    assert kept, done.stdout + done.stderr
    return {trial["row"]["arm"]: trial for trial in kept if trial["status"] != "void"}


def _check(found: dict[str, dict[str, Any]]) -> None:
    for trial in found.values():
        assert trial["status"] == "verified", trial["reason"]
        requests = trial["client"]["requests"]
        assert sum(request["body_bytes"] for request in requests) == _BYTES
        versions = {request["url"].split("/")[2]: request["http_version"] for request in requests}
        own = "HTTP/3" if trial["protocol"] == "h3" else "HTTP/2"
        assert versions == {"server.test": own, "third-1.test": "HTTP/2", "third-2.test": "HTTP/2"}


@pytest.mark.nightly
@pytest.mark.parametrize("protocols", [("h2", "h3", "h2", "h3"), *by_night((("h3", "h2", "h3", "h2"),))])
def test_every_proxy_beside_the_server(tmp_path: Path, protocols: tuple[str, ...]) -> None:
    """Fonts and data of other hosts too, which a browser takes only where the origin's permission comes once."""
    proxies = ("haproxy", "envoy", "caddy", "nginx")
    need(("client", "chromium"), *(("proxy", proxy) for proxy in proxies))
    arms = {
        f"{proxy}-{protocol}": f'protocol = "{protocol}"\nclient = "chromium"\nserver = "caddy"\nproxy = "{proxy}"'
        for proxy, protocol in zip(proxies, protocols, strict=True)
    }
    _check(_run(tmp_path, arms))


@pytest.mark.nightly
def test_a_proxy_between_two_links(tmp_path: Path) -> None:
    """All hosts' addresses stand at its node, and only the page's bytes pass the link behind it."""
    need(("client", "chromium"), ("proxy", "envoy"), ("proxy", "haproxy"))
    rest = 'client = "chromium"\nserver = "caddy"\nproxy_at = "access"'
    arms = {
        f"{proxy}-{protocol}": f'protocol = "{protocol}"\n{rest}\nproxy = "{proxy}"'
        for proxy, protocol in (("envoy", "h3"), ("haproxy", "h2"))
    }
    found = _run(tmp_path, arms, _TWO_LINKS)
    _check(found)
    assert {trial["server_address"] for trial in found.values()} == {"10.77.0.201"}


_MANY = """{ html = "4 KB",
  resources = [{type = "image", size = "5 KB", count = 20}, {type = "font", size = "8 KB"}] }"""


@pytest.mark.nightly
def test_no_request_waits_in_the_browser(tmp_path: Path) -> None:
    """Chromium asks for everything at once over HTTP/3 as over HTTP/2, whoever serves the page: else it would be the
    browser that makes the difference."""
    servers = ("caddy", "nginx", "quic-go")
    proxies = ("haproxy", "envoy", "caddy", "nginx")
    need(("client", "chromium"), *(("server", each) for each in servers), *(("proxy", each) for each in proxies))
    ends = {server: f'server = "{server}"' for server in servers}
    ends |= {f"{proxy}-proxy": f'server = "nginx"\nproxy = "{proxy}"' for proxy in proxies}
    arms = {f"{name}-h3": f'protocol = "h3"\nclient = "chromium"\n{lines}' for name, lines in ends.items()}
    arms |= {"caddy-h2": 'protocol = "h2"\nclient = "chromium"\nserver = "caddy"'}
    found = _run(tmp_path, arms, page=_MANY)
    assert {name: trial["status"] for name, trial in found.items()} == dict.fromkeys(arms, "verified")
    held_back = {name: trial["client"]["requests"][0]["requests_held_back"] for name, trial in found.items()}
    assert held_back == dict.fromkeys(arms, 0)
