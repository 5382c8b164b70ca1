# SPDX-License-Identifier: Apache-2.0
"""`quiclab exec` with real packets: the link is there, its log tells all of them, and nothing else changes."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from by_night import by_night
from live_link import in_sandbox
from small_study import quiclab, start_quiclab

from quiclab.lab.testbed import _libc
from quiclab.lab.testbed.backend import tun_problem
from quiclab.logs.decoders import Context
from quiclab.logs.decoders.packet_log import PacketLog

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_PROBE = """
import json, socket, sys, time
host, count = sys.argv[1], int(sys.argv[2])
family, _, _, _, address = socket.getaddrinfo(host, 7, type=socket.SOCK_DGRAM)[0]
probe = socket.socket(family, socket.SOCK_DGRAM)
probe.connect(address)
rtts_ns = []
for number in range(count + 1):
    probe.settimeout(0.001 if number < count else 1)
    if number < count:
        probe.send(time.monotonic_ns().to_bytes(8))
    try:
        while True:
            sent_ns = int.from_bytes(probe.recv(2048))
            rtts_ns.append(time.monotonic_ns() - sent_ns)
    except TimeoutError:
        pass
print(json.dumps({"sent": count, "received": len(rtts_ns), "least_rtt_ns": min(rtts_ns)}))
"""


def _probe(server: str, *options: str | Path, host: str = "server", count: int = 20) -> dict[str, int]:
    """Send datagrams over a link to an echo server: how many went, how many came back, the least round trip."""
    done = quiclab("exec", "--server", server, *options, "--", sys.executable, "-c", _PROBE, host, str(count))
    assert done.returncode == 0, done.stderr
    told: dict[str, int] = json.loads(done.stdout)
    return told


def _packets(folder: Path) -> pl.DataFrame:
    packets = PacketLog().decode(folder / "link.qplog", Context()).tables["link_packets"]
    return packets.filter(pl.col("index").is_not_null())


def _summary(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / "link.json").read_text())
    return told


@pytest.mark.parametrize(
    ("backend", "host"), [("veth", "server6"), *by_night(("tun", "server"), ("tun", "server6"), ("veth", "server"))]
)
def test_the_delay_is_there(echo: str, backend: str, host: str) -> None:
    """No round trip is shorter than two delays, over IPv4 and IPv6, whichever way packets are carried."""
    if backend == "tun" and (problem := in_sandbox(tun_problem)) is not None:
        pytest.skip(f"no TUN device here: {problem}")
    told = _probe(echo, "--delay", "20ms", "--backend", backend, host=host)
    assert told["received"] == told["sent"]
    assert told["least_rtt_ns"] >= 40_000_000


def test_the_log_counts_what_was_lost(echo: str, tmp_path: Path) -> None:
    """Sent less received is exactly what log and summary say was dropped."""
    told = _probe(echo, "--loss", "15%", "--log", tmp_path / "log", count=200)
    packets = _packets(tmp_path / "log")
    dropped = packets.filter(pl.col("action") == "dropped")
    assert dropped["reason"].unique().to_list() == ["loss_entry"]
    assert dropped.height == told["sent"] - told["received"] > 0
    books = _summary(tmp_path / "log")
    assert books["up"]["dropped"]["loss_entry"] + books["down"]["dropped"]["loss_entry"] == dropped.height
    assert books["up"]["packets_in"] == told["sent"]


@pytest.mark.parametrize("host", ["server6", *by_night("server")])
def test_what_a_full_socket_threw_away_is_told(host: str) -> None:
    """The link delivered all, the program at the server's end read nothing: neither is kept from the user."""
    family = "AF_INET" if host == "server" else "AF_INET6"
    listens = (
        f"import socket, time; s = socket.socket(socket.{family}, socket.SOCK_DGRAM); s.bind(('', 9)); time.sleep(60)"
    )
    sends = (
        f"import socket; s = socket.socket(socket.{family}, socket.SOCK_DGRAM)\n"
        f"for _ in range(2000): s.sendto(bytes(1000), ('{host}', 9))\n"
        "time.sleep(0.5)"
    )
    server = f'{sys.executable} -c "{listens}"'
    done = quiclab("exec", "--server", server, "--", sys.executable, "-c", sends)
    told = re.search(r"the server's UDP sockets were full for (\d+) datagrams that the link had delivered", done.stderr)
    assert told is not None, done.stderr
    assert 1000 < int(told[1]) < 2000
    assert "client's UDP sockets" not in done.stderr


def _link_of(pid: int) -> int | None:
    """The process of the link among a command's descendants."""
    for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if Path(f"/proc/{each}/comm").read_text().strip() == "quiclab-link":
            return int(each)
        if (found := _link_of(int(each))) is not None:
            return found
    return None


@pytest.mark.nightly
def test_a_short_stop_of_the_link_is_told_among_many_packets(tmp_path: Path) -> None:
    """A stop that makes fewer than 1 % of the packets late leaves p99 alone, and is told all the same."""
    begun, log = tmp_path / "begun", tmp_path / "log"
    sends = (
        "import pathlib, socket, time\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "for number in range(1000):\n"
        "    s.sendto(bytes(60), ('server', 9)); time.sleep(0.005)\n"
        f"    if number == 100: pathlib.Path({str(begun)!r}).touch()\n"
    )
    running = start_quiclab("exec", "--delay", "20ms", "--log", log, "--", sys.executable, "-c", sends)
    deadline = time.monotonic() + 60
    while not begun.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    link = _link_of(running.pid)
    assert link is not None
    os.kill(link, signal.SIGSTOP)
    time.sleep(0.03)
    os.kill(link, signal.SIGCONT)
    said, _ = running.communicate(timeout=60)
    lateness = _summary(log)["lateness"]
    assert f"the link was late by up to {lateness['max_ns'] / 1e6:.3g} ms (of {lateness['count']} packets" in said


def test_what_the_client_waited_for_a_processor_is_told() -> None:
    """A command that shares one processor with others is not made to look slow by the network."""
    hogs = (
        "for _ in 1 2 3; do timeout 2 sh -c 'while :; do :; done' & done; timeout 2 sh -c 'while :; do :; done'; wait"
    )
    done = quiclab("exec", "--delay", "1ms", "--", "taskset", "-c", "0", "sh", "-c", hogs)
    told = re.search(r"the client's command waited (\d+) ms in all for a processor", done.stderr)
    assert told is not None, done.stderr
    assert int(told[1]) > 5


def test_same_seed_same_losses(echo: str, tmp_path: Path) -> None:
    """The seed decides which packets are lost."""
    lost = {}
    for name, seed in (("a", "5"), ("b", "5"), ("c", "6")):
        _probe(echo, "--up-loss", "20%", "--seed", seed, "--log", tmp_path / name, count=100)
        lost[name] = _packets(tmp_path / name).filter(pl.col("action") == "dropped")["index"].to_list()
    assert lost["a"] == lost["b"] != lost["c"]


def test_options_of_one_direction_leave_the_other_alone(echo: str, tmp_path: Path) -> None:
    """`--up-delay` delays no packet that goes down, `--down-loss` loses none that goes up."""
    _probe(echo, "--up-delay", "30ms", "--down-loss", "30%", "--log", tmp_path / "log", count=60)
    packets = _packets(tmp_path / "log").with_columns(delay=pl.col("due_ns") - pl.col("arrival_ns"))
    up, down = (packets.filter(pl.col("direction") == side) for side in ("up", "down"))
    assert up.height == down.height == 60
    assert up["delay"].to_list() == [30_000_000] * 60
    assert down["delay"].drop_nulls().unique().to_list() == [0]
    assert up.filter(pl.col("action") != "delivered").is_empty()
    assert not down.filter(pl.col("action") == "dropped").is_empty()


def test_log_keeps_all_and_only_there(echo: str, tmp_path: Path) -> None:
    """`--log` keeps packet log, captures and summary in a folder that it makes; without it nothing is written."""
    log = tmp_path / "new" / "log"
    _probe(echo, "--log", log)
    names = {"link-config.json", "link.qplog", "link.json", "client.pcapng", "server.pcapng"}
    assert {file.name for file in log.iterdir()} == names
    assert all(file.stat().st_size > 64 for file in log.iterdir())
    before = sorted(tmp_path.rglob("*"))
    _probe(echo)
    assert sorted(tmp_path.rglob("*")) == before


def test_both_ends_know_the_addresses(echo: str) -> None:
    """The same four variables at both ends, and the same names."""
    script = 'echo "$QUICLAB_CLIENT $QUICLAB_SERVER $QUICLAB_CLIENT6 $QUICLAB_SERVER6"'
    hosts = "; getent ahosts client server client6 server6 | cut -d' ' -f1 | uniq | tr '\\n' ' '; echo"
    done = quiclab("exec", "--server", f"{{ {script}; }} >&2; {echo}", "--client", script + hosts)
    variables, names = done.stdout.splitlines()
    assert variables in done.stderr.splitlines()
    client, server, client6, server6 = variables.split()
    assert names.split() == [client, server, client6, server6]


def test_the_servers_end_of_a_lone_command_is_silent() -> None:
    """Nobody listens at the far end, and a port there refuses."""
    done = quiclab("exec", "--", sys.executable, "-c", "import socket; socket.create_connection(('server', 80), 5)")
    assert "ConnectionRefusedError" in done.stderr


def test_tun_where_it_does_not_open(echo: str) -> None:
    """Asked for by name it is refused with a way round; left to choose, the link uses veth."""
    if not Path("/dev/net/tun").exists():
        pytest.skip("no /dev/net/tun here that could be closed")

    def work() -> dict[str, Any]:
        _libc.mount("/dev/null", "/dev/net/tun", None, _libc.MS_BIND)
        refused = quiclab("exec", "--backend", "tun", "--", "true")
        return {"code": refused.returncode, "errors": refused.stderr, "probe": _probe(echo)}

    told = in_sandbox(work)
    assert told["code"] == 3
    assert "/dev/net/tun" in told["errors"]
    assert "veth" in told["errors"]
    assert told["probe"]["received"] == told["probe"]["sent"]
