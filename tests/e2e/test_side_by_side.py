# SPDX-License-Identifier: Apache-2.0
"""A study whose trials run side by side: every trial is what it would be alone, and nothing is lost."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from by_night import by_night
from small_study import (
    lab_processes,
    main_only,
    quiclab,
    start_quiclab,
    trials,
    wait_for_trials,
    wait_until_gone,
    write_spec,
)

from quiclab.lab.testbed.pressure import pressure
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger

pytestmark = [pytest.mark.e2e, pytest.mark.netns]
_BLOCKS = 4
_PLANNED = 2 * _BLOCKS


def _whole(study: Path) -> None:
    """Every planned trial is verified once, by ledger and folders, and has its tables: the report makes those that a
    judge was ended before."""
    assert quiclab("report", study).returncode == 0
    last = [trial for trial in trials(study) if trial["status"] == "verified"]
    assert len({trial["trial_id"] for trial in last}) == _PLANNED
    with open_ledger(StudyDir(study)) as ledger:
        assert {tries[-1].status for tries in ledger.attempts().values()} == {"verified"}
        assert not ledger.damaged()
    ids = {trial["trial_id"] for trial in last}
    assert {file.stem for file in (study / "tables" / "account_totals").glob("*.parquet")} == ids
    assert not (study / ".work").exists()


def test_trials_share_a_link_process_and_nothing_else(tmp_path: Path) -> None:
    """The first of each arm ran alone; the others are verified by their own packets, and their proof names them."""
    study = tmp_path / "study"
    spec = main_only(write_spec(tmp_path, blocks=_BLOCKS, size="1 MB"))
    done = quiclab("run", spec, "--out", study, "--no-report", "--jobs", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    _whole(study)
    kept = [trial for trial in trials(study) if trial["status"] == "verified"]
    alone = {trial["row"]["arm_name"] for trial in kept if not trial["link"]["shared"]}
    assert alone == {"h2", "h3"}
    assert max(trial["link"]["runs_at_once"] for trial in kept) > 1
    for trial in kept:
        assert trial["proof"]["connections"] == 1
        assert trial["link"]["log"]["complete"]
        assert set(trial["host"]["stalled_ns"]) == set(pressure())
    assert "side by side" in (study / "report.html").read_text()


@pytest.mark.nightly
@pytest.mark.parametrize("victim", ["judge", *by_night("worker", "everything")])
def test_killed_and_continued(tmp_path: Path, victim: str) -> None:
    """A worker that is killed, or its judge, costs its trial; the run goes on with the others. `kill -9` of the run
    leaves nothing behind, and the same command goes on, also one at a time."""
    study, spec = tmp_path / "study", main_only(write_spec(tmp_path, blocks=_BLOCKS, size="300 KB"))
    process = start_quiclab("run", spec, "--out", study, "--no-report", "--jobs", "3")
    wait_for_trials(study, 3)
    if victim != "everything":
        os.kill((_keepers if victim == "worker" else _judges)(process.pid)[0], signal.SIGKILL)
        output, _ = process.communicate(timeout=200)
        assert process.returncode == 0, output
    else:
        process.kill()
        process.communicate(timeout=60)
        before = {trial["trial_id"]: trial["started_utc"] for trial in trials(study)}
        wait_until_gone(study)
        done = quiclab("run", study, "--no-report")
        assert done.returncode == 0, done.stdout + done.stderr
        after = {trial["trial_id"]: trial["started_utc"] for trial in trials(study)}
        assert before.items() <= after.items()
    _whole(study)


@pytest.mark.nightly
def test_interrupted(tmp_path: Path) -> None:
    """Ctrl-C reaches all processes: blocks that run are finished, one sentence, code 130, and no process is left."""
    study = tmp_path / "study"
    process = start_quiclab("run", write_spec(tmp_path, blocks=9), "--out", study, "--no-report", "--jobs", "3")
    wait_for_trials(study, 5)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert output.count("Finishing the blocks") == 1
    assert output.count("finished trials are kept") == 1
    assert "Traceback" not in output
    assert not lab_processes(study)
    blocks = [trial["row"]["block_id"] for trial in trials(study) if trial["status"] == "verified"]
    assert {blocks.count(each) for each in blocks} == {2}
    assert 5 <= len(blocks) < 18


def test_bad_numbers(tmp_path: Path) -> None:
    """Zero, words, and more than anybody has."""
    for number in ("0", "many", "-2", "65", "1.5"):
        done = quiclab("run", write_spec(tmp_path), "--jobs", number)
        assert done.returncode == 2
        assert "neither auto nor a number from 1 to 64" in done.stderr


def _keepers(caller: int) -> list[int]:
    """Processes that keep a worker's chamber: children of the sandbox's first process whose own child is a PID 1."""
    first = _children(_children(caller)[0])[0]
    return [pid for pid in _children(first) if _children(pid) and _inner_pid(_children(pid)[0]) == 1]


def _judges(caller: int) -> list[int]:
    """Processes of the lowest priority below the sandbox's first process."""
    first = _children(_children(caller)[0])[0]
    return [pid for pid in _children(first) if os.getpriority(os.PRIO_PROCESS, pid) == 19]


def _children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _inner_pid(pid: int) -> int:
    """Process id in the innermost namespace."""
    (line,) = (each for each in Path(f"/proc/{pid}/status").read_text().splitlines() if each.startswith("NSpid"))
    return int(line.split()[-1])
