# SPDX-License-Identifier: Apache-2.0
"""A slow processor: by quota, where the machine gives us one, and by competition, which it always does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from live_link import in_sandbox

from quiclab.lab.testbed.cpu_competitor import CpuCompetitor
from quiclab.lab.testbed.cpu_limit import CpuQuota, cpu_quota_problem, own_cgroup, remove_leftover_cgroups
from quiclab.model.errors import HostError
from quiclab.model.units import Duration, Share

pytestmark = [pytest.mark.netns, pytest.mark.alone]

_BUSY = (
    "import time\nend = time.monotonic() + 1.5\nwhile time.monotonic() < end: pass\nprint(time.process_time() / 1.5)"
)


@pytest.fixture(scope="module")
def quota() -> None:
    """Where there can be none, the reason is a sentence, and asking anyway is an error with that reason."""
    problem = in_sandbox(cpu_quota_problem)
    if problem is None:
        return

    def ask() -> str:
        with pytest.raises(HostError) as raised, CpuQuota(Share(0.5), Duration.parse("20 ms")):
            pass
        return raised.value.message

    assert in_sandbox(ask) in problem
    pytest.skip(problem)


@pytest.mark.usefixtures("quota")
@pytest.mark.parametrize(("share", "rtt", "stop_and_go"), [(0.25, "1 ms", True), (0.25, "2 s", False)])
def test_a_quota_holds_and_its_stalls_are_told(share: float, rtt: str, stop_and_go: bool) -> None:
    """A busy program gets no more than its share; each stall is longer than what is left of the period at best."""

    def work() -> dict[str, Any]:
        with CpuQuota(Share(share), Duration.parse(rtt)) as limit:
            process = subprocess.Popen([sys.executable, "-S", "-c", _BUSY], stdout=subprocess.PIPE, text=True)
            limit.admit(process.pid)
            told, _ = process.communicate()
            stalls = limit.stalls()
        return {"used": float(told), "left": [str(path) for path in remove_leftover_cgroups()]} | asdict(stalls)

    told = in_sandbox(work)
    # The kernel takes notice at its ticks: a share may be overdrawn by what fits in one, and is repaid.
    assert 0 < told["used"] < 1.3 * share
    assert (told["period_ns"], told["quota_ns"]) == (4_000_000, 1_000_000)
    assert told["stalled_periods"] <= told["periods"]
    assert told["stalled_ns"] > 0
    assert told["stop_and_go"] is stop_and_go
    assert told["left"] == []


@pytest.mark.usefixtures("quota")
def test_stalls_may_be_asked_for_while_they_are_looked_at() -> None:
    """The thread that looks and the caller read the counts at the same time."""

    def work() -> int:
        with CpuQuota(Share(0.5), Duration.parse("1 ms")) as limit:
            end = time.monotonic() + 1
            asked = 0
            while time.monotonic() < end:
                asked += limit.stalls().periods >= 0
        return asked

    assert in_sandbox(work) > 1


@pytest.mark.usefixtures("quota")
def test_what_a_killed_run_left_is_found_and_what_is_used_is_left_alone() -> None:
    """After kill -9 of everything the group is removed by the next who looks; that of a living run stays."""
    own = own_cgroup()
    assert own is not None

    def groups() -> set[Path]:
        return set(own.path.glob("quiclab-cpu-*"))

    before = groups()
    script = (
        "import os, subprocess\nfrom quiclab.lab.testbed.cpu_limit import CpuQuota\nfrom quiclab.model.units import *\n"
        "from quiclab.lab.testbed.sandbox import run_in_sandbox\n"
        "def work():\n"
        "    with CpuQuota(Share(0.5), Duration.parse('20 ms')) as limit:\n"
        "        process = subprocess.Popen(['sleep', '60'])\n"
        "        limit.admit(process.pid)\n"
        "        print('ready', flush=True)\n"
        "        process.wait()\n"
        "    return 0\n"
        "run_in_sandbox(work)"
    )
    run = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    assert run.stdout.readline() == "ready\n"
    (made,) = groups() - before
    assert made not in remove_leftover_cgroups()
    assert made.exists()
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    deadline = time.monotonic() + 60
    while made not in remove_leftover_cgroups():
        assert time.monotonic() < deadline, "the kernel has not cleared the sandbox up"
        time.sleep(0.01)
    assert not made.exists()


def test_competitors_leave_less_of_the_core() -> None:
    """The fewer competitors, the more is left; all are gone afterwards, and none touches another core."""
    core = max(os.sched_getaffinity(0))

    def work() -> dict[str, Any]:
        shares = {}
        for share in (0.5, 0.2):
            with CpuCompetitor(core, Share(share)) as competitor:
                shares[str(share)] = competitor.calibrate().share
        left = [entry for entry in Path("/proc").iterdir() if entry.name.isdigit() and entry.name != "1"]
        return {"shares": shares, "left": len(left)}

    told = in_sandbox(work)
    assert 0 < told["shares"]["0.2"] < told["shares"]["0.5"] < 0.75
    assert told["left"] == 0


@pytest.mark.parametrize(("core", "share"), [(0, 0.01), (0, 1.0), (4096, 0.5)])
def test_what_no_competitor_can_leave_is_an_error(core: int, share: float) -> None:
    """With what can be asked for."""
    with pytest.raises(HostError) as raised:
        CpuCompetitor(core, Share(share))
    assert raised.value.hint
