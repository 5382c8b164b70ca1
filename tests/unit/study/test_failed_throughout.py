# SPDX-License-Identifier: Apache-2.0
"""A program that failed in every attempt has failed, although its block was disturbed each time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from unit.study.rows import OTHER, ROW, attempt_at

from quiclab.model.plan_row import PlanRow
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.blocks import Block, InTurn, run_blocks
from quiclab.study.failed_throughout import fail_what_never_worked
from quiclab.study.observer import NOBODY
from quiclab.study.stopping import Stop
from quiclab.study.trial import settler
from quiclab.study.verification import State, verification

_MS = 1_000_000


def _went(study: StudyDir, memory: Path, attempts: dict[str, list[str]]) -> dict[str, tuple[str, str]]:
    """Run a block of two trials as often as each arm has words of its attempts: `good`, `fails`, `disturbed`, or both
    of the latter. Returns how the last attempt of each arm ended."""

    def run_one(row: PlanRow, number: int) -> Path:
        words = attempts[row.arm][number - 1]
        waited_ns = 90 * _MS if "disturbed" in words else 0
        delay = {"sum_ns": waited_ns, "longest_ns": waited_ns, "longest_turns": 1}
        host = {"cost": {"client": {"run_delay": delay}}, "server_tcp_congestion_control": "reno"}
        failure = f"attempt {number} ended with exit code 3" if "fails" in words else None
        void = "the clock was set" if "void" in words else None
        changes = {"host": host, "failure": failure, "void": void, "time_ns": {"transfer": 100 * _MS}}
        return attempt_at(row, number, memory / f"{row.arm}-{number}", tolerated=0.01, **changes)

    study.create()
    with open_ledger(study) as ledger:
        ledger.plan([ROW, OTHER])
        executor = InTurn(lambda rows: Block(run_one, settler(study, ledger), ledger, NOBODY, rows), Stop())
        run_blocks([[ROW, OTHER]], len(attempts["h2"]), executor, NOBODY, 0)
        number = fail_what_never_worked(study, ledger, [ROW, OTHER])
        tries = ledger.attempts()
        last = {row.arm: tries[row.trial_id][-1] for row in (ROW, OTHER) if row.trial_id in tries}
    failed = [each for each in last.values() if each.reason.startswith("failed in every attempt")]
    assert len(failed) == number
    return {arm: (each.status, each.reason) for arm, each in last.items()}


@pytest.mark.parametrize("own", ["fails", "fails disturbed"])
def test_a_failure_in_every_attempt_is_no_disturbance(tmp_path: Path, own: str) -> None:
    """Its partner was disturbed each time, or it was itself; the block stays void."""
    went = _went(StudyDir(tmp_path / "study"), tmp_path, {"h3": [own] * 8, "h2": ["disturbed"] * 8})
    assert went["h3"][0] == "failed"
    assert went["h3"][1].endswith("ended with exit code 3")
    assert went["h2"][0] == "void"


@pytest.mark.parametrize(
    "own",
    [["disturbed"] + ["fails disturbed"] * 7, ["fails void"] * 8, ["good"] * 8, ["disturbed"] * 8],
    ids=["it worked once", "the laboratory ended it", "it worked", "it worked slowly"],
)
def test_what_may_be_the_laboratorys_fault_stays_void(tmp_path: Path, own: list[str]) -> None:
    """A program that did what was asked in some attempt, or was ended from outside."""
    went = _went(StudyDir(tmp_path / "study"), tmp_path, {"h3": own, "h2": ["disturbed"] * 8})
    assert {status for status, _ in went.values()} == {"void"}


def test_a_verification_finds_it_as_it_is(tmp_path: Path) -> None:
    """No raw file gives such a verdict by itself, and all attempts together do."""
    study = StudyDir(tmp_path / "study")
    _went(study, tmp_path, {"h3": ["fails disturbed"] * 6, "h2": ["good"] * 6})
    study.resolved.write_text("{}")
    found = verification(study)
    assert {each.state for each in found.attempts} == {State.SAME}, found
    assert {each.arm for each in found.attempts} == {"h2", "h3"}
    with open_ledger(study) as ledger:
        last = ledger.attempts()[ROW.trial_id][-1]
        ledger.record(replace(last, reason=f"{last.reason} or so"))
    assert State.DIFFERS in {each.state for each in verification(study).attempts}
