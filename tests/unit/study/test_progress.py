# SPDX-License-Identifier: Apache-2.0
"""How far a study is, from its ledger and its folders, while another process holds it or none does."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from quiclab.model.errors import DecodeError
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Study
from quiclab.plan.make import grow_plan
from quiclab.plan.part import Part
from quiclab.spec.read import read_study
from quiclab.store.layout import BLOCK_VOID, Attempt, StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.progress import progress
from quiclab.study.selection import keep_part

SPEC = """\
[study]
name = "s"
seed = 1
blocks = 3
aa = {blocks = 1}

[[workload]]
name = "1MB"
size = "1 MB"

[[path]]
name = "p"
rate = "10 Mbit/s"
delay = "10 ms"

[[arm]]
name = "h3"
protocol = "h3"
client = "curl-cffi"
server = "caddy"

[[arm]]
name = "h2"
protocol = "h2"
client = "curl-cffi"
server = "caddy"
tcp = {congestion_control = "cubic"}
"""
_GAP_S = 5
Record = Callable[[PlanRow, int, str, str], None]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    (tmp_path / "spec.toml").write_text(SPEC)
    return read_study(tmp_path / "spec.toml")


@pytest.fixture
def study_dir(tmp_path: Path, study: Study) -> StudyDir:
    """A study that has been begun, and of which nothing has run."""
    found = StudyDir(tmp_path / "s")
    found.create()
    with open_ledger(found) as ledger:
        ledger.plan(grow_plan(study, {}))
    return found


@pytest.fixture
def record(study_dir: StudyDir) -> Record:
    """Keeps attempts that began one after the other, five seconds apart, the last one now."""
    files: list[Path] = []

    def keep(row: PlanRow, number: int, status: str, reason: str) -> None:
        attempt = Attempt(row.trial_id, number, status, reason)
        folder = study_dir.folder(attempt)
        folder.mkdir()
        (folder / "trial.json").write_text("")
        files.append(folder / "trial.json")
        for ago, file in enumerate(reversed(files)):
            began = datetime.now(UTC) - timedelta(seconds=_GAP_S * ago)
            file.write_text(json.dumps({"trial_id": row.trial_id, "started_utc": began.isoformat(), "artefacts": []}))
        with open_ledger(study_dir) as ledger:
            ledger.record(attempt)

    return keep


def test_nothing_has_run_yet(study: Study, study_dir: StudyDir) -> None:
    found = progress(study, study_dir)
    assert (len(found.rows), found.left, found.status) == (10, 10, {})
    assert (found.holder, found.since_last_s, found.trouble) == (None, None, [])
    assert [row.arm for row in found.rows[:6]] == ["h3"] * 3 + ["h2"] * 3
    assert {row.kind for row in found.rows[6:]} == {"aa"}
    # A megabyte at 10 Mbit/s takes a second or so, and what is around it.
    assert 8 < found.left_s < 20


def test_what_ended_how_and_what_is_left(study: Study, study_dir: StudyDir, record: Record) -> None:
    """A void trial that was run again counts by its last attempt, and is told; one whose block was void is not."""
    one, two, three, four, *_ = grow_plan(study, {})
    record(one, 1, "void", "the link was late")
    record(two, 1, "void", BLOCK_VOID)
    record(one, 2, "failed", "no answer")
    record(two, 2, "failed", "no answer")
    record(three, 1, "void", "the link was late")
    found = progress(study, study_dir)
    assert found.with_their_block == 1
    assert (found.status[one.trial_id], found.status[three.trial_id]) == ("failed", "void")
    assert found.left == 8
    assert [(each.status, each.reason, each.attempts) for each in found.trouble] == [
        ("void", "the link was late", 2),
        ("failed", "no answer", 2),
    ]
    assert found.trouble[1].latest == f"{two.cell_id} {two.arm} block {two.block}"
    assert found.since_last_s == pytest.approx(0, abs=2)
    # Five attempts for two trials that count, and one more block that needs no repeat.
    assert found.left_s == pytest.approx(7 / 4 * 8 * _GAP_S, rel=0.3)
    assert four.trial_id not in found.status


def test_trials_that_begin_in_groups_take_as_long_as_they_do_together(
    study: Study, study_dir: StudyDir, record: Record
) -> None:
    """Three at a time begin within 30 ms, every 10 s; an hour in which nothing ran is none of it."""
    plan = grow_plan(study, {})
    for row in plan[:6]:
        record(row, 1, "verified", "")
    now = datetime.now(UTC)
    for ago_s, row in zip((3620, 3619.99, 3619.98, 20, 10, 10), plan[:6], strict=True):
        began = (now - timedelta(seconds=ago_s)).isoformat()
        document = {"trial_id": row.trial_id, "started_utc": began, "artefacts": []}
        (study_dir.trial(row.trial_id) / "trial.json").write_text(json.dumps(document))
    # 10 s for four begins, where the rest of ten is four.
    assert progress(study, study_dir).left_s == pytest.approx(10, rel=0.1)


def test_reasons_that_differ_in_numbers_are_one(study: Study, study_dir: StudyDir, record: Record) -> None:
    one, two, *_ = grow_plan(study, {})
    record(one, 1, "void", "the link was 1.75 ms late (bound 1.2 ms)")
    record(two, 1, "void", "the link was 12 ms late (bound 1.2 ms)")
    (trouble,) = progress(study, study_dir).trouble
    assert (trouble.attempts, trouble.reason) == (2, "the link was 12 ms late (bound 1.2 ms)")
    assert trouble.latest == f"{two.cell_id} {two.arm} block {two.block}"


def test_a_trial_whose_files_are_lost_is_damaged(study: Study, study_dir: StudyDir, record: Record) -> None:
    first = grow_plan(study, {})[0]
    record(first, 1, "verified", "")
    (study_dir.trial(first.trial_id) / "trial.json").unlink()
    found = progress(study, study_dir)
    assert found.status[first.trial_id] == "damaged"
    assert found.trouble[0].status == "damaged"


def test_a_shard_counts_what_it_has_taken_on(study: Study, tmp_path: Path) -> None:
    """What other shards run is planned, and not lacking here."""
    shard = StudyDir(tmp_path / "shard")
    shard.create()
    with open_ledger(shard) as ledger:
        ledger.plan(Part(shard=(1, 2)).rows_of(grow_plan(study, {})))
    keep_part(shard, Part(shard=(1, 2)))
    found = progress(study, shard)
    assert 0 < len(found.rows) == found.left < len(found.plan) == 10


def test_the_process_that_works_on_it_is_named(study: Study, study_dir: StudyDir) -> None:
    with study_dir.locked():
        assert progress(study, study_dir).holder == os.getpid()
    assert progress(study, study_dir).holder is None


def test_nothing_is_written(study: Study, study_dir: StudyDir) -> None:
    """Also where a directory may not be written to."""
    before = {file: file.stat().st_mtime_ns for file in study_dir.root.rglob("*")}
    progress(study, study_dir)
    assert {file: file.stat().st_mtime_ns for file in study_dir.root.rglob("*")} == before


def test_a_study_without_a_ledger_was_not_begun(study: Study, tmp_path: Path) -> None:
    with pytest.raises(DecodeError, match="nothing of"):
        progress(study, StudyDir(tmp_path))
    (tmp_path / "ledger.sqlite").write_text("no ledger")
    with pytest.raises(DecodeError, match="is damaged"):
        progress(study, StudyDir(tmp_path))
