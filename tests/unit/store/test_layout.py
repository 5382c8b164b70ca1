# SPDX-License-Identifier: Apache-2.0
"""Folders of trials appear whole or not at all, and a directory is held by one run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quiclab.model.errors import BusyError
from quiclab.store.disk import move_in
from quiclab.store.layout import Attempt, StudyDir, damage, read_trial


def _trial(folder: Path, **changes: object) -> Path:
    (folder / "raw").mkdir(parents=True)
    (folder / "raw" / "a.log").write_text("12345")
    register = [{"path": "raw/a.log", "bytes": 5}]
    document = {"trial_id": "t", "attempt": 1, "status": "verified", "reason": "", "artefacts": register} | changes
    (folder / "trial.json").write_text(json.dumps(document))
    return folder


def test_a_second_run_is_refused(tmp_path: Path) -> None:
    """The lock is the kernel's: it needs no cleaning."""
    study = StudyDir(tmp_path)
    with study.locked(), pytest.raises(BusyError, match="another run"), study.locked():
        pass
    with study.locked():
        pass


def test_move_in_replaces_what_was_half_there(tmp_path: Path) -> None:
    """Left-overs of a crash do not get into the way, and the source is gone afterwards."""
    target = tmp_path / "trials" / "t"
    (target.parent / ".incoming-t").mkdir(parents=True)
    source = _trial(tmp_path / "memory" / "t")
    move_in(source, target)
    assert read_trial(target) is not None
    assert not source.exists()
    assert [path.name for path in target.parent.iterdir()] == ["t"]


def test_move_in_overwrites_nothing(tmp_path: Path) -> None:
    """What was never whole is set aside under failed/, each under its own name."""
    target = tmp_path / "trials" / "t"
    (tmp_path / "failed").mkdir()
    for number in (1, 2):
        target.mkdir(parents=True, exist_ok=True)
        (target / f"left-{number}").touch()
        aside = move_in(_trial(tmp_path / "memory" / "t"), target)
        assert aside == tmp_path / "failed" / f"t-aside{number}"
        assert (aside / f"left-{number}").exists()
        assert read_trial(target) is not None


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ("import shutil; shutil.rmtree(folder)", "folder is gone"),
        ("(folder / 'trial.json').unlink()", "trial.json is missing"),
        ("(folder / 'trial.json').write_bytes(b'[' * 100000)", "trial.json is missing or cannot be read"),
        ("(folder / 'trial.json').write_text('[]')", "cannot be read"),
        ("(folder / 'raw' / 'a.log').unlink()", "raw/a.log is missing"),
        ("(folder / 'raw' / 'a.log').write_text('1')", "raw/a.log has 1 bytes instead of 5"),
    ],
)
def test_what_a_trial_lacks_is_told(tmp_path: Path, harm: str, told: str) -> None:
    """The file, and both sizes."""
    folder = _trial(tmp_path / "t")
    assert damage(folder) is None
    exec(harm, {"folder": folder})
    assert told in str(damage(folder))


def test_a_register_leads_out_of_no_folder(tmp_path: Path) -> None:
    """Anything may stand there, of the size that it says."""
    (tmp_path / "other").write_text("12345")
    for number, path in enumerate(("../other", str(tmp_path / "other"), "raw/../../other")):
        folder = _trial(tmp_path / str(number))
        document = json.loads((folder / "trial.json").read_text())
        document["artefacts"].append({"path": path, "bytes": 5})
        (folder / "trial.json").write_text(json.dumps(document))
        assert "is outside of its folder" in str(damage(folder))


def test_a_trial_with_a_short_artefact_is_not_whole(tmp_path: Path) -> None:
    """The register knows every size."""
    folder = _trial(tmp_path / "t")
    assert read_trial(folder) is not None
    (folder / "raw" / "a.log").write_text("1")
    assert read_trial(folder) is None


@pytest.mark.parametrize(("key", "value"), [("link", 3), ("proof", []), ("client", "x"), ("links", {})])
def test_a_trial_json_of_other_types_is_damage(tmp_path: Path, key: str, value: object) -> None:
    """Told by its name, before anything reads it."""
    folder = _trial(tmp_path / "t", **{key: value})
    assert f"in its trial.json {key} is no" in str(damage(folder))
    assert read_trial(folder) is None
    assert damage(_trial(tmp_path / "u", **{key: None})) is None


def test_a_trial_without_a_verdict_is_not_whole(tmp_path: Path) -> None:
    """What was never judged does not count."""
    folder = _trial(tmp_path / "t")
    document = json.loads((folder / "trial.json").read_text())
    del document["status"]
    (folder / "trial.json").write_text(json.dumps(document))
    assert read_trial(folder) is None
    assert read_trial(tmp_path / "nowhere") is None


def test_only_what_counts_stands_under_trials(tmp_path: Path) -> None:
    """Failed and void attempts are kept apart, each with its number."""
    study = StudyDir(tmp_path)
    assert study.folder(Attempt("t", 1, "verified", "")) == tmp_path / "trials" / "t"
    assert study.folder(Attempt("t", 2, "void", "late")) == tmp_path / "failed" / "t-attempt2"
