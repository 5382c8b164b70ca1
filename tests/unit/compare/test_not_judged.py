# SPDX-License-Identifier: Apache-2.0
"""Cells that the laboratory spoiled: told apart from what the trials leave open, and everywhere in the same word."""

from __future__ import annotations

import json
from dataclasses import replace
from html import unescape
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console
from synthetic_study import Shape, write_study

from quiclab.cli.as_json import as_json
from quiclab.compare.analyse import analyse_study
from quiclab.compare.comparison_words import measured_parts
from quiclab.compare.factor_effects import factor_tables
from quiclab.compare.model import Conclusion, Outcome, StudyAnalysis
from quiclab.compare.not_judged import why_not_judged
from quiclab.compare.rows import differences
from quiclab.compare.study import read_study
from quiclab.report.figures import spec
from quiclab.report.figures.difference_map import DifferenceMap
from quiclab.report.page.write import write_report
from quiclab.report.words.answers import answers
from quiclab.report.words.short_answer import verdict
from quiclab.report.words.terminal import render

ONE = replace(Shape(), workloads=("1 MB",), paths=("loss",), aa_blocks=0, voids=frozenset(), failures=frozenset())


def _analysis(folder: Path, shape: Shape) -> StudyAnalysis:
    return analyse_study(write_study(folder, shape))


@pytest.mark.parametrize(
    ("most_pct", "conclusion"),
    [(0.0, Conclusion.DIFFERENT), (5.0, Conclusion.DIFFERENT), (40.0, Conclusion.NOT_JUDGED)],
)
def test_a_disturbance_counts_only_where_it_could_turn_the_answer(
    tmp_path: Path, most_pct: float, conclusion: Conclusion
) -> None:
    """H3 takes 22 % less: 5 % in the slower arm leave that, 40 % could be all of it. The interval allows for it."""
    (found,) = _analysis(tmp_path, replace(ONE, disturbed={"h2": most_pct, "h3": 0.0})).comparisons
    assert found.conclusion is conclusion
    assert found.outcome is (Outcome.NOT_JUDGED if conclusion is Conclusion.NOT_JUDGED else Outcome.OTHER_BETTER)
    (measured,) = _analysis(tmp_path / "measured", ONE).comparisons
    assert found.difference_pct == measured.difference_pct
    assert found.interval_pct is not None
    assert measured.interval_pct is not None
    assert found.interval_pct.low == measured.interval_pct.low
    assert found.interval_pct.high - measured.interval_pct.high == pytest.approx(found.disturbance_pct)
    assert (found.disturbance_pct > 0) == (most_pct > 0)


def test_a_disturbance_of_the_faster_arm_cannot_turn_its_answer(tmp_path: Path) -> None:
    """The faster arm would only be faster still without it."""
    (found,) = _analysis(tmp_path, replace(ONE, disturbed={"h2": 0.0, "h3": 40.0})).comparisons
    assert found.conclusion is Conclusion.DIFFERENT


def test_arms_that_are_alike_are_not_judged_where_a_difference_could_hide(tmp_path: Path) -> None:
    """Both arms are alike to within 5 % over the clean path, and 10 % in one of them could hide a difference."""
    shape = replace(ONE, paths=("clean",), blocks=30, resolved={"matters_pct": 5.0})
    known = {"h2": 0.0, "h3": 0.0}
    (alike,) = _analysis(tmp_path / "a", replace(shape, disturbed=known)).comparisons
    (spoiled,) = _analysis(tmp_path / "b", replace(shape, disturbed=known | {"h3": 10.0})).comparisons
    assert alike.conclusion is Conclusion.MEDIAN_ALIKE
    assert spoiled.conclusion is Conclusion.NOT_JUDGED
    assert "hide a difference of 5 % or more" in spoiled.why


def test_what_the_trials_leave_open_is_undecided_and_no_fault_of_the_machine(tmp_path: Path) -> None:
    """A small disturbance changes nothing in that."""
    shape = replace(ONE, paths=("clean",), resolved={"matters_pct": 0.1}, disturbed={"h2": 1.0, "h3": 1.0})
    (found,) = _analysis(tmp_path, shape).comparisons
    assert found.conclusion is Conclusion.UNDECIDED


def test_fewer_pairs_than_planned_are_judged_where_they_decide(tmp_path: Path) -> None:
    """Seven of nine pairs show a difference of 22 %; of four no test can, which more would have."""

    def lost(blocks: int) -> Shape:
        return replace(ONE, lost=frozenset(("loss/1 MB", "h3", block) for block in range(blocks)))

    analysis = _analysis(tmp_path / "two", lost(2))
    (found,) = analysis.comparisons
    assert (found.pairs, found.lost, found.conclusion) == (7, 2, Conclusion.DIFFERENT)
    assert any("7 of 9 pairs" in note for note in analysis.notes)
    (few,) = _analysis(tmp_path / "five", lost(5)).comparisons
    assert (few.conclusion, few.outcome) == (Conclusion.NOT_JUDGED, Outcome.NOT_JUDGED)
    assert "4 of 9 pairs" in few.why
    (none,) = _analysis(tmp_path / "all", lost(9)).comparisons
    assert none.conclusion is Conclusion.NOT_JUDGED


@pytest.mark.parametrize(("pairs", "lost", "named"), [(46, 1, False), (45, 5, False), (44, 6, True), (6, 1, True)])
def test_few_lost_pairs_of_many_are_no_reason(pairs: int, lost: int, named: bool) -> None:
    """A cell of 46 pairs that is open would be with 47, too: the trials leave it open, and not the machine."""
    why = why_not_judged(Conclusion.UNDECIDED, Conclusion.UNDECIDED, pairs, lost, 2.0)
    assert bool(why) == named


def _with_disturbance(study: Path, cell: str, pct: float) -> None:
    """Change what the laboratory added at most to the trials of one cell, in per cent of their times."""
    trials = pl.read_parquet(study / "tables" / "trials.parquet")
    ids = trials.filter(pl.col("cell_id") == cell)["trial_id"].to_list()
    metrics = pl.read_parquet(study / "metrics.parquet")
    times = metrics.filter(name="ttlb_ms").select("trial_id", took="value")
    is_its = pl.col("trial_id").is_in(ids) & (pl.col("name") == "disturbance_most_ms")
    value = pl.when(is_its).then(pl.col("took") * pct / 100).otherwise("value")
    joined = metrics.join(times, on="trial_id", how="left", maintain_order="left")
    joined.with_columns(value=value).drop("took").write_parquet(study / "metrics.parquet")


@pytest.mark.parametrize(("pct", "own"), [(0.0, False), (0.3, False), (40.0, True)])
def test_a_cell_that_others_leave_open_says_which(tmp_path: Path, pct: float, own: bool) -> None:
    """Six pairs that point one way are significant in three cells together, and in one of three they are not: where
    two are disturbed the third has no answer, and its own trials are not blamed for that."""
    sizes = ("100 KB", "1 MB", "5 MB")
    write_study(tmp_path, replace(ONE, workloads=sizes, blocks=6, disturbed={"h2": 40.0, "h3": 0.0}))
    _with_disturbance(tmp_path, "1 MB/loss", pct)
    found = {each.cell_id: each for each in analyse_study(tmp_path).comparisons}
    assert {each.conclusion for each in found.values()} == {Conclusion.NOT_JUDGED}
    assert ("those of 100 KB/loss and 5 MB/loss leaves" in found["1 MB/loss"].why) != own
    for cell in found.keys() - (set() if own else {"1 MB/loss"}):
        assert "what this machine added to the trials could account for their difference" in found[cell].why


def test_a_cell_that_needs_no_other_is_judged_beside_disturbed_ones(tmp_path: Path) -> None:
    """Nine pairs that point one way are significant even if no other cell has an answer."""
    write_study(tmp_path, replace(ONE, workloads=("100 KB", "1 MB", "5 MB"), disturbed={"h2": 40.0, "h3": 0.0}))
    _with_disturbance(tmp_path, "1 MB/loss", 0.3)
    found = {each.cell_id: each.conclusion for each in analyse_study(tmp_path).comparisons}
    assert found.pop("1 MB/loss") is Conclusion.DIFFERENT
    assert set(found.values()) == {Conclusion.NOT_JUDGED}


def test_every_output_says_so_with_the_numbers(tmp_path: Path) -> None:
    """Answer, terminal, rows, JSON and map, the map in a shade and with a line of its own."""
    analysis = _analysis(tmp_path, replace(ONE, disturbed={"h2": 40.0, "h3": 0.0}))
    (answer,) = answers(analysis)
    (comparison,) = analysis.comparisons
    measured = measured_parts(comparison, analysis.metric)
    size, span, confidence, pairs = measured
    assert (size.split(" % ")[1], confidence, pairs) == ("less time", "96.1 % confidence", "9 pairs")
    assert "…" in span
    (sentence,) = answer.sentences
    assert sentence.startswith("h3 against h2: not judged for 1 MB (measured ")
    for told in (sentence, verdict(comparison, analysis), unescape(write_report(tmp_path).read_text())):
        assert all(part in told for part in measured)
        assert "the interval allows for what this machine added" in told
    console = Console(width=120, record=True)
    render(analysis, console)
    printed = console.export_text()
    (cell,) = differences(analysis).iter_rows(named=True)
    assert (cell["conclusion"], cell["outcome"]) == ("not judged", "not_judged")
    assert cell["cell_text"].endswith(" %, not judged")
    assert cell["cell_text"].removesuffix(", not judged") in printed
    assert "Disturbed (1 % loss, 1 MB)" in printed
    assert json.loads(json.dumps(as_json(analysis)))["comparisons"][0]["conclusion"] == "not judged"
    drawn = spec(DifferenceMap().draw(differences(analysis)))
    assert drawn["data"][0]["z"] == [[2]]
    assert "darker grey: not judged, disturbed" in drawn["layout"]["title"]["text"]
    assert "undecided, more pairs" not in drawn["layout"]["title"]["text"]


def test_factors_leave_such_cells_out_and_say_so(tmp_path: Path) -> None:
    """A cell without its pairs is in no average over cells."""
    lost = frozenset(("loss/1 MB", "h3", block) for block in range(6))
    shape = replace(Shape(), voids=frozenset(), failures=frozenset(), aa_blocks=0, workloads=("1 MB",), lost=lost)
    write_study(tmp_path, shape)
    (table,) = factor_tables(read_study(tmp_path), analyse_study(tmp_path))
    assert "not judged: 1 % loss, 1 MB" in table.note + table.empty
