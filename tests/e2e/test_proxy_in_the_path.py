# SPDX-License-Identifier: Apache-2.0
"""A proxy between two links: each leg has its own packets and congestion control; proxies that fail are told."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from accounts import account_of, sums_ms
from by_night import by_night
from small_study import main_only, quiclab, trials
from stack_study import need, spec_text

from quiclab.logs.decoders import decode_trial

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_LINKS = """\
[[path.link]]
name = "access"
rate = "20 Mbit/s"
delay = "5 ms"
loss = {model = "list", packets = [30, 31]}

[[path.link]]
name = "core"
rate = "50 Mbit/s"
delay = "3 ms"
"""
_BYTES = 500_000
"""So many that each connection is open for some 0.3 s: the kernel is asked about it every 20 ms."""

_RELAY = """
import socket, sys, threading
# Bytes in both directions, until the first connection that was to carry more than a warm-up carries it.
own, port, origin, dies = sys.argv[1], 443, sys.argv[2].rsplit(":", 1), sys.argv[3] == "dies"
listener = socket.create_server((own, port))
def copy(source, target, limit):
    count = 0
    while data := source.recv(16384):
        count += len(data)
        if count > limit and dies:
            print("out of memory", flush=True)
            import os; os._exit(7)
        if count > limit:
            source.close(), target.shutdown(socket.SHUT_RDWR)
            return
        try:
            target.sendall(data)
        except OSError:
            return
while True:
    near, _ = listener.accept()
    far = socket.create_connection((origin[0], int(origin[1])))
    for pair in ((near, far, 10**9), (far, near, 50_000)):
        threading.Thread(target=copy, args=pair, daemon=True).start()
"""


def _run(folder: Path, arms: Mapping[str, str], path: str = "") -> dict[str, dict[str, Any]]:
    spec = folder / "spec.toml"
    text = spec_text(arms, f"{_BYTES} B", path=path + _LINKS)
    spec.write_text(text.replace('rate = "50 Mbit/s"\ndelay = "10 ms"\n', "", 1))
    done = quiclab("run", main_only(spec), "--out", folder / "study", "--no-report", timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    kept = trials(folder / "study")
    return {trial["row"]["arm"]: trial for trial in kept if trial["status"] != "void"}


@pytest.mark.parametrize("ip_version", [6, *by_night(4)])
def test_direct_and_proxied_over_the_same_two_links(tmp_path: Path, ip_version: int) -> None:
    """The proxy answers at its node; the origin's leg is proven by the packets behind it; loss stays on its link."""
    need(("proxy", "haproxy"))
    rest = 'client = "curl-cffi"\nserver = "caddy"'
    tcp = 'tcp = { congestion_control = "cubic", proxy_congestion_control = "reno" }'
    proxied = f'{rest}\nproxy = "haproxy"\nproxy_at = "access"'
    found = _run(
        tmp_path,
        {
            "direct": f'protocol = "h2"\n{rest}',
            "h2": f'protocol = "h2"\n{proxied}\n{tcp}',
            "h3": f'protocol = "h3"\n{proxied}\n{tcp}',
        },
        path=f"ip_version = {ip_version}\n",
    )
    assert {name: (trial["status"], trial["reason"]) for name, trial in found.items()} == dict.fromkeys(
        ("direct", "h2", "h3"), ("verified", "")
    )
    node = {4: "10.77.0.201", 6: "fd77::201"}[ip_version]
    server = {4: "10.77.0.2", 6: "fd77::2"}[ip_version]
    assert [found[name]["server_address"] for name in ("direct", "h2", "h3")] == [server, node, node]
    for trial in found.values():
        first, second = trial["link"], trial["link"]["more_links"][0]
        assert first["down"]["dropped"] == {"listed": 2}
        # What the warm-up fetched over the link behind the proxy is no part of the transfer: it ended before the
        # client was started, which takes a second. Which of two processes begins first is chance, and on a machine
        # with five tasks a processor one was 68 ms behind.
        assert second["model_zero_ns"] > first["model_zero_ns"] - 300_000_000
        assert second["down"]["packets_in"] < 1.5 * first["down"]["packets_in"]
        assert not {"listed", "loss_entry"} & {reason for side in ("up", "down") for reason in second[side]["dropped"]}
    controls = found["h2"]["proof"]["tcp_congestion_controls"]
    wanted = {"client": "cubic", "proxy": "reno", "proxy_to_origin": "reno", "server": "cubic"}
    assert controls.items() <= wanted.items()
    assert {"proxy", "server"} <= controls.keys()
    assert found["direct"]["proof"]["origin_leg"] == "unproven"
    for name in ("h2", "h3"):
        leg = found[name]["proof"]["origin_leg"]
        assert leg["transports"] == ["tcp"]
        assert leg["bytes_from_origin"] > _BYTES
    # A round trip of 6 ms to the origin is waited for at least; the direct transfer has nothing to wait for behind it.
    for name, trial in found.items():
        account = account_of(tmp_path / "study", trial)
        whys = sums_ms(account, "why")
        assert whys.get("origin", 0) > 6 if name != "direct" else "origin" not in whys, (name, whys)
        # What passes there is the origin's time; how long the proxy then takes to send is its own.
        behind = account.filter(pl.col("link") == "raw/link-2.qplog", pl.col("what") != "server")
        assert set(behind["why"]) == {"origin"} if name != "direct" else behind.height > 0
    # Decoded is the client's leg: the capture of the client, and of whoever answers it, wherever that stands.
    client = ("raw/client.pcapng", "client")
    assert _captures(tmp_path, found["direct"]) == [client, ("raw/link-2-server.pcapng", "server")]
    assert _captures(tmp_path, found["h2"]) == [client, ("raw/server.pcapng", "server")]


def _captures(folder: Path, trial: dict[str, Any]) -> list[tuple[str, str]]:
    """Source and vantage of the captures that are decoded."""
    tables = decode_trial(folder / "study" / "trials" / trial["trial_id"]).tables
    assert sorted(tables["link_packets"]["source"].unique()) == ["raw/link-2.qplog", "raw/link.qplog"]
    return sorted(tables["sources"].filter(format="pcapng").select("source", "vantage").rows())


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("dies", "the proxy ended during the transfer with exit code 7: out of memory"),
        *by_night(("closes", "the client ended")),
    ],
)
def test_a_proxy_that_gives_up_early(tmp_path: Path, how: str, says: str) -> None:
    """One that ends, or only closes the connection, is a failed trial with that reason; the other arm goes on."""
    script = tmp_path / "relay.py"
    script.write_text(_RELAY)
    argv = [sys.executable, str(script), "{address}", "{origin}", how]
    own = f"{{ argv = {argv!r}, ready = 'tcp' }}".replace("'", '"')
    rest = 'protocol = "h2"\nclient = "curl-cffi"\nserver = "caddy"'
    bad = f'{rest}\nproxy = {own}\nproxy_at = "access"\norigin_protocol = "h2"'
    found = _run(tmp_path, {"direct": rest, "bad": bad})
    assert found["direct"]["status"] == "verified", found["direct"]["reason"]
    assert found["bad"]["status"] == "failed"
    assert says in found["bad"]["reason"]


_UDP_RELAY = """
import os, selectors, socket, sys
# Datagrams in both directions, each client by a socket of its own, until so much has come down to one of them.
own, port, origin, how = sys.argv[1], 443, sys.argv[2].rsplit(":", 1), sys.argv[3]
near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
near.bind((own, port))
looks = selectors.DefaultSelector()
looks.register(near, selectors.EVENT_READ)
far_of, client_of, count = {}, {}, {}
while True:
    for key, _ in looks.select():
        if key.fileobj is near:
            data, client = near.recvfrom(65536)
            if client not in far_of:
                far = far_of[client] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                far.connect((origin[0], int(origin[1])))
                client_of[far], count[far] = client, 0
                looks.register(far, selectors.EVENT_READ)
            far_of[client].send(data)
            continue
        far = key.fileobj
        data = far.recv(65536)
        count[far] += len(data)
        if count[far] <= 50_000:
            near.sendto(data, client_of[far])
        elif how == "dies":
            print("out of memory", flush=True)
            os._exit(7)
"""


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("dies", "the proxy ended during the transfer with exit code 7: out of memory"),
        *by_night(("falls silent", "the client")),
    ],
)
def test_a_proxy_of_http3_that_gives_up_early(tmp_path: Path, how: str, says: str) -> None:
    """One that ends, or sends no more: no packet tells of either, and the trial ends with a reason all the same."""
    script = tmp_path / "relay.py"
    script.write_text(_UDP_RELAY)
    argv = [sys.executable, str(script), "{address}", "{origin}", how]
    own = f"{{ argv = {argv!r}, ready = 'udp' }}".replace("'", '"')
    rest = 'protocol = "h3"\nclient = "curl-cffi"\nserver = "caddy"'
    bad = f'{rest}\nproxy = {own}\nproxy_at = "access"\norigin_protocol = "h3"'
    found = _run(tmp_path, {"direct": rest, "bad": bad})
    assert found["direct"]["status"] == "verified", found["direct"]["reason"]
    assert found["bad"]["status"] == "failed"
    assert says in found["bad"]["reason"]


_FORGETFUL = """
import socket, ssl, sys, threading
# Answers the warm-up alone; closes every connection on which another object is asked for, and keeps none: that a kept
# one was closed meanwhile is a reason to ask again on another (RFC 9112 section 9.3.1), whatever a proxy is told.
own, port, certificate, key, root = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
context.set_alpn_protocols(["http/1.1"])
def serve(connection):
    with context.wrap_socket(connection, server_side=True) as tls:
        text = b""
        while data := tls.recv(65536):
            text += data
            if not text.endswith(b"\\r\\n\\r\\n"):
                continue
            path, text = text.split()[1].decode(), b""
            if path != "/warm-up":
                print("asked for", path, flush=True)
                return
            body = open(root + path, "rb").read()
            head = b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)
            tls.sendall(head + body)
            return
listener = socket.create_server((own, port))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""


@pytest.mark.parametrize("proxy", ["nginx", *by_night("haproxy", "caddy", "envoy")])
def test_a_proxy_asks_its_origin_once(tmp_path: Path, proxy: str) -> None:
    """Retries are off: an origin that closes instead of answering is not asked again, and the client has the error."""
    need(("proxy", proxy))
    script = tmp_path / "origin.py"
    script.write_text(_FORGETFUL)
    argv = [sys.executable, str(script), "{address}", "{port}", "{cert}", "{key}", "{root}"]
    own = f"{{ argv = {argv!r}, ready = 'tcp' }}".replace("'", '"')
    head = 'protocol = "h2"\nclient = "curl-cffi"'
    arm = f'{head}\nserver = {own}\nproxy = "{proxy}"\nproxy_at = "access"\norigin_protocol = "h1"'
    found = _run(tmp_path, {"direct": f'{head}\nserver = "caddy"', "bad": arm})
    trial = found["bad"]
    assert trial["status"] == "failed"
    said = (tmp_path / "study" / "failed" / f"{trial['trial_id']}-attempt1" / "raw" / "server.out").read_text()
    assert said.count("asked for") == 1, said
    assert trial["reason"] in ("the server answered with status 502", "the server answered with status 503")
