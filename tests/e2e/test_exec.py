# SPDX-License-Identifier: Apache-2.0
"""`quiclab exec` with real packets: the link is there, its log tells all of them, and nothing else changes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from by_night import by_night
from live_link import in_sandbox
from small_study import QUICLAB, quiclab, start_quiclab

from quiclab.decoders import Context
from quiclab.decoders.packet_log import PacketLog
from quiclab.testbed import _libc
from quiclab.testbed.backend import tun_problem

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_ECHO = """
import socket
echo = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
echo.bind(("::", 7))
while True:
    data, sender = echo.recvfrom(2048)
    echo.sendto(data, sender)
"""

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


@pytest.fixture
def echo(tmp_path: Path) -> str:
    """Shell command of a server that sends every datagram back."""
    script = tmp_path / "echo.py"
    script.write_text(_ECHO)
    return f"{sys.executable} {script}"


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
    ("backend", "host"), [("tun", "server"), ("veth", "server6"), *by_night(("tun", "server6"), ("veth", "server"))]
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
    assert books["up"]["dropped"]["loss"] + books["down"]["dropped"]["loss"] == dropped.height
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
    told = re.search(r"the client's command waited (\d+) ms for a processor", done.stderr)
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


@pytest.mark.parametrize(("script", "code"), [("true", 0), ("exit 7", 7), ("kill -9 $$", 137)])
def test_the_exit_code_is_the_clients(script: str, code: int) -> None:
    """Of a lone COMMAND as of `--client`; 128 + signal when a signal ended it."""
    assert quiclab("exec", "--", "sh", "-c", script).returncode == code
    assert quiclab("exec", "--client", script).returncode == code


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


def _commands(mark: str) -> list[str]:
    """Processes of this machine whose command line has the mark."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if mark in line:
            found.append(line)
    return found


def _wait_for(count: int, mark: str) -> None:
    deadline = time.monotonic() + 60
    while len(_commands(mark)) != count:
        assert time.monotonic() < deadline, _commands(mark)
        time.sleep(0.02)


def _start_two_ends(echo: str, mark: str) -> subprocess.Popen[str]:
    """`exec` (three processes) with an echo server and a client that sleeps: each command line has the mark."""
    process = start_quiclab("exec", "--server", f"exec {echo} {mark}", "--client", f"exec sleep {mark}")
    _wait_for(3 + 2, mark)
    return process


@pytest.mark.parametrize("victim", ["caller", "keeper", "first"])
def test_killed_anywhere_nothing_is_left(victim: str, echo: str) -> None:
    """`kill -9` of any of its processes ends both commands and the link."""
    mark = f"86400.{os.getpid()}{len(victim)}"
    process = _start_two_ends(echo, mark)
    family = [process.pid]
    for _ in range(2):
        family.append(int(Path(f"/proc/{family[-1]}/task/{family[-1]}/children").read_text().split()[0]))
    os.kill(family[["caller", "keeper", "first"].index(victim)], signal.SIGKILL)
    process.communicate(timeout=60)
    _wait_for(0, mark)


def test_sigterm_ends_everything(echo: str) -> None:
    """Code 130, and no command is left."""
    mark = f"86400.{os.getpid()}9"
    process = _start_two_ends(echo, mark)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 130
    _wait_for(0, mark)


def test_ctrl_c_is_the_clients_affair(echo: str, tmp_path: Path) -> None:
    """The client may go on after Ctrl-C, the server and the link with it, and its exit code counts."""
    script = tmp_path / "stubborn.py"
    # A signal that comes just before a sleep begins does not shorten it: many short ones.
    script.write_text(
        "import socket, sys, time\n"
        "try:\n    print('ready', flush=True)\n    for _ in range(600):\n        time.sleep(0.1)\n"
        "except KeyboardInterrupt:\n"
        "    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n    probe.settimeout(10)\n"
        "    probe.sendto(b'still there', ('server', 7))\n    print(probe.recv(100).decode())\n    sys.exit(8)\n"
    )
    process = start_quiclab("exec", "--server", echo, "--", sys.executable, str(script))
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 8, output
    assert output.startswith("still there\n")


_CALLER = """
import os, subprocess, sys, termios
before = termios.tcgetattr(0)
code = subprocess.call(sys.argv[1:])
print("code", code, "modes", termios.tcgetattr(0) == before, "group", os.tcgetpgrp(0) == os.getpgrp(), flush=True)
"""


def test_an_interactive_shell() -> None:
    """In a terminal: job control and Ctrl-C work inside, and the caller gets its terminal back as it was."""
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", _CALLER, str(QUICLAB), "exec", "--", "bash", "--norc"])
    seen = ""

    def expect(text: str, poke: bytes = b"") -> None:
        """Read until `text` was seen; `poke` is typed again and again meanwhile."""
        nonlocal seen
        deadline = time.monotonic() + 60
        os.set_blocking(terminal, False)
        while text not in seen:
            assert time.monotonic() < deadline, f"no {text!r} in {seen!r}"
            if poke:
                os.write(terminal, poke)
            time.sleep(0.05)
            try:
                seen += os.read(terminal, 65536).decode(errors="replace")
            except BlockingIOError:
                continue
            except OSError:
                assert text in seen, f"no {text!r} in {seen!r}"
        seen = seen.partition(text)[2]

    # Sums tell what bash wrote from what the terminal echoed.
    os.write(terminal, b"echo here$((1 + 1))\n")
    expect("here2")
    os.write(terminal, b"echo wait$((2 + 1)); sleep 1000\n")
    expect("wait3")
    os.write(terminal, b"\x03")
    os.write(terminal, b"echo still$((2 + 2))\n")
    expect("still4")
    os.write(terminal, b"echo stop$((2 + 3)); sleep 1000\n")
    expect("stop5")
    expect("Stopped", poke=b"\x1a")
    os.write(terminal, b"kill %1; stty -echo -icanon; exit 9\n")
    expect("code 9 modes True group True")
    os.waitpid(pid, 0)
    os.close(terminal)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--", "no-such-command"], 127, "there is no command no-such-command"),
        (["--", "/etc/passwd"], 126, "/etc/passwd is not an executable file"),
        (["--server", "exit 3", "--", "true"], 3, "the server ended at start with exit code 3"),
        (["--tcp", "fastest", "--", "true"], 3, "--tcp fastest: this kernel offers"),
        (["--log", "/etc/passwd", "--", "true"], 3, "cannot write /etc/passwd"),
        ([], 2, "COMMAND: there is none"),
        *by_night(
            (["--server", "no-such-server", "--", "true"], 3, "the server ended at start with exit code 127"),
            (["--"], 2, "COMMAND: there is none"),
            (["--client", "true", "--", "true"], 2, "give one of them"),
            (["--internet", "--server", "x", "--", "true"], 2, "--internet: "),
            (["--backend", "netem", "--", "true"], 2, "invalid choice: 'netem'"),
            (["--lag", "50ms", "--", "true"], 2, "unrecognized arguments: --lag"),
        ),
    ],
)
def test_bad_input(options: list[str], code: int, words: str) -> None:
    """A sentence that says what is wrong, and the documented exit code."""
    done = quiclab("exec", *options)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == code


def test_a_usual_command_that_is_not_here_comes_with_its_package(tmp_path: Path) -> None:
    """A machine without ping is told how it gets one; nothing is known of other names."""
    for command, hint in (("ping", "apt-get install -y iputils-ping"), ("no-such-command", None)):
        done = quiclab("exec", "--", command, before=("env", f"PATH={tmp_path}"))
        assert done.returncode == 127
        assert f"there is no command {command}" in done.stderr
        assert hint is None or hint in done.stderr
        assert (hint is not None) == ("hint: " in done.stderr)


def test_every_wrong_option_at_once() -> None:
    """One round is enough to mend a command line."""
    link = ("--rate=-3mbit", "--up-loss", "120%", "--mtu", "big", "--seed=-1")
    done = quiclab("exec", *link, "--client", "a", "--", "b")
    assert done.returncode == 2
    for option in ("--rate", "--up-loss", "--mtu", "--seed", "--client"):
        assert f"  {option}: " in done.stderr


def test_log_into_a_read_only_place(tmp_path: Path) -> None:
    """Said before anything starts."""

    def work() -> list[Any]:
        _libc.mount("tmpfs", str(tmp_path), "tmpfs", _libc.MS_RDONLY)
        done = [quiclab("exec", "--log", folder, "--", "echo", "ran") for folder in (tmp_path, tmp_path / "new")]
        return [[each.returncode, each.stdout, each.stderr] for each in done]

    for code, output, errors in in_sandbox(work):
        assert (code, output) == (3, "")
        assert f"cannot write {tmp_path}" in errors
        assert "Read-only" in errors


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
