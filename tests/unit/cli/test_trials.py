# SPDX-License-Identifier: Apache-2.0
"""What becomes of one attempt at a trial, once it has run."""

from __future__ import annotations

from pathlib import Path

from unit.verify.recordings import trial

from quiclab.cli.trials import _Bar, _run_one
from quiclab.plan.rows import PlanRow
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger

ROW = PlanRow(
    trial_id="t",
    kind="main",
    cell_id="object/plain",
    workload="object",
    path="plain",
    arm="h3",
    arm_name="h3",
    baseline_arm="h2",
    block=0,
    block_id="b",
    seed=1,
    position=0,
)


def test_tables_of_an_attempt_before_are_not_those_of_this_one(tmp_path: Path) -> None:
    """A report was written before the first attempt's block turned out to be void: its metrics must not stay."""
    study = StudyDir(tmp_path / "study")
    study.create()
    old = study.tables / "metrics" / "t.parquet"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"of the first attempt")
    with open_ledger(study) as ledger:
        ledger.plan([ROW])
        bar = _Bar.__new__(_Bar)
        bar.show = lambda row: None  # type: ignore[method-assign]
        status = _run_one(lambda row, attempt: trial(tmp_path / "memory", "h3"), study, ledger, ROW, 2, bar)
        assert [attempt.status for attempt in ledger.attempts()["t"]] == [status] == ["verified"]
    assert not old.exists()
    assert (study.trial("t") / "trial.json").is_file()
