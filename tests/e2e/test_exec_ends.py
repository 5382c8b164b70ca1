# SPDX-License-Identifier: Apache-2.0
"""How `quiclab exec` ends: by its client's exit code, by signals, in a terminal; and that nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_study import QUICLAB, quiclab, start_quiclab

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


@pytest.mark.parametrize(("script", "code"), [("true", 0), ("exit 7", 7), ("kill -9 $$", 137)])
def test_the_exit_code_is_the_clients(script: str, code: int) -> None:
    """Of a lone COMMAND as of `--client`; 128 + signal when a signal ended it."""
    assert quiclab("exec", "--", "sh", "-c", script).returncode == code
    assert quiclab("exec", "--client", script).returncode == code


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
