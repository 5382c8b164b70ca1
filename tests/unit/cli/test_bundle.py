# SPDX-License-Identifier: Apache-2.0
"""`quiclab bundle`: which block is meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from specs import SMALL, study_of

from quiclab.cli.main import main
from quiclab.model.errors import ExitCode
from quiclab.plan.make import make_plan
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger


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
