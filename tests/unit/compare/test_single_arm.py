# SPDX-License-Identifier: Apache-2.0
"""A study of a single arm: its numbers are there, and nothing is compared."""

from __future__ import annotations

import io
import json
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console
from synthetic_study import Shape, write_study

from quiclab.cli.main import main
from quiclab.compare.analyse import analyse_study
from quiclab.compare.factors import factor
from quiclab.compare.study import read_study
from quiclab.report.page.write import write_report
from quiclab.report.words.results import results_table
from quiclab.report.words.terminal import render


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """The usual study without its arm h2."""
    write_study(tmp_path, Shape(aa_blocks=0))
    table = tmp_path / "tables" / "trials.parquet"
    pl.read_parquet(table).filter(arm="h3").with_columns(baseline_arm=pl.lit("h3")).write_parquet(table)
    resolved = json.loads((tmp_path / "resolved.json").read_text())
    resolved |= {"baseline": "h3", "arms": [each for each in resolved["arms"] if each["name"] == "h3"]}
    (tmp_path / "resolved.json").write_text(json.dumps(resolved))
    return tmp_path


def test_every_cell_has_the_numbers_of_the_arm(study: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The same that it has beside another arm."""
    found = analyse_study(study)
    both = analyse_study(write_study(tmp_path_factory.mktemp("both"), Shape(aa_blocks=0)))
    assert not found.comparisons
    assert {each.cell_id: each.arm.median for each in found.alone} == {
        each.cell_id: each.other.median for each in both.comparisons
    }
    assert found.paths == both.paths
    assert not both.alone


def test_terminal_and_page_have_them(study: Path) -> None:
    """A row for each cell, and no sentence about a difference."""
    analysis = analyse_study(study)
    printed = io.StringIO()
    render(analysis, Console(file=printed, width=100))
    rows = results_table(analysis).rows
    assert len(rows) == len(analysis.alone) == 9
    page = write_report(study).read_text(encoding="utf-8")
    for row in rows:
        assert row[2] in printed.getvalue()
        assert row[2] in page
    assert 'id="map"' not in page
    trials = pl.read_csv(study / "report" / "data" / "distributions.csv")
    assert set(trials["arm"]) == {"h3"}
    assert trials["cell_id"].n_unique() == 9


def test_a_factor_is_followed_along_one_arm(study: Path) -> None:
    """The axis is as real as with two."""
    data = factor(read_study(study), analyse_study(study), "size")
    assert set(data["arm"]) == {"h3"}
    assert data["x"].n_unique() == 3


def test_two_arms_of_which_one_has_run_are_no_single_arm(tmp_path: Path) -> None:
    """The other one is still to come."""
    write_study(tmp_path, Shape(aa_blocks=0))
    table = tmp_path / "tables" / "trials.parquet"
    pl.read_parquet(table).filter(arm="h3").write_parquet(table)
    assert not analyse_study(tmp_path).alone


def test_a_figure_of_differences_says_that_there_is_nothing(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And not that a table is damaged."""
    assert main(["figure", "differences", str(study), "-o", str(study / "map.html")]) == 2
    assert "nothing that the figure could show" in capsys.readouterr().err
