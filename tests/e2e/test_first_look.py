# SPDX-License-Identifier: Apache-2.0
"""`quiclab run --blocks N --cell C`: a first look at a study, which says that it is one and which a later run goes on
from; what --json and -q print of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_study import quiclab, trials, write_spec

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

CELL = "object/plain"


def document_of(study: Path, *words: str | Path) -> dict[str, Any]:
    """What a run prints with --json, and nothing else there."""
    done = quiclab("run", *words, "--out", study, "--json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_a_first_look_is_a_part_of_the_study(tmp_path: Path) -> None:
    """Trials of the look stay as they are, the report says what is missing until nothing is."""
    study, spec = tmp_path / "study", write_spec(tmp_path, blocks=3)
    look = quiclab("run", spec, "--out", study, "--blocks", "1", "--cell", CELL)
    assert look.returncode == 0, look.stderr
    assert "This was a part of the plan: 8 of 10 trials are left." in look.stdout
    told = " ".join(look.stdout.split())
    assert "Not finished: 1 of 3 planned blocks have run." in told
    assert "noise floor is unknown" in told
    assert "Not finished" in (study / "report.html").read_text()
    first = {trial["trial_id"]: trial["started_utc"] for trial in trials(study)}
    assert {(trial["row"]["cell_id"], trial["row"]["block"]) for trial in trials(study)} == {(CELL, 0)}

    more = document_of(study, spec, "--blocks", "2")
    assert more["trials"] == {
        "planned": 10, "verified": 8, "failed": 0, "unproven": 0, "void": 0, "damaged": 0, "not_run": 2,
    }  # fmt: skip
    assert any(note.startswith("Not finished: 2 of 3") for note in more["result"]["analysis"]["notes"])

    whole = document_of(study, study)
    assert (whole["trials"]["verified"], whole["trials"]["not_run"], whole["exit_code"]) == (10, 0, 0)
    (comparison,) = whole["result"]["analysis"]["comparisons"]
    assert comparison["pairs"] == 3
    assert whole["result"]["analysis"]["controls"]
    assert not any("Not finished" in note for note in whole["result"]["analysis"]["notes"])
    last = {trial["trial_id"]: trial["started_utc"] for trial in trials(study)}
    assert first.items() <= last.items()
    assert len(trials(study)) == 10


@pytest.mark.nightly
def test_quiet(tmp_path: Path) -> None:
    """Nothing is printed where nothing went wrong; what went wrong is, on standard error."""
    study, spec = tmp_path / "study", write_spec(tmp_path, trial_limit="20 s")
    done = quiclab("run", spec, "--out", study, "--cell", CELL, "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    report = quiclab("report", study, "-q")
    assert (report.returncode, report.stdout, report.stderr) == (0, "", "")
    wrong = quiclab("run", spec, "--out", study, "--cell", "object/plan", "-q")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean object/plain?" in wrong.stderr
    failing = write_spec(tmp_path, trial_limit="2 s", size="30 MB")
    failed = quiclab("run", failing, "--out", tmp_path / "slow", "--cell", CELL, "-q", "--no-report")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "2 trials failed" in failed.stderr


def test_a_part_and_a_goal_exclude_each_other(tmp_path: Path) -> None:
    """--until decides itself which blocks run."""
    done = quiclab("run", write_spec(tmp_path), "--out", tmp_path / "s", "--until", "5%", "--blocks", "1")
    assert done.returncode == 2
    assert "leave out --blocks, --cell and --shard" in done.stderr
