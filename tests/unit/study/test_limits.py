# SPDX-License-Identifier: Apache-2.0
"""Limits that change between two runs of a study."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from specs import SMALL, changed, written
from unit.study.rows import OTHER, ROW, attempt_at

from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.limits import EARLIER, void_what_is_too_late
from quiclab.study.specs import held, load_study
from quiclab.study.trial import judge_attempt, keep_attempt

ROWS = [replace(row, workload="100KB", path="plain") for row in (ROW, OTHER)]


def _with(limits: str) -> str:
    return changed(("[[workload]]", f"[limits]\n{limits}\n\n[[workload]]"))


def _run_with(tmp_path: Path, text: str) -> tuple[str, ...]:
    spec = written(tmp_path, text)
    with held(StudyDir(tmp_path / "study"), spec, load_study(spec)) as told:
        return told


def _limits(tmp_path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    resolved = json.loads((tmp_path / "study" / "resolved.json").read_text())
    return resolved["limits"], resolved.get(EARLIER, [])


def test_the_same_limits_are_not_worth_a_word(tmp_path: Path) -> None:
    """At first there are none before, and a second run has those of the first."""
    assert _run_with(tmp_path, SMALL) == ()
    assert _run_with(tmp_path, SMALL) == ()
    assert _limits(tmp_path)[1] == []


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ("attempts = 12", "limits.attempts was 4 and is 12: blocks that stayed void are run again"),
        ("attempts = 2", "limits.attempts was 4 and is 2: it holds for blocks that are run from now on"),
        ('lateness_p99 = "20 ms"', "was 100 us and is 20 ms: void blocks are run again under the new limit"),
        ('lateness_p99 = "50 us"', "was 100 us and is 50 us: trials that are later than that are void now"),
        ('trial = "9 s"', "limits.trial was 60 s and is 9 s: it holds for trials that are run from now on"),
    ],
)
def test_a_changed_limit_is_told_and_recorded(tmp_path: Path, limits: str, told: str) -> None:
    """With what it does; the limits of all runs before are kept, oldest first."""
    _run_with(tmp_path, SMALL)
    at_first, _ = _limits(tmp_path)
    (sentence,) = _run_with(tmp_path, _with(limits))
    assert told in sentence
    now, earlier = _limits(tmp_path)
    assert earlier == [at_first]
    _run_with(tmp_path, SMALL)
    assert _limits(tmp_path)[1] == [at_first, now]


@pytest.mark.parametrize(("limit", "voided"), [("20 ms", []), ("1 ms", ["7e57"])])
def test_trials_that_were_verified_under_a_wider_limit(tmp_path: Path, limit: str, voided: list[str]) -> None:
    """Those that are later than the limit of now allows are void, and lose their tables; the others stay."""
    _run_with(tmp_path, _with('lateness_p99 = "60 s"'))
    _run_with(tmp_path, _with(f'lateness_p99 = "{limit}"'))
    study_dir, study = StudyDir(tmp_path / "study"), load_study(tmp_path / "spec.toml")
    with open_ledger(study_dir) as ledger:
        ledger.plan(ROWS)
        for row, late_ns in zip(ROWS, (5_000_000, 900_000), strict=True):
            link = {"sound": True, "unsound_reasons": [], "lateness": {"p99_ns": late_ns}}
            folder = attempt_at(row, 1, tmp_path / row.arm, link=link)
            keep_attempt(study_dir, ledger, judge_attempt(folder, row.trial_id, 1))
        void_what_is_too_late(study, study_dir, ledger, ROWS)
        last = {trial_id: tries[-1] for trial_id, tries in ledger.attempts().items()}
    assert [trial_id for trial_id, attempt in last.items() if attempt.status == "void"] == voided
    assert {file.stem for file in study_dir.tables.glob("metrics/*.parquet")} == set(last) - set(voided)
    for trial_id in voided:
        assert "at least 5 ms late (bound 1.2 ms)" in last[trial_id].reason
