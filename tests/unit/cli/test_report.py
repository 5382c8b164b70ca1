# SPDX-License-Identifier: Apache-2.0
"""`quiclab report`."""

from __future__ import annotations

from pathlib import Path

import pytest

from quiclab.cli.main import main
from quiclab.errors import ExitCode


@pytest.mark.parametrize(
    ("metric", "told"),
    [
        ("setpu", "there is no metric 'setpu'"),
        ("path_rtt_min_ms", "path_rtt_min_ms only describes"),
        ("../../etc/passwd", "there is no metric"),
    ],
)
def test_a_metric_that_cannot_be_compared_is_told_before_anything_is_done(
    tmp_path: Path, metric: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name that is none, and one of which neither side is the better; the study stays as it is."""
    (tmp_path / "ledger.sqlite").touch()
    assert main(["report", str(tmp_path), "--metric", metric]) == ExitCode.SPEC
    assert told in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.sqlite"]


def test_a_folder_that_holds_no_study_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a ledger there is nothing to report of."""
    assert main(["report", str(tmp_path)]) == ExitCode.DECODE
    assert "is not a study directory" in capsys.readouterr().err
