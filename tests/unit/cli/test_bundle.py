# SPDX-License-Identifier: Apache-2.0
"""`quiclab bundle`: which block is meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from specs import SMALL, study_of, written

from quiclab.cli.main import main
from quiclab.model.errors import ExitCode
from quiclab.plan.make import make_plan
from quiclab.store.layout import Attempt, StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.specs import held, load_study


@pytest.mark.parametrize(
    ("there", "told", "hint"),
    [("file", "exists", "choose another file with -o, or add --force"), ("folder", "is a folder", "with -o")],
)
def test_nothing_is_replaced_unasked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], there: str, told: str, hint: str
) -> None:
    """An archive that is there stays as it is, and a folder is none."""
    study, out = tmp_path / "study", tmp_path / "x.tar.gz"
    spec = written(tmp_path, SMALL)
    with held(StudyDir(study), spec, load_study(spec)), open_ledger(StudyDir(study)) as ledger:
        ledger.plan(rows := make_plan(study_of(tmp_path, SMALL)))
        ledger.record(Attempt(rows[0].trial_id, 1, "failed", "no answer"))
    if there == "file":
        out.write_text("mine")
    else:
        out.mkdir()
    assert main(["bundle", str(study), rows[0].block_id, "-o", str(out)]) == ExitCode.SPEC
    printed = capsys.readouterr().err
    assert f"{out} {told}" in printed
    assert hint in printed
    assert out.is_dir() or out.read_text() == "mine"


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("100KB/plain:99", "100KB/plain has the blocks 0 to 3: write 100KB/plain:0"),
        ("100KB/plain", "100KB/plain has the blocks 0 to 3: write 100KB/plain:0"),
        ("1MB/plain:0", "did you mean 100KB/plain?"),
    ],
)
def test_a_block_that_is_not_there_is_told_with_those_that_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], asked: str, hint: str
) -> None:
    """Of the cell that is meant, or else the nearest cell."""
    study_dir = StudyDir(tmp_path / "study")
    study_dir.create()
    with open_ledger(study_dir) as ledger:
        ledger.plan(make_plan(study_of(tmp_path, SMALL)))
    out = tmp_path / "x.tar.gz"
    assert main(["bundle", str(study_dir.root), asked, "--out", str(out)]) == ExitCode.SPEC
    assert capsys.readouterr().err.splitlines()[-1] == f"  hint: {hint}"
    assert not out.exists()
