# SPDX-License-Identifier: Apache-2.0
"""What is told of a study whose trials were run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from unit.study.rows import OTHER, ROW, attempt_at

from quiclab.model.plan_row import PlanRow
from quiclab.store.keep_raw import KeepRaw
from quiclab.store.layout import StudyDir, damage
from quiclab.store.ledger import Ledger, open_ledger
from quiclab.study import trial_tables
from quiclab.study.trial import judge_attempt, keep_attempt
from quiclab.study.trials import Outcome, RoomMaker


def test_an_outcome_counts_only_where_all_do() -> None:
    """One trial that is not verified and whole is enough."""
    assert Outcome(0, 0, 0, {}).all_count
    assert not any(
        each.all_count for each in (Outcome(1, 0, 0, {}), Outcome(0, 0, 1, {}), Outcome(0, 0, 0, {"t": "x"}))
    )


@pytest.fixture
def study(tmp_path: Path) -> Iterator[tuple[StudyDir, Ledger]]:
    """Two blocks of a cell: a trial in the first, one that failed and then succeeded in the second."""
    study_dir = StudyDir(tmp_path / "study")
    study_dir.create()
    with open_ledger(study_dir) as ledger:
        ledger.plan([FIRST, SECOND])
        keep_attempt(study_dir, ledger, judge_attempt(attempt_at(FIRST, 1, tmp_path / "a"), FIRST.trial_id, 1))
        void = judge_attempt(attempt_at(SECOND, 1, tmp_path / "b", void="the link stood still"), SECOND.trial_id, 1)
        keep_attempt(study_dir, ledger, void)
        keep_attempt(study_dir, ledger, judge_attempt(attempt_at(SECOND, 2, tmp_path / "c"), SECOND.trial_id, 2))
        yield study_dir, ledger


FIRST = ROW
SECOND: PlanRow = replace(OTHER, arm="h3", arm_name="h3", block=1, block_id="b10c2")


def _left(study_dir: StudyDir) -> list[str]:
    """Folders with raw files."""
    return sorted(str(raw.parent.relative_to(study_dir.root)) for raw in study_dir.root.glob("*/*/raw"))


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        ("all", ["failed/07e5-attempt1", "trials/07e5", "trials/7e57"]),
        ("failures", ["failed/07e5-attempt1"]),
        ("pairs:1", ["failed/07e5-attempt1", "trials/7e57"]),
        ("none", []),
        ("1B", []),
    ],
)
def test_raw_files_go_when_their_block_is_over(study: tuple[StudyDir, Ledger], rule: str, left: list[str]) -> None:
    """And the trials are whole without them."""
    study_dir, ledger = study
    room = RoomMaker(study_dir, ledger, KeepRaw.parse(rule))
    room.block_over([FIRST], void=False)
    assert (study_dir.failed("07e5", 1) / "raw").is_dir()
    room.block_over([SECOND], void=False)
    assert _left(study_dir) == left
    assert [damage(study_dir.trial(row.trial_id)) for row in (FIRST, SECOND)] == [None, None]


def test_a_size_holds_what_came_first(study: tuple[StudyDir, Ledger]) -> None:
    """And counts each trial once, however often its block is said to be over."""
    study_dir, ledger = study
    size = sum(file.stat().st_size for file in (study_dir.trial("7e57") / "raw").rglob("*") if file.is_file())
    room = RoomMaker(study_dir, ledger, KeepRaw.parse(f"{size * 3 // 2}B"))
    for _ in range(3):
        room.block_over([FIRST], void=False)
    room.block_over([SECOND], void=False)
    assert _left(study_dir) == ["trials/7e57"]


def test_a_trial_has_its_tables_first(study: tuple[StudyDir, Ledger]) -> None:
    """A run that was killed may not have made them; logs that cannot be decoded stay."""
    study_dir, ledger = study
    for trial_id in ("7e57", "07e5"):
        study_dir.drop_tables(trial_id)
    capture = study_dir.trial("07e5") / "raw" / "client.pcapng"
    capture.write_bytes(capture.read_bytes()[:-1])
    room = RoomMaker(study_dir, ledger, KeepRaw.parse("none"))
    room.block_over([FIRST], void=False)
    room.block_over([SECOND], void=False)
    assert _left(study_dir) == ["trials/07e5"]
    assert (study_dir.tables / "metrics" / "7e57.parquet").is_file()


def test_logs_stay_where_quiclab_cannot_make_their_tables(
    study: tuple[StudyDir, Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistake of quiclab's own in one trial neither ends the run nor takes what is needed once it is mended."""
    study_dir, ledger = study
    study_dir.drop_tables("7e57")
    monkeypatch.setattr(trial_tables, "account_table", lambda _: [][0])
    room = RoomMaker(study_dir, ledger, KeepRaw.parse("none"))
    room.block_over([FIRST], void=False)
    room.block_over([SECOND], void=False)
    assert _left(study_dir) == ["trials/7e57"]
