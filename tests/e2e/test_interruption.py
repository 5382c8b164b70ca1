# SPDX-License-Identifier: Apache-2.0
"""Whatever ends a run, finished trials are kept, nothing is left behind, and the same command goes on."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest
from by_night import by_night
from small_study import (
    main_only,
    quiclab,
    start_quiclab,
    trials,
    wait_for_trials,
    wait_until_gone,
    write_spec,
)

from quiclab.plan.make import make_plan
from quiclab.plan.order import as_kept
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.specs import keep_spec, load_study

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


def test_ctrl_c_once_finishes_the_block_that_runs(tmp_path: Path) -> None:
    """It reaches the whole foreground group, programs included; code 130 and a sentence; the same command goes on."""
    study = tmp_path / "study"
    process = start_quiclab("run", write_spec(tmp_path, blocks=9, size="500 KB"), "--out", study)
    wait_for_trials(study, 1)
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert "Finishing the blocks" in output
    assert output.count("finished trials are kept") == 1
    wait_until_gone(study)
    kept = trials(study)
    # An attempt that the machine made void is kept besides: its block ran again, whole.
    blocks = [trial["row"]["block_id"] for trial in kept if trial["status"] == "verified"]
    assert {blocks.count(each) for each in blocks} == {2}, [(trial["status"], trial["reason"]) for trial in kept]
    assert len(set(blocks)) < 9


@pytest.mark.parametrize("number", [signal.SIGINT, *by_night(signal.SIGTERM)])
def test_interrupted_in_mid_trial(tmp_path: Path, number: signal.Signals) -> None:
    """Ctrl-C twice, and SIGTERM, end at once, with code 130 and a sentence; no process is left."""
    study = tmp_path / "study"
    process = start_quiclab("run", write_spec(tmp_path, blocks=4, size="8 MB"), "--out", study)
    wait_for_trials(study, 1)
    time.sleep(1)
    # Ctrl-C reaches the whole foreground group, `kill` one process.
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
        time.sleep(0.1)
        os.killpg(process.pid, number)
    else:
        os.kill(process.pid, number)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert "finished trials are kept" in output
    wait_until_gone(study)
    assert len(trials(study)) == 1


@pytest.mark.nightly
def test_killed_at_any_instant_and_continued(tmp_path: Path) -> None:
    """After `kill -9` at random instants no finished trial is lost, repeated or half counted."""
    study = tmp_path / "study"
    spec = write_spec(tmp_path, blocks=2)
    rng = random.Random(20)
    finished: dict[str, str] = {}
    for _ in range(3):
        process = start_quiclab("run", spec, "--out", study, "--no-report")
        time.sleep(rng.uniform(0.6, 2.2))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
        wait_until_gone(study)
        now = {trial["trial_id"]: trial["started_utc"] for trial in trials(study)}
        assert finished.items() <= now.items(), "a finished trial was lost or repeated"
        finished = now
    done = quiclab("run", spec, "--out", study, "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    last = {trial["trial_id"]: trial["started_utc"] for trial in trials(study)}
    assert finished.items() <= last.items()
    assert len(last) == 2 * 2 + 2 * 2
    assert len(trials(study)) == len(last)


def test_two_runs_on_one_study(tmp_path: Path) -> None:
    """The second run is told that the first holds the directory, and has its own exit code."""
    study = tmp_path / "study"
    spec = write_spec(tmp_path, blocks=20)
    first = start_quiclab("run", spec, "--out", study, "--no-report")
    wait_for_trials(study, 1)
    second = quiclab("run", spec, "--out", study)
    first.kill()
    first.communicate(timeout=60)
    assert second.returncode == 5
    assert "another run" in second.stderr


@pytest.mark.nightly
def test_a_study_that_was_begun_keeps_its_order(tmp_path: Path) -> None:
    """An earlier version planned each block the other way round: it is run as it was planned."""
    spec = main_only(write_spec(tmp_path, blocks=2))
    study, study_dir = load_study(spec), StudyDir(tmp_path / "study")
    planned = make_plan(study)
    study_dir.create()
    keep_spec(study_dir, spec, study)
    with open_ledger(study_dir) as ledger:
        ledger.plan(as_kept(planned, {row.trial_id: len(planned) - row.position for row in planned}))
    done = quiclab("run", study_dir.root, "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    ran = sorted(trials(study_dir.root), key=lambda trial: trial["started_monotonic_ns"])
    arms = [(trial["row"]["block"], trial["row"]["arm"]) for trial in ran if trial["attempt"] == 1]
    blocks = list(dict.fromkeys(row.block for row in planned))
    assert arms == [(row.block, row.arm) for block in blocks for row in planned[::-1] if row.block == block]
