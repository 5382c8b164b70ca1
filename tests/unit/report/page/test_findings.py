# SPDX-License-Identifier: Apache-2.0
"""Factors, least times and false alarms of synthetic studies, and their place on the page."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.cell_comparison import arm_result
from quiclab.compare.factor_effects import factor_tables
from quiclab.compare.false_alarms import against_itself, false_alarm_table, false_alarm_verdict
from quiclab.compare.model import Metric, TrialResult
from quiclab.compare.statistics import share_interval
from quiclab.compare.study import read_study
from quiclab.report.page.write import findings, write_report

TTLB = Metric("ttlb_ms", "time", "ms", lower_is_better=True)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three networks by two sizes, 14 blocks: h3 is faster with loss only."""
    shape = Shape(workloads=("100 KB", "1 MB"), blocks=14, failures=frozenset(), slower=frozenset())
    return write_study(tmp_path_factory.mktemp("findings"), shape)


def test_the_network_changes_the_difference_and_the_size_does_not(study: Path) -> None:
    """The rows say which factor does; blank is what does not."""
    (table,) = factor_tables(read_study(study), analyse_study(study))
    rows = {row[0]: row for row in table.rows}
    assert len(rows) == 3
    network = next(row for name, row in rows.items() if "×" not in name and row[3])
    assert network[3].startswith("−")
    assert network[3].endswith(" %")
    size = next(row for name, row in rows.items() if name in ("bytes of the transfer", "workload"))
    assert size[3] == ""


def test_few_pairs_and_one_cell(tmp_path: Path) -> None:
    """Said, or left away: one cell has no factors."""
    few = write_study(tmp_path / "few", Shape(blocks=4, voids=frozenset(), failures=frozenset()))
    (table,) = factor_tables(read_study(few), analyse_study(few))
    assert table.rows == ()
    assert "Too few pairs" in table.empty
    one = write_study(tmp_path / "one", Shape(workloads=("1 MB",), paths=("clean",)))
    assert factor_tables(read_study(one), analyse_study(one)) == []


def _arm(values: list[float]) -> tuple[TrialResult, ...]:
    return tuple(TrialResult(str(n), n, "verified", value, "") for n, value in enumerate(values))


def test_an_arm_against_itself_does_not_see_a_drift() -> None:
    """Every other difference is turned round: a steady trend adds nothing to either sign."""
    arm = arm_result("h2", _arm([float(n) for n in range(16)]), 16, 0, TTLB)
    differences = against_itself(arm, TTLB)
    assert differences.size == 8
    assert (differences > 0).sum() == (differences < 0).sum() == 4


def test_false_alarms_are_rare_in_an_honest_study(study: Path) -> None:
    """A/A cells of 9 pairs and each arm of each cell against itself are tested; few or none are different, which so
    few tests do not make an honest study."""
    table = false_alarm_table(analyse_study(study))
    counts = {row[0]: (int(row[1]), int(row[3])) for row in table.rows}
    assert counts["A/A cells"][0] == 2
    assert counts["both"][0] == 2 + 3 * 2 * 2
    assert counts["both"][1] <= 3
    assert table.rows[-1][-1] == "too few to tell"


@pytest.mark.parametrize(
    ("tests", "alarms", "verdict"),
    [(1, 0, "too few to tell"), (35, 0, "too few to tell"), (36, 0, "no more than alpha"), (36, 3, "too few to tell"),
     (300, 15, "no more than alpha"), (20, 5, "too many")],
)  # fmt: skip
def test_what_can_be_told_of_so_many_tests(tests: int, alarms: int, verdict: str) -> None:
    """Twice the nominal 5 % must be excluded before the test is said to keep its level."""
    assert false_alarm_verdict(share_interval(alarms, tests, 0.95), 0.05) == verdict


def test_arms_of_one_cell_are_one_test_for_the_interval(study: Path) -> None:
    """Twelve tests of six cells: the interval is that of six."""
    row = next(row for row in false_alarm_table(analyse_study(study)).rows if row[0].startswith("an arm"))
    alarms = int(row[3])
    assert row[1:3] == ("12", "6")
    interval = share_interval(alarms / 2, 6, 0.95)
    assert row[5] == f"{100 * interval.low:.1f} … {100 * interval.high:.1f} %"


def test_a_laboratory_that_cries_wolf_is_called_out(tmp_path: Path) -> None:
    """Trials that depend on their block's parity make far too many alarms, and the table says so."""
    folder = write_study(tmp_path, Shape(blocks=24, aa_blocks=0, failures=frozenset(), voids=frozenset()))
    trials = pl.read_parquet(folder / "tables" / "trials.parquet").select("trial_id", "block")
    metrics = pl.read_parquet(folder / "metrics.parquet").join(trials.unique("trial_id"), on="trial_id")
    odd = pl.col("block").is_in([n for n in range(24) if n % 4 in (1, 2)])
    metrics = metrics.with_columns(value=pl.when(odd).then(pl.col("value") * 2).otherwise(pl.col("value"))).drop(
        "block"
    )
    metrics.write_parquet(folder / "metrics.parquet")
    assert false_alarm_table(analyse_study(folder)).rows[-1][-1] == "too many"


def test_all_of_it_is_on_the_page(study: Path) -> None:
    """In a section of its own, each table with its title."""
    page = write_report(study).read_text()
    for table in findings(read_study(study), analyse_study(study)):
        assert table.title in page
    assert page.count('id="findings"') == 1
