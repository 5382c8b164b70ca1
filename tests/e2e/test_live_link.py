# SPDX-License-Identifier: Apache-2.0
"""`quiclab exec` over a path of a file, and `quiclab link`, which changes its link while it runs."""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path

import pytest
from small_study import QUICLAB, quiclab, start_quiclab

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_ROUND_TRIPS = """
import json, socket, subprocess, sys, time
probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
probe.settimeout(1)
probe.connect((socket.gethostbyname("server"), 7))
def least_ms(count=10):
    found = []
    for _ in range(count):
        probe.send(time.monotonic_ns().to_bytes(8))
        try:
            sent_ns = int.from_bytes(probe.recv(64))
            found.append((time.monotonic_ns() - sent_ns) / 1e6)
        except TimeoutError:
            pass
    return min(found, default=None)
told = [least_ms()]
for words in json.loads(sys.argv[1]):
    done = subprocess.run(words, capture_output=True, text=True)
    told.append([done.returncode, done.stdout, done.stderr, least_ms(3)])
print(json.dumps(told))
"""


def test_a_running_link_is_changed_and_its_log_says_when(echo: str, tmp_path: Path) -> None:
    """The delay is another one from then on, what is wrong changes nothing, and the socket goes with the command."""
    control, log = tmp_path / "control", tmp_path / "log"
    link = [str(QUICLAB), "link", str(control)]
    changes = [[*link, "--delay", "60ms"], [*link, "--delay", "soon"], [*link, "--aqm", "codel"], link]
    options = ("--delay", "10ms", "--control", control, "--log", log, "--server", echo)
    done = quiclab("exec", *options, "--", sys.executable, "-c", _ROUND_TRIPS, json.dumps(changes))
    assert done.returncode == 0, done.stderr
    first, changed, soon, managed, shown = json.loads(done.stdout)
    assert 20 <= first < 120
    assert changed[0] == 0, changed[2]
    assert changed[3] >= 120
    assert "changed at " in changed[1]
    assert "up: delay 60 ms" in changed[1]
    for code, _, told, least_ms in (soon, managed):
        assert code == 2
        assert "it goes on as it was" in told
        assert least_ms >= 120
    assert "delay-" not in soon[2]
    assert shown[1].startswith("running at ")
    (noted,) = json.loads((log / "link.json").read_text())["changes"]
    assert noted["up"] == noted["down"] == {"delay_ns": 60_000_000}
    assert noted["at_ns"] > 10 * 20_000_000
    assert not control.exists()
    assert quiclab("link", control).returncode == 3


def test_a_killed_command_leaves_a_socket_that_the_next_one_takes(tmp_path: Path) -> None:
    """Nobody listens there any more; nothing else is touched."""
    control = tmp_path / "control"
    running = start_quiclab("exec", "--control", control, "--", "sleep", "60")
    deadline = time.monotonic() + 60
    while not control.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert control.exists()
    assert quiclab("exec", "--control", control, "--", "true").returncode == 0
    assert not control.exists()


def test_a_path_of_a_file_has_all_its_links(echo: str, tmp_path: Path) -> None:
    """Two links in a row with their own delays, and a change that the second one's schedule makes."""
    spec = tmp_path / "spec.toml"
    spec.write_text(
        '[[path]]\nname = "two"\n[[path.link]]\nname = "home"\ndelay = "5 ms"\n[[path.link]]\nname = "far"\n'
        'delay = "20 ms"\nschedule = [{at = "100 ms", delay = "60 ms"}]\n'
    )
    options = ("--path", f"{spec}:two", "--log", tmp_path / "log", "--server", echo)
    done = quiclab("exec", *options, "--", sys.executable, "-c", _ROUND_TRIPS, json.dumps([["true"], ["sleep", "0.1"]]))
    assert done.returncode == 0, done.stderr
    first, _, later = json.loads(done.stdout)
    assert 50 <= first < 130
    assert later[3] >= 130
    assert {each.name for each in (tmp_path / "log").iterdir()} >= {"link.qplog", "link-2.qplog"}
    done = quiclab("exec", *options, "--", "true")
    assert done.returncode == 0, done.stderr


_FETCH = """
import sys, urllib.request
print(len(urllib.request.urlopen(sys.argv[1], timeout=5).read()))
"""


@pytest.mark.parametrize("host", ["server", "server6"])
def test_path_mtu_discovery_finds_the_mtu_of_a_link_that_tells_it(tmp_path: Path, host: str) -> None:
    """TCP gets all of a file over two links, of which the second is narrower, by ICMP; without it nothing comes."""
    (tmp_path / "file").write_bytes(bytes(100_000))
    serve = f"cd {tmp_path} && exec {sys.executable} -m http.server --bind :: 80"
    for answer in ("icmp", "black hole"):
        spec = tmp_path / "spec.toml"
        spec.write_text(
            '[[path]]\nname = "p"\n[[path.link]]\nname = "home"\ndelay = "2 ms"\n[[path.link]]\nname = "tunnel"\n'
            f'delay = "2 ms"\noversize = {{above = "1300 B", too_big = "{answer}"}}\n'
        )
        log = tmp_path / f"log-{answer.partition(' ')[0]}"
        fetch = (sys.executable, "-c", _FETCH, f"http://{host}/file")
        done = quiclab("exec", "--path", spec, "--log", log, "--server", serve, "--", *fetch)
        dropped = json.loads((log / "link.json").read_text())["more_links"][0]["down"]["dropped"]
        if answer == "icmp":
            assert done.stdout.endswith("\n100000\n"), done.stderr
            assert dropped["too_big"] > 0
        else:
            assert done.returncode != 0
            assert dropped["oversize"] > 0
