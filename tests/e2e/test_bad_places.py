# SPDX-License-Identifier: Apache-2.0
"""Ports that are taken, keys that cannot be read, objects that are not there: each a reason, and the study goes on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from registered import CLIENTS, SERVERS
from small_study import main_only, quiclab, trials
from stack_study import need, run_arms, spec_text

from quiclab.lab.endpoints import Available, find
from quiclab.lab.endpoints._quic_go import PROGRAM
from quiclab.lab.endpoints._stacks import find_program
from quiclab.lab.testbed.host import bounded_run

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_TAKES_443 = """
import socket, sys, time
address, kind = sys.argv[1:]
taken = socket.socket(type=socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM)
if kind == "udp":
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
taken.bind((address, 443))
if kind == "tcp":
    taken.listen()
own = socket.socket(type=socket.SOCK_DGRAM)
own.bind((address, 8443))
time.sleep(100)
"""

_SERVES_THE_WARM_UP_ONLY = """
import json, os, pathlib, sys
program, protocol, listen, cert, key, root, work = sys.argv[1:]
site = pathlib.Path(work, "site")
site.mkdir()
(site / "warm-up").write_bytes(pathlib.Path(root, "warm-up").read_bytes())
job = pathlib.Path(work, "own-server.json")
job.write_text(json.dumps({"listen": listen, "protocols": [protocol], "root": str(site), "certificate": cert,
                           "key": key, "early_data": False}))
os.execv(program, [program, "server", str(job)])
"""

_SAID = {"wget2": "the server issued an error response"} | dict.fromkeys(
    ("ngtcp2", "nghttp"), "the body has 0 bytes instead of 1000"
)


def _table(argv: list[str], ready: str) -> str:
    return f"{{argv = {argv!r}, ready = {ready!r}}}".replace("'", '"')


@pytest.mark.parametrize(
    ("proxy", "kind", "said"),
    [
        ("envoy", "tcp", "the proxy (envoy) ended at start with exit code 1 (tcp port 443 is held by python"),
        ("nginx", "udp", "the proxy (nginx) shares udp port 443 with python"),
    ],
)
def test_a_port_that_is_taken(tmp_path: Path, proxy: str, kind: str, said: str) -> None:
    """By the user's own origin, which takes the proxy's: nobody else's answers are measured in its place."""
    need(("proxy", proxy))
    script = tmp_path / "taker.py"
    script.write_text(_TAKES_443)
    arm = f'protocol = "h3"\nclient = "curl-cffi"\nproxy = "{proxy}"\n'
    taker = _table([sys.executable, str(script), "{address}", kind], "udp")
    found = run_arms(tmp_path, {"free": arm + 'server = "caddy"', "taken": arm + f"server = {taker}"})
    assert found["free"]["status"] == "verified", found["free"]["reason"]
    assert found["taken"]["status"] == "failed"
    assert said in found["taken"]["reason"], found["taken"]["reason"]


@pytest.mark.nightly
def test_a_key_that_no_server_can_use(tmp_path: Path) -> None:
    """Each server's own words about its key; what ran before stays."""
    arms = {
        name: f'protocol = "h3"\nclient = "curl-cffi"\nserver = "{name}"' for name in SERVERS if _here("server", name)
    }
    behind = 'protocol = "h3"\nclient = "curl-cffi"\nserver = "caddy"\n'
    arms |= {name: behind + f'proxy = "{name}"' for name in ("envoy", "haproxy") if _here("proxy", name)}
    first = run_arms(tmp_path, arms, size="1 KB")
    assert {name: trial["status"] for name, trial in first.items()} == dict.fromkeys(arms, "verified")
    (key,) = (tmp_path / "study" / "tls").glob("server-*.key")
    key.write_text("this is no key\n")
    spec = tmp_path / "spec.toml"
    spec.write_text(spec_text(arms, "1 KB").replace("blocks = 1", "blocks = 2"))
    done = quiclab("run", main_only(spec), "--out", tmp_path / "study", "--no-report", timeout=300)
    assert done.returncode == 1, done.stdout + done.stderr
    failed = {
        trial["row"]["arm"]: trial["reason"] for trial in trials(tmp_path / "study") if trial["status"] == "failed"
    }
    assert set(failed) == set(arms)
    for name, reason in failed.items():
        assert "ended at start with exit code" in reason, (name, reason)
        assert "key" in reason.lower(), (name, reason)


def _here(role: str, name: str) -> bool:
    return isinstance(find(role, name).probe(bounded_run), Available)  # type: ignore[arg-type]


@pytest.mark.nightly
def test_an_object_that_the_server_does_not_have(tmp_path: Path) -> None:
    """Whether the client fails by itself or is content with any answer; two of them tell nobody which it was."""
    program = find_program(PROGRAM)
    need(("server", "quic-go"))
    assert program is not None
    script = tmp_path / "server.py"
    script.write_text(_SERVES_THE_WARM_UP_ONLY)
    arms = {}
    for client in CLIENTS:
        for protocol in sorted(find("client", client).protocols - {"h1"}):
            own = [sys.executable, str(script), *program.argv, protocol]
            own += ["{address}:{port}", "{cert}", "{key}", "{root}", "{work}"]
            server = _table(own, "udp" if protocol == "h3" else "tcp")
            if _here("client", client):
                arms[f"{client}-{protocol}"] = f'protocol = "{protocol}"\nclient = "{client}"\nserver = {server}'
    found = run_arms(tmp_path, arms, size="1 KB")
    assert set(found) == set(arms)
    assert {trial["status"] for trial in found.values()} == {"failed"}
    for name, trial in found.items():
        client = name.rpartition("-")[0]
        said = _SAID.get(client, "the server answered with status 404")
        assert said in trial["reason"], (name, trial["reason"])
