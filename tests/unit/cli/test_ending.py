# SPDX-License-Identifier: Apache-2.0
"""The end of a run that the laboratory disturbed: a good one, if the pairs that are there decide."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_study import Shape, write_study

from quiclab.cli.documents import ReportDocument
from quiclab.cli.ending import code_at_the_end, code_of_trials
from quiclab.cli.run_document import trial_counts
from quiclab.compare.analyse import analyse_study
from quiclab.model.errors import ExitCode
from quiclab.model.plan_row import PlanRow
from quiclab.store.layout import Attempt, StudyDir
from quiclab.store.ledger import open_ledger

_SHAPE = Shape(("1 MB",), ("clean", "loss"), blocks=9, aa_blocks=0, voids=frozenset(), failures=frozenset())


def _row(cell: str, arm: str, kind: str) -> PlanRow:
    workload, path, *_ = cell.split("/")
    trial_id = f"{abs(hash((cell, arm))):016x}"[:16]
    return PlanRow(trial_id, kind, cell, workload, path, arm, arm[:2], "h2", 9, f"{cell}-9", 1, 0)  # type: ignore[arg-type]


def _result(folder: Path, shape: Shape) -> tuple[StudyDir, ReportDocument]:
    """A study of these pairs, with an empty ledger, and what its report says."""
    root = write_study(folder, shape)
    return StudyDir(root), ReportDocument(1, str(root), "", analyse_study(root))


def _stay_void(study_dir: StudyDir, cell: str, kind: str = "main") -> None:
    rows = [_row(cell, f"{arm}{'#1' if kind == 'aa' else ''}", kind) for arm in ("h2", "h3")]
    with open_ledger(study_dir) as ledger:
        ledger.plan(rows)
        for row in rows:
            ledger.record(Attempt(row.trial_id, 1, "void", "busy"))


def test_a_cell_that_lacks_a_pair_and_is_decided_ends_well(tmp_path: Path) -> None:
    study_dir, result = _result(tmp_path, _SHAPE)
    decided = next(each.cell_id for each in result.analysis.comparisons if each.conclusion.found)
    _stay_void(study_dir, decided)
    assert code_at_the_end(ExitCode.NOT_JUDGED, study_dir, result) == ExitCode.OK
    assert code_at_the_end(ExitCode.TRIALS_FAILED, study_dir, result) == ExitCode.TRIALS_FAILED
    assert code_at_the_end(ExitCode.NOT_JUDGED, study_dir, None) == ExitCode.NOT_JUDGED


def test_a_cell_that_is_open_or_has_no_pair_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study_dir, result = _result(tmp_path, replace(_SHAPE, blocks=3))
    found = next(each.cell_id for each in result.analysis.comparisons if not each.conclusion.found)
    for cell in (found, "2 MB/clean"):
        _stay_void(study_dir, cell)
    assert code_at_the_end(ExitCode.NOT_JUDGED, study_dir, result) == ExitCode.NOT_JUDGED
    told = capsys.readouterr().out
    assert f"{found} (1 missing) and 2 MB/clean (1 missing)" in told


def test_the_control_alone_is_no_reason_not_to_end_well(tmp_path: Path) -> None:
    study_dir, result = _result(tmp_path, _SHAPE)
    _stay_void(study_dir, "1 MB/clean/aa-h2", "aa")
    assert code_at_the_end(ExitCode.NOT_JUDGED, study_dir, result) == ExitCode.OK
    assert code_at_the_end(ExitCode.NOT_JUDGED, study_dir, None) == ExitCode.OK


@pytest.mark.parametrize(
    ("ended", "code"),
    [
        (["verified", None], ExitCode.OK),
        (["verified", "void"], ExitCode.NOT_JUDGED),
        (["failed", "void"], ExitCode.TRIALS_FAILED),
        (["damaged"], ExitCode.TRIALS_FAILED),
        (["unproven"], ExitCode.TRIALS_FAILED),
    ],
)
def test_the_code_of_trials(ended: list[str | None], code: ExitCode) -> None:
    assert code_of_trials(trial_counts(ended)) == code
