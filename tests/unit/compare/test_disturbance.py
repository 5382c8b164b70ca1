# SPDX-License-Identifier: Apache-2.0
"""Ends of a value without the time that the laboratory added, and the selection by repeats."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.disturbance import selection
from quiclab.compare.disturbance_notes import repeats_table
from quiclab.compare.model import Comparison, TrialResult

ONE = replace(Shape(), workloads=("1 MB",), paths=("loss",), aa_blocks=0, voids=frozenset())


def _cell(folder: Path, shape: Shape, metric: str | None = None) -> Comparison:
    return analyse_study(write_study(folder, shape), metric).comparisons[0]


def _ends(trial: TrialResult) -> tuple[float, float]:
    assert trial.value is not None
    return (trial.least or trial.value) / trial.value, (trial.most or trial.value) / trial.value


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("ttlb_ms", (0.9, 1.0)), ("goodput_bit_per_s", (1.0, 1 / 0.9)), ("retransmitted_bytes", (1.0, 1.0))],
)
def test_times_and_rates_have_ends_and_counts_have_none(
    tmp_path: Path, metric: str, expected: tuple[float, float]
) -> None:
    """A time may be longer by all that was added, a rate lower by the same share of the whole time."""
    found = _cell(tmp_path, replace(ONE, disturbed={"h2": 10.0}), metric)
    assert [_ends(trial) for trial in found.baseline.trials] == [pytest.approx(expected, rel=1e-4)] * 9
    assert not found.other.is_disturbed


def test_a_part_of_the_time_may_owe_all_of_it(tmp_path: Path) -> None:
    """The handshake takes 41 ms of 1076: what was added may all have been there, and leaves a twentieth of it."""
    found = _cell(tmp_path, replace(ONE, disturbed={"h2": 1.0}), "setup_ms")
    for trial in found.baseline.trials:
        assert 0.6 < _ends(trial)[0] < 0.8
    hidden = _cell(tmp_path / "more", replace(ONE, disturbed={"h2": 50.0}), "setup_ms")
    assert [_ends(trial)[0] for trial in hidden.baseline.trials] == [pytest.approx(0.05)] * 9


def test_repeats_that_were_slower_are_told_and_allowed_for(tmp_path: Path) -> None:
    """Half as many repeats as trials count, 40 % slower than usual: the median would move up by what is told, and the
    times may be so much longer. Repeats like the others move next to nothing."""
    voids = frozenset(("loss/1 MB", "h2", block) for block in range(8))
    slower = _cell(tmp_path / "slower", replace(ONE, voids=voids, disturbed={"h2": 0.0}, repeats={"h2": 1.4}))
    like = _cell(tmp_path / "like", replace(ONE, voids=voids, disturbed={"h2": 0.0}, repeats={"h2": 1.0}))
    assert slower.baseline.selection is not None
    assert like.baseline.selection is not None
    assert slower.baseline.selection.attempts == 8
    assert slower.baseline.selection.shift_pct > 2
    assert all(
        _ends(t)[1] == pytest.approx(1 + slower.baseline.selection.shift_pct / 100) for t in slower.baseline.trials
    )
    assert like.baseline.selection.shift_pct < 0
    assert slower.interval_pct is not None
    assert slower.disturbance_pct > 1
    assert slower.other.selection is None


def test_slow_blocks_that_are_repeated_more_often_choose_nothing() -> None:
    """Blocks with losses take three times as long in every attempt, and are repeated. One whose repeated attempts were
    slower than the one that counts moves the arm."""
    counted = {block: 100.0 if block < 10 else 300.0 for block in range(15)}
    like = selection(counted, {block: [300.0, 300.0] for block in range(10, 15)})
    assert like is not None
    assert (like.attempts, like.shift_pct) == (10, 0)
    chosen = selection(counted, {block: [150.0] for block in range(6)})
    assert chosen is not None
    assert chosen.shift_pct == pytest.approx(100 * (1.5 ** (6 / 15) - 1))
    assert selection(counted, {99: [100.0]}) is None


def test_the_table_of_repeats_has_each_arm_of_a_cell_once(tmp_path: Path) -> None:
    """Each row has the change of the arm's typical time."""
    voids = frozenset(("loss/1 MB", "h2", block) for block in range(8))
    shape = replace(ONE, voids=voids, disturbed={"h2": 0.0}, repeats={"h2": 1.4})
    ((_, arm, trials, attempts, shift),) = repeats_table(analyse_study(write_study(tmp_path, shape))).rows
    assert (arm, trials, attempts) == ("h2", "9", "8")
    assert shift.startswith("+")


def test_a_study_that_does_not_know_says_so(tmp_path: Path) -> None:
    """One of an earlier version has no such metric: it is analysed as it was measured."""
    without, partly = (
        analyse_study(write_study(tmp_path / str(len(known)), replace(ONE, disturbed=known)))
        for known in ({}, {"h2": 0.0})
    )
    assert any("how much this machine added to the time of any trial" in note for note in without.notes)
    assert any("how much this machine added to the time of 9 trials" in note for note in partly.notes)
    assert without.comparisons[0].disturbance_pct == 0
    known = analyse_study(write_study(tmp_path / "both", replace(ONE, disturbed={"h2": 0.0, "h3": 0.0})))
    assert not any("not known how much" in note for note in known.notes)
