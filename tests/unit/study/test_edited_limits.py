# SPDX-License-Identifier: Apache-2.0
"""Limits that are edited after a run, as `status`, `explain` and `report` tell of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from specs import SMALL, changed, written
from synthetic_study import Shape, write_study

from quiclab.cli.main import main
from quiclab.model.errors import ExitCode
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.edited_limits import edited_limits
from quiclab.study.specs import held, load_study

LIMITS = {"trial_ns": 60 * 10**9, "ready_ns": 10**10, "disturbance_pct": 5.0, "lateness_p99": None, "attempts": 4}


def _with(limits: str) -> str:
    return changed(("[[workload]]", f"[limits]\n{limits}\n\n[[workload]]"))


def _run(tmp_path: Path, text: str, *tolerated: float) -> StudyDir:
    """Hold a study as a run does, which keeps trials that were judged by these shares."""
    spec, study_dir = written(tmp_path, text), StudyDir(tmp_path / "study")
    with held(study_dir, spec, load_study(spec)), open_ledger(study_dir):
        for each in tolerated:
            _keep(study_dir.root, f"{round(1000 * each):x}", each)
    return study_dir


def _keep(study: Path, trial_id: str, tolerated: float) -> None:
    (study / "trials" / trial_id).mkdir(parents=True)
    document = {"trial_id": trial_id, "attempt": 1, "status": "verified", "reason": "", "tolerated": tolerated}
    (study / "trials" / trial_id / "trial.json").write_text(json.dumps(document))


def _edit(study_dir: StudyDir, pct: float) -> None:
    resolved = json.loads(study_dir.resolved.read_text())
    resolved["limits"]["disturbance_pct"] = pct
    study_dir.resolved.write_text(json.dumps(resolved))


def test_limits_as_they_ran_are_not_worth_a_word(tmp_path: Path) -> None:
    """Those of earlier runs and those that follow from what matters included."""
    study_dir = _run(tmp_path, SMALL, 0.01)
    assert edited_limits(study_dir) == ()
    _run(tmp_path, _with('disturbance = "5 %"'), 0.05)
    assert edited_limits(study_dir) == ()
    study_dir.resolved.unlink()
    assert edited_limits(study_dir) == ()


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ('disturbance = "5 %"', "limits.disturbance was 1 % and is 5 %"),
        ('trial = "9 s"\nattempts = 9', "limits.attempts was 4 and is 9; limits.trial was 60 s and is 9 s"),
    ],
)
def test_an_edited_spec_is_told(tmp_path: Path, limits: str, told: str) -> None:
    study_dir = _run(tmp_path, SMALL, 0.01)
    study_dir.spec.write_text(_with(limits))
    (sentence,) = edited_limits(study_dir)
    assert f"({told})" in sentence
    assert "nothing here is judged by them" in sentence


def test_an_edited_resolved_spec_is_told_by_the_trials(tmp_path: Path) -> None:
    """With the spec or without: what the trials were judged by stands in their own files."""
    study_dir = _run(tmp_path, SMALL, 0.01)
    _edit(study_dir, 3.0)
    (sentence,) = edited_limits(study_dir)
    assert "has limits.disturbance 3 %, and was edited" in sentence
    assert "(1 trial by 1 %)" in sentence
    study_dir.spec.write_text(_with('disturbance = "3 %"'))
    assert edited_limits(study_dir) == (sentence,)
    study_dir.spec.unlink()
    assert edited_limits(study_dir) == (sentence,)


def test_status_tells_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study_dir = _run(tmp_path, SMALL, 0.01)
    study_dir.spec.write_text(_with('disturbance = "5 %"'))
    assert main(["status", str(study_dir.root)]) == ExitCode.OK
    assert "limits.disturbance was 1 % and is 5 %" in capsys.readouterr().err


def test_explain_and_report_tell_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report tells it in the terminal and on its page."""
    shape = Shape(("1 MB",), ("clean",), blocks=3, aa_blocks=0, resolved={"limits": LIMITS})
    study = write_study(tmp_path / "s", shape)
    _keep(study, "aa", 0.1)
    assert main(["explain", str(study)]) == ExitCode.OK
    assert "(1 trial by 10 %)" in capsys.readouterr().err
    monkeypatch.setattr("quiclab.cli.analyse.make_tables_visibly", lambda *_, **__: None)
    with open_ledger(StudyDir(study)):
        pass
    assert main(["report", str(study)]) == ExitCode.OK
    assert "(1 trial by 10 %)" in " ".join(capsys.readouterr().out.split())
    assert "(1 trial by 10 %)" in (study / "report.html").read_text()
