# SPDX-License-Identifier: Apache-2.0
"""A sequential study: decided by its own test, and said to be one."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.model import Conclusion, Outcome
from quiclab.compare.sequential import sequential_table, state
from quiclab.compare.study import read_study
from quiclab.report.page.write import write_report
from quiclab.store.go_on import OPEN


def _study(folder: Path, **shape: object) -> Path:
    write_study(folder, Shape(workloads=("1 MB",), paths=("clean", "loss"), voids=frozenset(), **shape))  # type: ignore[arg-type]
    rule = {"version": 1, "effect_pct": 5, "at_most": 60, "blocks": {"1 MB/loss": 12}, "looks": [{}, {}]}
    (folder / "sequential.json").write_text(json.dumps(rule))
    return folder


def test_it_is_decided_by_the_sequence(tmp_path: Path) -> None:
    """Different in one cell, alike in the other, each with an interval that says why; Bonferroni over both."""
    folder = _study(tmp_path, blocks=30)
    clean, loss = analyse_study(folder).comparisons
    assert (clean.path, loss.path) == ("clean", "loss")
    assert state(loss) == "different"
    assert state(clean) == "median alike"  # of a tail thirty pairs tell nothing
    assert loss.p is not None
    assert loss.adjusted_p == min(1, 2 * loss.p)
    assert loss.interval_pct is not None
    assert loss.interval_pct.confidence == 1 - 0.05 / 2
    assert loss.interval_pct.high < 0
    assert (clean.outcome.value, loss.outcome.value) == ("not_significant", "other_better")


def test_pairs_are_taken_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    """Blocks that were void at first come later than their number says; tables of earlier versions do not tell when."""
    folder = _study(tmp_path, blocks=30)
    by_number = [each.p for each in analyse_study(folder).comparisons]
    told = {}
    for name, sign in (("in order", 1), ("reversed", -1)):
        file = folder / "tables" / "trials.parquet"
        minute = 30 + sign * (pl.col("block").fill_null(0) - 30)
        began = pl.datetime(2026, 1, 1) + pl.duration(minutes=minute)
        pl.read_parquet(file).with_columns(began_utc=began.dt.strftime("%Y-%m-%dT%H:%M:%S+00:00")).write_parquet(file)
        told[name] = [each.p for each in analyse_study(folder).comparisons]
    assert told["in order"] == by_number
    assert told["reversed"] != by_number


def test_what_seven_pairs_decide_elsewhere_stays_open(tmp_path: Path) -> None:
    """The fixed test calls the difference significant; the sequence of two could, at its clearest."""
    folder = _study(tmp_path, blocks=7)
    assert [state(each) for each in analyse_study(folder).comparisons] == [OPEN, OPEN]
    assert [each.outcome for each in analyse_study(folder).comparisons] == [Outcome.NOT_SIGNIFICANT] * 2
    (folder / "sequential.json").unlink()
    assert analyse_study(folder).comparisons[1].outcome.significant
    assert sequential_table(read_study(folder), analyse_study(folder)) == []


@pytest.mark.parametrize(("most_pct", "expected"), [(2.0, "different"), (30.0, OPEN)])
def test_a_disturbance_that_could_make_the_difference_leaves_a_cell_open(
    tmp_path: Path, most_pct: float, expected: str
) -> None:
    """The interval excludes zero by some 20 %: what the machine may have added to the slower arm reaches as far, or
    does not."""
    folder = _study(tmp_path, blocks=30, disturbed={"h2": most_pct, "h3": 0.0})
    found = analyse_study(folder).comparisons[1]
    assert state(found) == expected
    assert (found.conclusion is Conclusion.NOT_JUDGED) == (expected == OPEN)


def test_what_matters_is_what_until_was_told(tmp_path: Path) -> None:
    """A difference of 22 % is decided to be less than 40 % and more than 5 %, and stays open at 22 %."""
    folder = _study(tmp_path, blocks=30)
    states = []
    for effect_pct in (40, 22.5, 5):
        rule = {"version": 1, "effect_pct": effect_pct, "at_most": 60, "blocks": {}, "looks": [{}]}
        (folder / "sequential.json").write_text(json.dumps(rule))
        analysis = analyse_study(folder)
        assert analysis.matters_pct == effect_pct
        states.append(state(analysis.comparisons[1]))
    assert states == [Conclusion.SMALL, OPEN, Conclusion.DIFFERENT]
    assert analysis.comparisons[1].interval_pct is not None


def test_a_cell_in_which_all_failed_is_not_called_alike(tmp_path: Path) -> None:
    """Two failures are a tie, and thirty ties an interval from 0 to 0: nothing was measured all the same."""
    failures = frozenset(("clean/1 MB", arm, block) for arm in ("h2", "h3") for block in range(30))
    found = analyse_study(_study(tmp_path, blocks=30, failures=failures)).comparisons[0]
    assert found.outcome is Outcome.NOT_MEASURED
    assert state(found) == OPEN


def test_the_report_says_so(tmp_path: Path) -> None:
    """That it was sequential, the bound, how often it was looked at, and by what it was decided."""
    folder = _study(tmp_path, blocks=30)
    page = write_report(folder).read_text()
    for words in (
        "This study was sequential",
        "at most 60 pairs",
        "looked at 2 times",
        "Bonferroni",
        "When it stopped",
    ):
        assert words in page
    assert "exact signed-rank test of the pairs decides" not in page
