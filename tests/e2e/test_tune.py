# SPDX-License-Identifier: Apache-2.0
"""`quiclab tune` with real programs: a planted bad setting is found, its gain is measured in fresh blocks, and what it
leaves behind are studies."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from small_study import QUICLAB, quiclab
from stack_study import need

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_SPEC = """\
[study]
name = "planted"
seed = 3
blocks = 4
aa = {blocks = 0}

# A loaded machine must not void what is tested here.
[limits]
disturbance = "100 %"

[[workload]]
name = "object"
size = "100 KB"

[[path]]
name = "far"
rate = "20 Mbit/s"
rtt = "160 ms"

[[arm]]
name = "h3"
protocol = "h3"
client = "quinn"
server = {name = "quinn", initial_window = 2}
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of one arm, whose initial window is much too small for its path."""
    need(("client", "quinn"), ("server", "quinn"))
    folder = tmp_path_factory.mktemp("tune")
    (folder / "spec.toml").write_text(_SPEC)
    assert quiclab("run", folder / "spec.toml", "--out", folder / "study", "--no-report").returncode == 0
    return folder / "study"


def test_a_plan_runs_nothing(study: Path) -> None:
    """The plan names the settings; too few minutes are one sentence with the number needed."""
    planned = quiclab("tune", study, "object/far", "--dry-run", "--json")
    assert planned.returncode == 0, planned.stderr
    document = json.loads(planned.stdout)
    assert "server.initial_window = 32" in document["candidates"]
    assert document["result"] is None
    assert not (study / "tune").exists()
    few = quiclab("tune", study, "object/far", "--minutes", "0.2")
    assert few.returncode == 2
    assert "minutes are too few" in few.stderr
    assert "give --minutes" in few.stderr


def _until_ended(study: Path, trials: int, end: signal.Signals) -> tuple[int, str]:
    """Run a search until a round has so many trials, and end it by a signal. Returns its exit code and what it said."""
    asked = (QUICLAB, "tune", study, "object/far", "--knob", "initial_window", "--minutes", "9")
    with subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as search:
        deadline = time.monotonic() + 120
        while len(_raced(study)) < trials and search.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        search.send_signal(end)
        told, _ = search.communicate(timeout=60)
    return search.returncode, told


def _raced(study: Path) -> dict[str, int]:
    """Trial of the first round → time at which its record was written, in ns."""
    found = study.glob("tune/object-far-h3-1/heat-1-round-1/trials/*/trial.json")
    return {each.parent.name: each.stat().st_mtime_ns for each in found}


def test_a_search_that_was_ended_goes_on(study: Path) -> None:
    """Trials that have run are taken up by the same command, after Ctrl-C and a kill; another question begins anew."""
    code, told = _until_ended(study, 1, signal.SIGINT)
    assert code == 130, told
    (command,) = re.findall(r"To go on with what was measured: .*quiclab (tune .*)", told)
    assert command.endswith("object/far --minutes 9 --knob initial_window")
    before = _raced(study)
    code, told = _until_ended(study, len(before) + 1, signal.SIGKILL)
    assert code == -signal.SIGKILL, told
    assert re.search(r"^Goes on with .*tune/object-far-h3-1, of whose 9 min \d+ s are used up", told), told
    after = _raced(study)
    assert len(after) > len(before)
    assert before.items() <= after.items()
    other = quiclab("tune", study, "object/far", "--knob", "initial_window", "--minutes", "8", "--dry-run")
    assert "a new search begins: tune/object-far-h3-1: it differs in minutes" in other.stdout, other.stdout
    assert list((study / "tune").iterdir()) == [study / "tune" / "object-far-h3-1"]


@pytest.mark.nightly  # 3 min
def test_a_planted_setting_is_found(study: Path) -> None:
    """Two round trips of slow start less are what a window of 32 packets saves; that is said of fresh pairs alone."""
    asked = ("tune", study, "object/far", "--json", "--knob", "initial_window", "--knob", "gso")
    refused = quiclab(*asked, "--minutes", "0.2")
    needed = re.search(r"give --minutes (\d+)", refused.stderr)
    assert needed is not None, refused.stderr
    found = quiclab(*asked, "--minutes", needed[1], timeout=60 * (int(needed[1]) + 3))
    assert found.returncode == 0, found.stderr
    result = json.loads(found.stdout)["result"]
    assert "server.initial_window" in result["setting"]
    assert result["found"]["verdict"] == "faster"
    assert result["found"]["pairs"] >= 6
    assert result["found"]["difference_pct"] < -25
    assert "initial_window" in result["arm_table"]
    assert [each["is_ours"] for each in result["program_lines"]] == [True]

    # What it leaves is a study, with another seed than those that chose.
    fresh = Path(result["fresh_directory"])
    seeds = {
        json.loads((each / "resolved.json").read_text())["seed"] for each in fresh.parent.iterdir() if each.is_dir()
    }
    assert len(seeds) == sum(each.is_dir() for each in fresh.parent.iterdir())
    assert quiclab("status", fresh).returncode == 0
    assert quiclab("verify", fresh).returncode == 0
    again = quiclab("report", fresh, "--json")
    assert again.returncode == 0, again.stderr
    (comparison,) = json.loads(again.stdout)["analysis"]["comparisons"]
    assert comparison["difference_pct"] == pytest.approx(result["found"]["difference_pct"])
