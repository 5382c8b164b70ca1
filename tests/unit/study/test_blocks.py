# SPDX-License-Identifier: Apache-2.0
"""The loop over a block's trials, with recordings in the place of the laboratory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from unit.study.rows import OTHER, ROW, attempt_at

from quiclab.model.plan_row import PlanRow
from quiclab.store.layout import BLOCK_CUT, Attempt, StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.blocks import Block, InTurn, run_blocks
from quiclab.study.observer import Observer
from quiclab.study.stopping import Stop
from quiclab.study.trial import judge_attempt, keep_attempt, settler


class _Heard(Observer):
    """What an observer is told, as words."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def running(self, row: PlanRow) -> None:
        self.words.append(f"run {row.arm}")

    def ended(self, row: PlanRow, attempt: Attempt) -> None:
        self.words.append(f"{row.arm} {attempt.attempt} {attempt.status}")

    def block_over(self, block: Sequence[PlanRow], *, void: bool) -> None:
        self.words.append(f"{len(block)} over, void" if void else f"{len(block)} over")

    def again(self, blocks: Sequence[Sequence[PlanRow]]) -> None:
        self.words.append(f"again {len(blocks)} block")


def _run(study: StudyDir, memory: Path, limit: int, spoiled: set[tuple[str, int]], *, rounds: int = 0) -> list[str]:
    """Run a block of two trials, of whose attempts (arm, number) some are void, in `rounds` after the first."""

    def run_one(row: PlanRow, number: int) -> Path:
        void = "the clock was set" if (row.arm, number) in spoiled else None
        return attempt_at(row, number, memory / f"{row.arm}-{number}", void=void)

    study.create()
    heard = _Heard()
    with open_ledger(study) as ledger:
        ledger.plan([ROW, OTHER])
        executor = InTurn(lambda rows: Block(run_one, settler(study, ledger), ledger, heard, rows), Stop())
        later = run_blocks([[ROW, OTHER]], limit, executor, heard, rounds)
    return [*heard.words, f"later: {later.trials}, void: {later.void}"] if rounds else heard.words


def _tables(study: StudyDir) -> set[str]:
    return {path.stem for path in (study.tables / "metrics").glob("*.parquet")}


def test_a_block_is_run_and_told(tmp_path: Path) -> None:
    """Each trial once, in an order of its own; a second run has nothing to do."""
    study = StudyDir(tmp_path / "study")
    heard = _run(study, tmp_path, 3, set())
    assert sorted(heard[:-1]) == ["h2 1 verified", "h3 1 verified", "run h2", "run h3"]
    assert heard[-1] == "2 over"
    assert _tables(study) == {ROW.trial_id, OTHER.trial_id}
    assert _run(study, tmp_path, 3, set()) == ["2 over"]


@pytest.mark.parametrize("seconds_ago", [5, 600])
def test_a_block_that_was_cut_short_runs_again_as_a_whole(seconds_ago: float, tmp_path: Path) -> None:
    """Unless it goes on at once: its trials are compared because they ran under like conditions."""
    study = StudyDir(tmp_path / "study")
    study.create()
    with open_ledger(study) as ledger:
        ledger.plan([ROW, OTHER])
        settler(study, ledger)(attempt_at(ROW, 1, tmp_path / "cut"), ROW.trial_id, 1)
    _ended(study, ROW, seconds_ago)
    ran = sorted(word for word in _run(study, tmp_path, 3, set()) if word.endswith("verified"))
    with open_ledger(study) as ledger:
        reasons = [each.reason for each in ledger.attempts()[ROW.trial_id][:-1]]
    whole = sorted(f"{row.arm} 2 verified" for row in (ROW, OTHER))
    assert (ran, reasons) == (([f"{OTHER.arm} 1 verified"], []) if seconds_ago < 60 else (whole, [BLOCK_CUT]))
    assert _tables(study) == {ROW.trial_id, OTHER.trial_id}


def test_the_last_trial_of_a_block_that_was_cut_decides(tmp_path: Path) -> None:
    """The first of long ones is over for minutes when the next but one begins, and nothing stood between them."""
    study, third = StudyDir(tmp_path / "study"), replace(OTHER, trial_id="3d", arm="h2-too", position=2)
    study.create()
    with open_ledger(study) as ledger:
        ledger.plan([ROW, OTHER, third])
        for row, seconds_ago in ((ROW, 600), (OTHER, 5)):
            settler(study, ledger)(attempt_at(row, 1, tmp_path / row.arm), row.trial_id, 1)
            _ended(study, row, seconds_ago)
        ran: list[str] = []

        def run_one(row: PlanRow, number: int) -> Path:
            ran.append(f"{row.trial_id} {number}")
            return attempt_at(replace(row, arm="h2"), number, tmp_path / "third")

        Block(run_one, settler(study, ledger), ledger, Observer(), [ROW, OTHER, third]).run(3)
    assert ran == ["3d 1"]


def _ended(study: StudyDir, row: PlanRow, seconds_ago: float) -> None:
    """Have a kept trial, which lasted for 100 s, be over for so long: what it lasted is no pause."""
    file = study.trial(row.trial_id) / "trial.json"
    document = json.loads(file.read_text())
    document["time_ns"] = {"transfer": 100_000_000_000}
    document["started_utc"] = (datetime.now(UTC) - timedelta(seconds=seconds_ago + 100)).isoformat()
    file.write_text(json.dumps(document))


def test_a_void_trial_voids_its_block(tmp_path: Path) -> None:
    """It is run again as a whole, and the tables are those of the attempts that count."""
    study = StudyDir(tmp_path / "study")
    heard = _run(study, tmp_path, 3, {("h2", 1), ("h3", 1)})
    assert sorted(words for words in heard if words.endswith("2 verified")) == ["h2 2 verified", "h3 2 verified"]
    with open_ledger(study) as ledger:
        last = {trial_id: tries[-1] for trial_id, tries in ledger.attempts().items()}
    assert {(each.attempt, each.status) for each in last.values()} == {(2, "verified")}
    assert _tables(study) == {ROW.trial_id, OTHER.trial_id}


def test_a_block_that_stays_void_leaves_no_tables(tmp_path: Path) -> None:
    """Whichever trial came first and was verified before."""
    study = StudyDir(tmp_path / "study")
    _run(study, tmp_path, 2, {("h2", 1), ("h2", 2)})
    with open_ledger(study) as ledger:
        assert {tries[-1].status for tries in ledger.attempts().values()} == {"void"}
    assert _tables(study) == set()


def test_blocks_that_stayed_void_are_run_again_at_the_end(tmp_path: Path) -> None:
    """Once in each of a few rounds, when all others are over; a second run tries again what stayed void."""
    study = StudyDir(tmp_path / "study")
    heard = _run(study, tmp_path, 2, {("h2", number) for number in (1, 2, 3)}, rounds=1)
    assert heard.count("2 over, void") == 2
    assert "again 1 block" in heard
    assert heard[-1] == "later: 2, void: 2"
    heard = _run(study, tmp_path, 2, set(), rounds=1)
    assert heard[:2] == ["2 over, void", "again 1 block"]
    assert "h2 4 verified" in heard
    assert heard[-2:] == ["2 over", "later: 2, void: 0"]


def test_an_attempt_of_a_later_round_that_was_interrupted_goes_on_as_such(tmp_path: Path) -> None:
    """The number of attempts in a row is not used up by it: what is verified of it is not run again."""
    study = StudyDir(tmp_path / "study")
    _run(study, tmp_path, 1, {("h2", 1), ("h3", 1)})
    with open_ledger(study) as ledger:
        folder = attempt_at(ROW, 2, tmp_path / "late")
        keep_attempt(study, ledger, judge_attempt(folder, ROW.trial_id, 2))
    heard = _run(study, tmp_path, 1, set(), rounds=1)
    assert [words for words in heard if words.startswith("run")] == ["run h2"]
    assert heard[-1] == "later: 2, void: 0"


@pytest.mark.parametrize(
    ("first_s", "round_s", "rounds", "tried"),
    [
        pytest.param(100, 1.5, 2, 6, id="rounds that cost next to nothing"),
        pytest.param(100, 9.0, 2, 2, id="rounds that take a part of the run"),
        pytest.param(100, 0.1, 1, 1, id="a run that wants one round"),
        pytest.param(100, 0.1, 0, 0, id="a run that wants none"),
    ],
)
def test_a_block_is_tried_again_as_long_as_it_costs_little(
    first_s: float, round_s: float, rounds: int, tried: int
) -> None:
    """On a machine that stays busy, beside blocks that are done and make up the run's time."""
    now, ran = 0.0, 0

    class AlwaysVoid:
        def run_all(self, asked: Sequence[tuple[Sequence[PlanRow], int]], *, alone: bool) -> list[int | None]:
            nonlocal now, ran
            now += round_s if alone else first_s
            ran += alone
            return [limit for _, limit in asked]

    later = run_blocks([[ROW, OTHER]], 4, AlwaysVoid(), _Heard(), rounds, clock=lambda: now)
    assert (ran, later.void) == (tried, 2)
