# SPDX-License-Identifier: Apache-2.0
"""What a program costs, beside what GNU time and the program itself say of the same run."""

from __future__ import annotations

import json
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from live_link import in_sandbox

from quiclab.lab.testbed.process_cost import ProcessCosts, reap
from quiclab.lab.testbed.syscall_count import counting, syscall_count_problem, syscall_counts

pytestmark = pytest.mark.alone

_TREE = """
import os, subprocess, sys, threading, time

def wait_often():
    for _ in range(200):
        time.sleep(0.001)

threads = [threading.Thread(target=wait_often) for _ in range(4)]
for thread in threads:
    thread.start()
child = "x = bytearray(90 << 20)\\nfor _ in range(8_000_000): pass"
subprocess.run([sys.executable, "-S", "-c", child], check=True)
for thread in threads:
    thread.join()
ends = time.process_time() + 0.4
while time.process_time() < ends:
    os.stat("/")
"""


def _gnu_time(report: str) -> dict[str, float]:
    return {name.strip(): float(value) for name, value in re.findall(r"\t(.+?): ([\d.]+)\n", report)}


@pytest.mark.skipif(shutil.which("time") is None, reason="GNU time is not installed")
def test_a_whole_life_agrees_with_gnu_time(tmp_path: Path) -> None:
    """CPU, faults, switches and memory of a program with threads and a child, to 5 % of `/usr/bin/time -v`."""
    report = tmp_path / "time"
    argv = ["time", "-v", "-o", str(report), sys.executable, "-c", _TREE]
    with ProcessCosts(tmp_path / "course.jsonl") as costs:
        process = subprocess.Popen(argv, start_new_session=True)
        costs.watch("client", process.pid)
        costs.ended("client", reap(process))
    assert process.returncode == 0
    told, found = _gnu_time(report.read_text()), costs.summary()["client"]
    life = found["life"]
    assert life["cpu_ns"] == life["user_ns"] + life["system_ns"]
    # GNU time cuts its seconds off at hundredths.
    for own, its in (("user_ns", "User time (seconds)"), ("system_ns", "System time (seconds)")):
        assert life[own] / 1e9 == pytest.approx(told[its], rel=0.05, abs=0.02)
    assert life["minor_faults"] == pytest.approx(told["Minor (reclaiming a frame) page faults"], rel=0.05)
    assert life["voluntary_switches"] == pytest.approx(told["Voluntary context switches"], rel=0.05, abs=5)
    assert life["involuntary_switches"] == pytest.approx(told["Involuntary context switches"], rel=0.05, abs=5)
    peak = told["Maximum resident set size (kbytes)"] * 1024
    assert found["largest_process_bytes"] == pytest.approx(peak, rel=0.05)
    assert found["peak_memory_bytes"] >= found["largest_process_bytes"]
    assert found["most_processes"] == 3
    assert found["most_threads"] >= 6
    course = [json.loads(line) for line in (tmp_path / "course.jsonl").read_text().splitlines()]
    # A look is not one instant: a child that ends meanwhile is missing from that line, so the course may dip.
    assert 0 < max(each["cpu_ns"] for each in course) <= life["cpu_ns"] * 1.05


def test_the_transfer_is_told_apart_from_the_rest(tmp_path: Path) -> None:
    """What a program used before the beginning and after the end is not the transfer's; nor is another program's."""
    busy = "import sys, time\nfor line in sys.stdin:\n end = time.process_time() + float(line)\n"
    busy += " while time.process_time() < end: pass\n print(time.process_time_ns(), flush=True)"
    used: list[int] = []

    def spin(process: subprocess.Popen[bytes], seconds: float) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{seconds}\n".encode())
        process.stdin.flush()
        used.append(int(process.stdout.readline()))

    argv = [sys.executable, "-c", busy]
    server = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    with ProcessCosts() as costs:
        costs.watch("server", server.pid)
        spin(server, 0.3)
        costs.begin()
        spin(server, 0.5)
        costs.end()
        spin(server, 0.3)
        server.communicate()
        idle = subprocess.Popen(["sleep", "0"], start_new_session=True)
        costs.watch("client", idle.pid)
        costs.ended("client", reap(idle))
    found = costs.summary()
    transfer = found["server"]["transfer"]
    assert transfer["cpu_ns"] == pytest.approx(used[1] - used[0], rel=0.05)
    assert transfer["user_ns"] + transfer["system_ns"] == pytest.approx(transfer["cpu_ns"], abs=40_000_000)
    assert found["client"]["life"]["cpu_ns"] < 0.2 * transfer["cpu_ns"]
    assert found["client"]["transfer"] == found["client"]["life"]


@pytest.mark.netns
def test_children_that_were_left_behind_are_counted() -> None:
    """A child that outlives its parent, as a daemon does, is still of the parent's session."""
    daemon = "for _ in range(8_000_000): pass\nimport time\ntime.sleep(20)"
    parent = f"import subprocess, sys; subprocess.Popen([sys.executable, '-S', '-c', {daemon!r}])"

    def work() -> dict[str, Any]:
        with ProcessCosts() as costs:
            process = subprocess.Popen([sys.executable, "-S", "-c", parent], start_new_session=True)
            costs.watch("server", process.pid)
            usage = reap(process)
            time.sleep(2)
            costs.ended("server", usage)
            alone = round((usage.ru_utime + usage.ru_stime) * 1e9)
        return {"alone": alone, "life": costs.summary()["server"]["life"]}

    told = in_sandbox(work)
    assert told["life"]["cpu_ns"] > told["alone"] + 50_000_000


@pytest.mark.netns
def test_what_nobody_waited_for_is_counted_too() -> None:
    """A client that ends with its transfer, as a browser does: most of its work was that of a process whose end nobody
    waited for, and that had waited often before the transfer began."""
    wait = "import time\nfor _ in range({}): time.sleep(0.001)\n"
    worker = wait.format(300) + "print('began', flush=True)\n" + wait.format(200)
    worker += "end = time.process_time() + 0.5\nwhile time.process_time() < end: pass\ntime.sleep(0.5)"
    parent = f"import os, subprocess, sys; subprocess.Popen([sys.executable, '-S', '-c', {worker!r}]); os.close(1); "
    parent += "sys.stdin.read()"

    def work() -> dict[str, Any]:
        argv = [sys.executable, "-S", "-c", parent]
        with (
            ProcessCosts() as costs,
            subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as process,
        ):
            assert process.stdin is not None
            assert process.stdout is not None
            costs.watch("client", process.pid)
            assert process.stdout.readline() == b"began\n"
            costs.begin()
            process.stdout.read()  # until the worker has ended
            process.stdin.close()
            usage = reap(process)
            costs.end()
            costs.ended("client", usage)
        return costs.summary()["client"]["transfer"]

    told = in_sandbox(work)
    assert told["cpu_ns"] > 400_000_000
    assert 150 <= told["voluntary_switches"] <= 300


def test_our_own_size_is_nobodys_memory() -> None:
    """A program begins in its starter's memory, which ru_maxrss remembers: a small one must not look as large as us."""
    ballast = bytearray(300 << 20)
    for _ in range(2):
        with ProcessCosts() as costs:
            process = subprocess.Popen(["sleep", "0.3"], start_new_session=True)
            costs.watch("client", process.pid)
            costs.ended("client", reap(process))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > len(ballast)
    found = costs.summary()["client"]
    assert found["largest_process_source"] == "VmHWM"
    assert found["peak_memory_bytes"] < 20 << 20


def test_system_calls_are_counted(tmp_path: Path) -> None:
    """Threads and children too; a program that is told to end still leaves its counts."""
    if (problem := syscall_count_problem()) is not None:
        pytest.skip(problem)
    script = "import os, threading\nfor _ in range(2):\n t = threading.Thread(target=lambda: [os.getppid() for _ in "
    script += "range(500)]); t.start(); t.join()\nif os.fork() == 0:\n [os.getppid() for _ in range(250)]; os._exit(0)"
    script += "\nos.wait(); print('done', flush=True)\nimport time; time.sleep(60)"
    argv = counting((sys.executable, "-c", script), tmp_path / "calls")
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == b"done\n"
    subprocess.run(["kill", "--", f"-{process.pid}"], check=True)
    process.communicate()
    counts = syscall_counts(tmp_path / "calls")
    assert counts["getppid"] == 1250
    assert counts["execve"] == 1
    assert "total" not in counts
    assert syscall_counts(tmp_path / "missing") == {}


def test_a_program_by_its_name_is_counted_without_a_path(tmp_path: Path) -> None:
    """A trial's programs have an environment of their own."""
    if (problem := syscall_count_problem()) is not None:
        pytest.skip(problem)
    subprocess.run(counting(("true",), tmp_path / "calls"), env={}, check=True)
    assert syscall_counts(tmp_path / "calls")["execve"] == 1
