# SPDX-License-Identifier: Apache-2.0
"""A run as its output has it: while trials run where no bar is drawn, and when they are over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from specs import study_of

from quiclab.cli.trials import Bar, tell
from quiclab.model.errors import ExitCode
from quiclab.model.plan_row import PlanRow, by_block
from quiclab.plan.make import make_plan
from quiclab.store.layout import Attempt
from quiclab.study.disturbed import DisturbedBlocks
from quiclab.study.observer import Beginning
from quiclab.study.trials import Outcome

_BUSY = "disturbed: this machine added {} ms (3.1 %): packets left the link late"


@pytest.mark.parametrize(
    ("trials", "told"),
    [
        ((), ""),
        (("7e57",), "trial 7e57 has no tables yet: `quiclab report` makes them, or says what is wrong"),
        (("7e57", "07e5"), "trial 7e57 and 1 other have no tables yet: `quiclab report` makes them, or says what is"),
        (("7e57", "07e5", "a"), "trial 7e57 and 2 others have no tables yet: `quiclab report` makes them, or says"),
    ],
)
def test_trials_without_tables(trials: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is lost: the code stays that of the trials. Nothing is told where a report makes them anyway."""
    outcome = Outcome(0, 0, 0, {}, without_tables=trials)
    assert tell(outcome) == 0
    assert capsys.readouterr().out == ""
    assert tell(outcome, tables_follow=False) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith(told)
    assert bool(out) == bool(told)


_LACKS = DisturbedBlocks({"1MB/plain": 1}, {"1MB/plain/aa-h2": 2})
_CONTROL_LACKS = DisturbedBlocks({}, {"1MB/plain/aa-h2": 2})


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (Outcome(0, 0, 0, {}), ExitCode.OK),
        (Outcome(0, 0, 4, {}, disturbed=_CONTROL_LACKS), ExitCode.OK),
        (Outcome(0, 0, 6, {}, disturbed=_LACKS), ExitCode.NOT_JUDGED),
        (Outcome(1, 0, 6, {}, disturbed=_LACKS), ExitCode.TRIALS_FAILED),
        (Outcome(0, 1, 0, {}), ExitCode.TRIALS_FAILED),
        (Outcome(0, 0, 0, {"7e57": "lost"}), ExitCode.TRIALS_FAILED),
    ],
)
def test_the_code_tells_an_endpoints_failure_from_a_disturbed_trial(outcome: Outcome, code: ExitCode) -> None:
    assert tell(outcome) == code


def test_what_stayed_disturbed_is_told_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    tell(Outcome(0, 0, 6, {}, again=10, disturbed=_LACKS), "That command")
    told = " ".join(capsys.readouterr().out.split())
    assert told.startswith("4 of 10 repeated trials now count.")
    assert "1 block of 1MB/plain and 2 blocks of 1MB/plain/aa-h2" in told
    assert "That command tries them again" in told


@pytest.fixture
def blocks(tmp_path: Path) -> Sequence[Sequence[PlanRow]]:
    """The pairs of a small study."""
    return list(by_block(make_plan(study_of(tmp_path))).values())


def _begun(tmp_path: Path, blocks: Sequence[Sequence[PlanRow]]) -> Bar:
    """The bar of a run whose output is no terminal."""
    bar = Bar()
    bar.began(Beginning(study_of(tmp_path), "veth", "as asked", {}, [row for block in blocks for row in block]))
    return bar


def _run(bar: Bar, row: PlanRow, number: int = 1, status: str = "verified", reason: str = "") -> None:
    bar.running(row)
    bar.ended(row, Attempt(row.trial_id, number, status, reason))


def test_repeats_are_one_line_at_the_end_and_failures_one_each(
    tmp_path: Path, blocks: Sequence[Sequence[PlanRow]], capsys: pytest.CaptureFixture[str]
) -> None:
    """A trial that ran again under another attempt is one repeat; a block that stayed void was not repeated then."""
    bar = _begun(tmp_path, blocks)
    first, second, third = blocks[0][0], blocks[0][1], blocks[1][0]
    _run(bar, first, 1, "void", _BUSY.format("4"))
    _run(bar, first, 2)
    _run(bar, second, 2, "void", _BUSY.format("12.5"))
    for row in blocks[0]:
        _run(bar, row, 3)
    bar.block_over(blocks[0], void=False)
    _run(bar, third, 1, "failed", "no answer [at all]")
    _run(bar, blocks[1][1], 1, "void", _BUSY.format("99"))
    bar.block_over(blocks[1], void=True)
    assert "late" not in capsys.readouterr().out
    bar.over()
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "2 trials repeated: packets left the link late"


def test_a_failed_trial_is_told_at_once(
    tmp_path: Path, blocks: Sequence[Sequence[PlanRow]], capsys: pytest.CaptureFixture[str]
) -> None:
    bar = _begun(tmp_path, blocks)
    _run(bar, blocks[0][0], 1, "failed", "no answer [at all]")
    assert "no answer [at all]" in capsys.readouterr().out
    bar.over()


def test_progress_in_a_pipe_counts_pairs_and_repeats(
    tmp_path: Path, blocks: Sequence[Sequence[PlanRow]], capsys: pytest.CaptureFixture[str]
) -> None:
    bar = _begun(tmp_path, blocks)
    _run(bar, blocks[0][0], 1, "void", _BUSY.format("4"))
    for row in blocks[0]:
        _run(bar, row, 2)
    bar.block_over(blocks[0], void=False)
    capsys.readouterr()
    bar.print_progress()
    assert capsys.readouterr().out.startswith(f"1 of {len(blocks)} pairs, 1 trial repeated, about ")
    bar.over()


def test_a_deadline_bounds_the_time_that_is_left(
    tmp_path: Path, blocks: Sequence[Sequence[PlanRow]], capsys: pytest.CaptureFixture[str]
) -> None:
    """No block begins after it, whatever is planned."""
    bar = Bar(until_s=0.0)
    bar.began(Beginning(study_of(tmp_path), "veth", "as asked", {}, [row for block in blocks for row in block]))
    capsys.readouterr()
    bar.print_progress()
    assert capsys.readouterr().out.rstrip().endswith(" about 0 s left")
    bar.over()


def test_many_repeats_are_told_once_after_ten_trials(
    tmp_path: Path, blocks: Sequence[Sequence[PlanRow]], capsys: pytest.CaptureFixture[str]
) -> None:
    bar = _begun(tmp_path, blocks)
    row = blocks[0][0]
    told = []
    for number in range(1, 15):
        void = number % 2 == 0
        _run(bar, row, number, *(("void", _BUSY.format("4")) if void else ()))
        told.append(capsys.readouterr().out)
    assert [number for number, each in enumerate(told, 1) if "repeated" in each] == [10]
    assert told[9].startswith("5 of 10 trials were disturbed")
    assert len(told[9].splitlines()) == 2
    bar.over()


def test_few_repeats_are_not(
    tmp_path: Path, blocks: Sequence[Sequence[PlanRow]], capsys: pytest.CaptureFixture[str]
) -> None:
    bar = _begun(tmp_path, blocks)
    for number in range(1, 13):
        _run(bar, blocks[0][0], number, *(("void", _BUSY.format("4")) if number % 3 == 0 else ()))
    assert "disturbed" not in capsys.readouterr().out
    bar.over()
