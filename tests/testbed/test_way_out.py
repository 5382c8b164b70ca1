# SPDX-License-Identifier: Apache-2.0
"""`quiclab exec --internet`: through the link into a world that is a namespace of the test's own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
import pytest
from by_night import by_night
from live_link import in_sandbox
from small_study import QUICLAB, quiclab

from quiclab.lab.testbed.user_commands import use_name_server
from quiclab.logs.decoders import Context
from quiclab.logs.decoders.packet_log import PacketLog

pytestmark = pytest.mark.netns
T = TypeVar("T")

_PAGE, _NAME_SERVER, _UPLINK = "198.51.100.1", "192.0.2.53", "192.0.2.10"
_BODY = bytes(range(256)) * 400
_AS_USER = ("unshare", "--user", "--map-user=1000", "--map-group=1000")

_CLIENT = f"""
import json, socket, time
address = socket.gethostbyname("page.example")
started_ns = time.monotonic_ns()
page = socket.create_connection((address, 80), 10)
connected_ns = time.monotonic_ns() - started_ns
body = b"".join(iter(lambda: page.recv(65536), b""))
echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
echo.settimeout(10)
echo.sendto(b"hello", ({_PAGE!r}, 7))
print(json.dumps([address, connected_ns, len(body), echo.recv(100).decode()]))
"""


_OUT_OF_REACH = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], 8080), 2)
except OSError:
    print("out of reach")
"""


@pytest.fixture(params=["pasta", "slirp4netns"])
def path_with(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A PATH with this user-mode stack and with what quiclab itself needs, no more."""
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("/dev/net/tun is closed to this user, and a user-mode stack needs it")
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in (request.param, "nsenter", "unshare", "sh", "sleep"):
        (folder / name).symlink_to(str(shutil.which(name)))
    return str(folder)


def _in_world(work: Callable[[], T]) -> T:
    """Run `work` where there are a default route, a name server, a page and an echo service, and nothing else."""

    def inside() -> T:
        from pyroute2 import IPRoute

        with IPRoute() as ip:
            ip.link("set", index=1, state="up")
            ip.link("add", ifname="uplink", kind="veth", peer={"ifname": "far"})
            for device in ("uplink", "far"):
                ip.link("set", index=ip.link_lookup(ifname=device)[0], state="up")
            ip.addr("add", index=ip.link_lookup(ifname="uplink")[0], address=_UPLINK, prefixlen=24)
            for address in (_PAGE, _NAME_SERVER):
                ip.addr("add", index=1, address=address, prefixlen=32)
            ip.route("add", dst="default", gateway="192.0.2.254")
        use_name_server(_NAME_SERVER)
        for serve in (_serve_names, _serve_echo, _serve_page):
            threading.Thread(target=serve, daemon=True).start()
        return work()

    result: T = in_sandbox(inside)
    return result


def _serve_names() -> None:
    """Every A question gets the page's address, every other none (RFC 1035 section 4)."""
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind((_NAME_SERVER, 53))
    while True:
        query, client = names.recvfrom(512)
        end = query.index(b"\0", 12) + 5
        is_a = query[end - 4 : end - 2] == b"\0\1"
        answer = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + socket.inet_aton(_PAGE) if is_a else b""
        names.sendto(query[:2] + b"\x81\x80\0\1" + bytes([0, is_a]) + bytes(4) + query[12:end] + answer, client)


def _serve_echo() -> None:
    echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    echo.bind((_PAGE, 7))
    while True:
        echo.sendto(*echo.recvfrom(2048))


def _serve_page() -> None:
    listener = socket.create_server((_PAGE, 80))
    while True:
        with listener.accept()[0] as connection:
            connection.sendall(_BODY)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)


def _quiclab(path: str, *arguments: str | Path, before: tuple[str, ...] = ()) -> dict[str, Any]:
    done = quiclab("exec", "--internet", *arguments, before=("env", f"PATH={path}", *before))
    return {"code": done.returncode, "output": done.stdout, "errors": done.stderr}


@pytest.mark.parametrize(
    ("backend", "before"), [("tun", ()), ("veth", _AS_USER), *by_night(("tun", _AS_USER), ("veth", ()))]
)
def test_names_pages_and_datagrams_cross_the_link(
    path_with: str, tmp_path: Path, before: tuple[str, ...], backend: str
) -> None:
    """A name is resolved, a page fetched, a datagram answered, and the link's log has all of it, delayed."""
    options = ("--delay", "20ms", "--backend", backend, "--log", tmp_path / "log")
    told = _in_world(lambda: _quiclab(path_with, *options, "--", sys.executable, "-c", _CLIENT, before=before))
    assert told["code"] == 0, told["errors"]
    address, connected_ns, size, echo = json.loads(told["output"])
    assert (address, size, echo) == (_PAGE, len(_BODY), "hello")
    assert connected_ns >= 40_000_000
    assert "TCP ends at this machine" in told["errors"]
    packets = PacketLog().decode(tmp_path / "log" / "link.qplog", Context()).tables["link_packets"]
    down = packets.filter(pl.col("direction") == "down", pl.col("index").is_not_null())
    assert down["size_bytes"].sum() > len(_BODY)


def test_the_callers_own_loopback_is_out_of_reach(path_with: str) -> None:
    """The gateway's address does not stand for this machine."""

    def work() -> dict[str, Any]:
        with socket.create_server(("127.0.0.1", 8080)):
            return _quiclab(path_with, "--", sys.executable, "-c", _OUT_OF_REACH, "10.78.0.2")

    assert _in_world(work)["output"] == "out of reach\n"


def test_killed_it_leaves_no_stack(path_with: str) -> None:
    """The stack ends with the sandbox."""

    def work() -> list[list[str]]:
        environment = os.environ | {"PATH": path_with}
        process = subprocess.Popen(
            [str(QUICLAB), "exec", "--internet", "--", "sh", "-c", "echo ready; sleep 100"],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert process.stdout is not None
        process.stdout.readline()
        running = _stacks()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        deadline = time.monotonic() + 60
        while _stacks() and time.monotonic() < deadline:
            time.sleep(0.02)
        return [running, _stacks()]

    running, left = _in_world(work)
    # pasta has a child for an instant each time it does something in the other namespace (its NS_CALL).
    assert len(set(running)) == 1
    assert left == []


def _stacks() -> list[str]:
    """User-mode stacks that run here: in a sandbox, where processes of others are not seen."""
    names = []
    for entry in Path("/proc").glob("[0-9]*/comm"):
        try:
            names.append(entry.read_text().strip())
        except OSError:
            continue
    return [name for name in names if name.startswith(("pasta", "passt", "slirp4netns"))]


def test_a_caller_without_a_network(path_with: str) -> None:
    """Either the stack says that it cannot run, or what it cannot reach is out of reach."""
    told = in_sandbox(lambda: _quiclab(path_with, "--", sys.executable, "-c", _OUT_OF_REACH, _PAGE))
    if told["code"] == 0:
        assert told["output"] == "out of reach\n"
    else:
        assert told["code"] == 3
        assert "provides no way out" in told["errors"]


def test_no_stack_installed(tmp_path: Path) -> None:
    """The one line that installs it."""
    told = _quiclab(str(tmp_path), "--", "true")
    assert told["code"] == 3
    assert "hint: apt-get install -y passt" in told["errors"]
