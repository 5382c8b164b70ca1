# SPDX-License-Identifier: Apache-2.0
"""Limits that change between two runs of a study."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from specs import SMALL, changed, written
from unit.study.rows import OTHER, ROW, attempt_at

from quiclab.plan.rows import PlanRow
from quiclab.spec.link import lateness_bounds
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.blocks import ROUNDS_LATER, Block, in_order, run_blocks
from quiclab.study.limits import EARLIER, void_what_is_too_late
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
        ("attempts = 12", "limits.attempts was 4 and is 12: blocks that stayed void are run again"),
        ("attempts = 2", "limits.attempts was 4 and is 2: it holds for blocks that are run from now on"),
        ('lateness_p99 = "20 ms"', "was 100 us and is 20 ms: void blocks are run again under the new limit"),
        ('lateness_p99 = "50 us"', "was 100 us and is 50 us: trials that are later than that are void now"),
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


@pytest.mark.parametrize(("limit", "voided"), [("20 ms", []), ("1 ms", ["7e57"])])
def test_trials_that_were_verified_under_a_wider_limit(tmp_path: Path, limit: str, voided: list[str]) -> None:
    """Those that are later than the limit of now allows are void, and lose their tables; the others stay."""
    _run_with(tmp_path, _with('lateness_p99 = "60 s"'))
    _run_with(tmp_path, _with(f'lateness_p99 = "{limit}"'))
    study_dir, study = StudyDir(tmp_path / "study"), load_study(tmp_path / "spec.toml")
    with open_ledger(study_dir) as ledger:
        ledger.plan(ROWS)
        for row, late_ns in zip(ROWS, (5_000_000, 900_000), strict=True):
            link = {"sound": True, "unsound_reasons": [], "lateness": {"p99_ns": late_ns}}
            folder = attempt_at(row, 1, tmp_path / row.arm, link=link)
            keep_attempt(study_dir, ledger, judge_attempt(folder, row.trial_id, 1))
        void_what_is_too_late(study, study_dir, ledger, ROWS)
        last = {trial_id: tries[-1] for trial_id, tries in ledger.attempts().items()}
    assert [trial_id for trial_id, attempt in last.items() if attempt.status == "void"] == voided
    assert {file.stem for file in study_dir.tables.glob("metrics/*.parquet")} == set(last) - set(voided)
    for trial_id in voided:
        assert "at least 5 ms late (bound 1.2 ms)" in last[trial_id].reason


def _go_on(tmp_path: Path, limits: str, late_ns: int) -> tuple[int, set[str]]:
    """Run a study once more, as `quiclab run` does, on a machine whose link is that late. Returns how many attempts at
    its block there were by then, and the statuses of its trials."""
    _run_with(tmp_path, _with(limits))
    study_dir, study = StudyDir(tmp_path / "study"), load_study(tmp_path / "spec.toml")
    (bound,) = lateness_bounds(study.paths[0], study.limits.lateness_p99)

    def run_one(row: PlanRow, number: int) -> Path:
        unsound = ["late"] if late_ns > bound.ns else []
        link = {"sound": not unsound, "unsound_reasons": unsound, "lateness": {"p99_ns": late_ns}}
        return attempt_at(row, number, tmp_path / f"{row.arm}-{number}", link=link)

    with open_ledger(study_dir) as ledger:
        ledger.plan(ROWS)
        void_what_is_too_late(study, study_dir, ledger, ROWS)
        run_all = in_order(lambda rows: Block(run_one, settler(study_dir, ledger), ledger, NOBODY, rows), Stop())
        run_blocks([ROWS], study.limits.attempts, run_all, NOBODY)
        last = [tries[-1] for tries in ledger.attempts().values()]
    return max(each.attempt for each in last), {each.status for each in last}


def test_limits_do_what_they_say_on_a_study_that_exists(tmp_path: Path) -> None:
    """A busy machine, run by run: more attempts, then a bound that the path can bear, then a narrower one again."""
    very_late = 5_000_000
    assert _go_on(tmp_path, "attempts = 1", very_late) == (1 + ROUNDS_LATER, {"void"})
    assert _go_on(tmp_path, "attempts = 1", very_late) == (3 + ROUNDS_LATER, {"void"}), "the same command tries again"
    assert _go_on(tmp_path, "attempts = 9", very_late) == (9 + ROUNDS_LATER, {"void"})
    at_least = 'attempts = 1\nlateness_p99 = "{}"'
    # A bound below the 1.2 ms that this path bears changes nothing, one above the lateness does.
    assert _go_on(tmp_path, at_least.format("1 ms"), very_late) == (11 + ROUNDS_LATER, {"void"})
    assert _go_on(tmp_path, at_least.format("6 ms"), very_late) == (14, {"verified"})
    assert _go_on(tmp_path, at_least.format("5 ms"), very_late) == (14, {"verified"}), "as late as is allowed"
    assert _go_on(tmp_path, at_least.format("4 ms"), very_late) == (14 + ROUNDS_LATER, {"void"})
    assert _go_on(tmp_path, at_least.format("4 ms"), 1_000_000) == (17, {"verified"})
