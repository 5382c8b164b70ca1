# SPDX-License-Identifier: Apache-2.0
"""What is done to a trial from outside is not told as its endpoints' fault: the trial is void, and run again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from by_night import by_night
from small_study import lab_processes, main_only, start_quiclab, trials, write_spec

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


def _family(pid: int) -> list[int]:
    found = [pid]
    for each in found:
        try:
            found += map(int, Path(f"/proc/{each}/task/{each}/children").read_text().split())
        except OSError:
            continue
    return found


def _victim(run: subprocess.Popen[str], program: str) -> int:
    """The measured program in mid-transfer: once the client's namespace has carried a third of the object."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        lines = {pid: line for pid in _family(run.pid) if "warm-up" not in (line := _command_line(pid))}
        if any("_curl_cffi_program.py" in line and _carried(pid) > 1_000_000 for pid, line in lines.items()):
            return next(pid for pid, line in lines.items() if program in line)
        time.sleep(0.01)
    raise AssertionError(f"no {program} was seen")


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _carried(pid: int) -> int:
    """Bytes that came to the interfaces of a process's network namespace, its loopback left out."""
    try:
        lines = Path(f"/proc/{pid}/net/dev").read_text().splitlines()[2:]
    except OSError:
        return 0
    return sum(int(line.partition(":")[2].split()[0]) for line in lines if line.split(":")[0].strip() != "lo")


def _run(tmp_path: Path) -> tuple[Path, subprocess.Popen[str]]:
    """Trials that take a second each."""
    study = tmp_path / "study"
    return study, start_quiclab("run", main_only(write_spec(tmp_path, size="3 MB")), "--out", study, "--no-report")


def _verdicts(study: Path, run: subprocess.Popen[str]) -> list[tuple[str, str]]:
    """Of all attempts, once the run has ended as if nothing had been."""
    output, _ = run.communicate(timeout=120)
    assert run.returncode == 0, output
    assert not lab_processes(study)
    return [(trial["status"], trial["reason"]) for trial in trials(study)]


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("quiclab-link", "the link's process was ended by signal 9 before its time"),
        *by_night(("caddy run", "the server (caddy) was killed from outside (SIGKILL)")),
        *by_night(("_curl_cffi_program.py", "the client (curl-cffi) was killed from outside (SIGKILL)")),
    ],
)
def test_killed_in_mid_transfer(tmp_path: Path, program: str, told: str) -> None:
    """The block is run again at once, and the study ends well."""
    study, run = _run(tmp_path)
    os.kill(_victim(run, program), signal.SIGKILL)
    found = _verdicts(study, run)
    assert ("void", told) in found
    assert {status for status, _ in found} == {"verified", "void"}


@pytest.mark.parametrize("program", ["caddy run", *by_night("_curl_cffi_program.py")])
def test_stopped_in_mid_transfer(tmp_path: Path, program: str) -> None:
    """A trial in which an end stood still is not one that took longer."""
    study, run = _run(tmp_path)
    pid = _victim(run, program)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(0.3)
    os.kill(pid, signal.SIGCONT)
    found = _verdicts(study, run)
    assert any(status == "void" and "was stopped from outside for" in reason for status, reason in found)
    assert {status for status, _ in found} == {"verified", "void"}
