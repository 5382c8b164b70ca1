# SPDX-License-Identifier: Apache-2.0
"""`quiclab trial` with real programs: told step by step, open to a shell, and gone when that is over."""

from __future__ import annotations

import os
import pty
import signal
import sys
import time
from pathlib import Path

import pytest
from by_night import by_night
from small_study import QUICLAB, lab_processes, quiclab, trials, write_spec

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_REACH = (
    "import os, socket; s = socket.create_connection((os.environ['QUICLAB_SERVER'], 443), 10); "
    "print('reached' + str(1 + 1), s.getsockname()[0])"
)


class _Terminal:
    """`quiclab` in a terminal of its own, as a person meets it."""

    def __init__(self, *arguments: str | Path) -> None:
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.environ["SHELL"] = "/bin/sh"
            os.execv(QUICLAB, [str(QUICLAB), *map(str, arguments)])
        os.set_blocking(self._fd, False)
        self._seen = ""

    def expect(self, text: str) -> None:
        deadline = time.monotonic() + 90
        while text not in self._seen:
            assert time.monotonic() < deadline, f"no {text!r} in {self._seen!r}"
            time.sleep(0.05)
            try:
                self._seen += os.read(self._fd, 65536).decode(errors="replace")
            except BlockingIOError:
                continue
            except OSError:
                assert text in self._seen, f"no {text!r} in {self._seen!r}"
        self._seen = self._seen.partition(text)[2]

    def type(self, line: str) -> None:
        os.write(self._fd, line.encode() + b"\n")

    def end(self) -> int:
        """Exit code."""
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self._fd)
        return code


def _wait_until_nothing_is_left(study: Path) -> None:
    deadline = time.monotonic() + 60
    while left := lab_processes(study):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def test_a_trial_is_told_and_kept(tmp_path: Path) -> None:
    """Every step in its order, the verdict, and a folder that is a study of one trial."""
    done = quiclab("trial", write_spec(tmp_path), "--arm", "h3", "--out", tmp_path / "one")
    assert done.returncode == 0, done.stdout + done.stderr
    steps = ["the namespaces are there", "the server (caddy) is started", "is listening", "go:", "the transfer is over"]
    places = [done.stdout.index(step) for step in [*steps, "verdict: verified", f"logs: {tmp_path}/one/trials/"]]
    assert places == sorted(places)
    (trial,) = trials(tmp_path / "one")
    assert (trial["row"]["arm"], trial["row"]["block"]) == ("h3", 0)
    report = quiclab("report", tmp_path / "one")
    assert report.returncode == 0, report.stderr


def test_a_shell_in_the_clients_namespace_reaches_the_server(tmp_path: Path) -> None:
    """The link and the server still run; when the shell ends the trial is judged, and nothing is left."""
    terminal = _Terminal("trial", write_spec(tmp_path), "--keep", "--shell", "--out", tmp_path / "one")
    terminal.expect("in the namespace of the client")
    terminal.type(f'{sys.executable} -c "{_REACH}"')
    terminal.expect("reached2 10.77.0.1")
    terminal.type("exit 3")
    terminal.expect("verdict: verified")
    assert terminal.end() == 0
    _wait_until_nothing_is_left(tmp_path / "one")


def test_a_shell_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    """`kill -9` of the command while its shell is open in the server's namespace ends shell, server and link."""
    out = tmp_path / "one"
    terminal = _Terminal("trial", write_spec(tmp_path), "--shell", "--at", "server", "--out", out)
    terminal.expect("in the namespace of the server")
    terminal.type(f"sh -c 'sleep 86400; : {out}'")
    deadline = time.monotonic() + 60
    while not (sleeping := [line for line in lab_processes(out) if line.startswith("sh -c")]):
        assert time.monotonic() < deadline, lab_processes(out)
        time.sleep(0.05)
    assert len(lab_processes(out)) > len(sleeping), "the server runs"
    os.kill(terminal.pid, signal.SIGKILL)
    assert terminal.end() == -signal.SIGKILL
    _wait_until_nothing_is_left(out)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--cell", "objekt/plain"], "did you mean object/plain?"),
        (["--arm", "h4"], "the cell object/plain has no arm 'h4'"),
        *by_night(
            (["--block", "7"], "its blocks are 0 to 0"),
            (["--shell"], "--shell needs a terminal"),
            (["--at", "node-1", "--shell"], "places: client, server"),
            (["--at", "server"], "add --shell"),
        ),
    ],
)
def test_bad_input(options: list[str], words: str, tmp_path: Path) -> None:
    """Said before anything starts, with what there is instead."""
    done = quiclab("trial", write_spec(tmp_path), *options, "--out", tmp_path / "one", timeout=60)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "one").exists()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    """One sentence that names it."""
    (tmp_path / "file").write_text("")
    done = quiclab("trial", write_spec(tmp_path), "--out", tmp_path / "file")
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
