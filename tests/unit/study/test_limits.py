# SPDX-License-Identifier: Apache-2.0
"""Limits that change between two runs of a study."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from specs import SMALL, changed, written
from unit.study.rows import OTHER, ROW, attempt_at

from quiclab.model.plan_row import PlanRow
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.blocks import ROUNDS_LATER, Block, InTurn, run_blocks
from quiclab.study.limits import EARLIER, void_what_is_disturbed
from quiclab.study.observer import NOBODY
from quiclab.study.specs import held, load_study
from quiclab.study.stopping import Stop
from quiclab.study.trial import judge_attempt, keep_attempt, settler

ROWS = [replace(row, workload="100KB", path="plain") for row in (ROW, OTHER)]


def _with(limits: str) -> str:
    return changed(("[[workload]]", f"[limits]\n{limits}\n\n[[workload]]"))


def _run_with(tmp_path: Path, text: str) -> tuple[str, ...]:
    """Hold a study as a run does that gets as far as to plan its trials: before, a spec binds nobody."""
    spec, study_dir = written(tmp_path, text), StudyDir(tmp_path / "study")
    with held(study_dir, spec, load_study(spec)) as told, open_ledger(study_dir):
        return told


def _limits(tmp_path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    resolved = json.loads((tmp_path / "study" / "resolved.json").read_text())
    return resolved["limits"], resolved.get(EARLIER, [])


def test_the_same_limits_are_not_worth_a_word(tmp_path: Path) -> None:
    """At first there are none before, and a second run has those of the first."""
    assert _run_with(tmp_path, SMALL) == ()
    assert _run_with(tmp_path, SMALL) == ()
    assert _limits(tmp_path)[1] == []


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ("attempts = 12", "limits.attempts was 4 and is 12: blocks that stayed invalid are run again"),
        ("attempts = 2", "limits.attempts was 4 and is 2: it holds for blocks that are run from now on"),
        ('disturbance = "5 %"', "was 1 % and is 5 %: blocks with a trial beyond the old one are run again"),
        ('disturbance = "0.5 %"', "was 1 % and is 0.5 %: trials beyond the new one are invalid now"),
        ('trial = "9 s"', "limits.trial was 60 s and is 9 s: it holds for trials that are run from now on"),
    ],
)
def test_a_changed_limit_is_told_and_recorded(tmp_path: Path, limits: str, told: str) -> None:
    """With what it does; the limits of all runs before are kept, oldest first."""
    _run_with(tmp_path, SMALL)
    at_first, _ = _limits(tmp_path)
    (sentence,) = _run_with(tmp_path, _with(limits))
    assert told in sentence
    now, earlier = _limits(tmp_path)
    assert earlier == [at_first]
    _run_with(tmp_path, SMALL)
    assert _limits(tmp_path)[1] == [at_first, now]


def test_a_limit_that_follows_from_what_matters_is_recorded(tmp_path: Path) -> None:
    """Its trials were judged by it, though the spec does not name it."""
    _run_with(tmp_path, SMALL)
    at_first, _ = _limits(tmp_path)
    (sentence,) = _run_with(tmp_path, SMALL.replace("[study]\n", '[study]\nmatters = "8 %"\n', 1))
    assert "was 1 % and is 4 %" in sentence
    now, (earlier,) = _limits(tmp_path)
    assert (now["disturbance"], earlier["disturbance_pct"]) == (None, 1.0)
    assert earlier["attempts"] == at_first["attempts"]


def _waiting(row: PlanRow, number: int, folder: Path, waited_ms: float) -> Path:
    """An attempt at a trial of 100 ms whose client waited that long for a processor. It has no account: a tenth or
    more is tolerated."""
    delay = {"sum_ns": round(waited_ms * 1e6), "longest_ns": round(waited_ms * 1e6), "longest_turns": 1}
    host = {"cost": {"client": {"run_delay": delay}}}
    tolerated = json.loads((folder.parent / "tolerated").read_text())
    return attempt_at(row, number, folder, host=host, time_ns={"transfer": 100_000_000}, tolerated=tolerated)


@pytest.mark.parametrize(("limit", "voided"), [("20 %", []), ("1 %", ["7e57"])])
def test_trials_that_were_verified_under_a_wider_limit(tmp_path: Path, limit: str, voided: list[str]) -> None:
    """Those that are disturbed more than is tolerated now are void, and lose their tables; the others stay."""
    _run_with(tmp_path, _with('disturbance = "100 %"'))
    _run_with(tmp_path, _with(f'disturbance = "{limit}"'))
    (tmp_path / "tolerated").write_text("1")
    study_dir, study = StudyDir(tmp_path / "study"), load_study(tmp_path / "spec.toml")
    with open_ledger(study_dir) as ledger:
        ledger.plan(ROWS)
        for row, waited_ms in zip(ROWS, (15, 0.9), strict=True):
            folder = _waiting(row, 1, tmp_path / row.arm, waited_ms)
            keep_attempt(study_dir, ledger, judge_attempt(folder, row.trial_id, 1))
        void_what_is_disturbed(study, study_dir, ledger, ROWS)
        last = {trial_id: tries[-1] for trial_id, tries in ledger.attempts().items()}
    assert [trial_id for trial_id, attempt in last.items() if attempt.status == "void"] == voided
    assert {file.stem for file in study_dir.tables.glob("metrics/*.parquet")} == set(last) - set(voided)
    for trial_id in voided:
        assert "the client waited for a processor" in last[trial_id].reason


def _go_on(tmp_path: Path, limits: str, waited_ms: float) -> tuple[int, set[str]]:
    """Run a study once more, as `quiclab run` does, on a machine where the client waits that long. Returns how many
    attempts at its block there were by then, and the statuses of its trials."""
    _run_with(tmp_path, _with(limits))
    study_dir, study = StudyDir(tmp_path / "study"), load_study(tmp_path / "spec.toml")
    (tmp_path / "tolerated").write_text(str(study.tolerated.value))

    def run_one(row: PlanRow, number: int) -> Path:
        return _waiting(row, number, tmp_path / f"{row.arm}-{number}", waited_ms)

    with open_ledger(study_dir) as ledger:
        ledger.plan(ROWS)
        void_what_is_disturbed(study, study_dir, ledger, ROWS)
        executor = InTurn(lambda rows: Block(run_one, settler(study_dir, ledger), ledger, NOBODY, rows), Stop())
        ran = itertools.count()  # every look at the clock is later by the same time
        run_blocks([ROWS], study.limits.attempts, executor, NOBODY, clock=lambda: next(ran))
        last = [tries[-1] for tries in ledger.attempts().values()]
    return max(each.attempt for each in last), {each.status for each in last}


def test_limits_do_what_they_say_on_a_study_that_exists(tmp_path: Path) -> None:
    """A busy machine, run by run: more attempts, then a bound that the study can bear, then a narrower one again."""
    ms = 15
    assert _go_on(tmp_path, "attempts = 1", ms) == (1 + ROUNDS_LATER, {"void"})
    assert _go_on(tmp_path, "attempts = 1", ms) == (3 + ROUNDS_LATER, {"void"}), "the same command tries again"
    assert _go_on(tmp_path, "attempts = 9", ms) == (9 + ROUNDS_LATER, {"void"})
    at_least = 'attempts = 1\ndisturbance = "{}"'
    assert _go_on(tmp_path, at_least.format("12 %"), ms) == (11 + ROUNDS_LATER, {"void"})
    assert _go_on(tmp_path, at_least.format("16 %"), ms) == (14, {"verified"})
    assert _go_on(tmp_path, at_least.format("15 %"), ms) == (14, {"verified"}), "as much as is tolerated"
    assert _go_on(tmp_path, at_least.format("14 %"), ms) == (14 + ROUNDS_LATER, {"void"})
    assert _go_on(tmp_path, at_least.format("14 %"), 1) == (17, {"verified"})
