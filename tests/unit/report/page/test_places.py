# SPDX-License-Identifier: Apache-2.0
"""Every figure stands where it says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_logs import write_account
from synthetic_pages import add_pages
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.study import read_study
from quiclab.compare.study_tables import open_study
from quiclab.report.figures import FIGURES, Where
from quiclab.report.page.pair_figures import figures_of
from quiclab.report.page.pairs import cells_of
from quiclab.report.page.study_figures import study_figures
from quiclab.report.page.write import write_report

MADE_BY_THE_PAGE = {
    "differences": "differences.csv",
    "reasons": "reasons.csv",
    "distributions": "distributions.csv",
    "cumulative": "distributions.csv",
    "path": "path.csv",
    "cost": "cost.csv",
}
"""Figure → its data beside the report, to which the page's own section leads."""


def at(*places: Where) -> set[str]:
    """Names of the figures that say to stand in one of these places."""
    return {figure.name for figure in FIGURES if figure.where in places}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two networks by two sizes, with what page loads, players and competitions leave."""
    shape = replace(Shape(), workloads=("100 KB", "1 MB"), paths=("clean", "loss"), blocks=2, aa_blocks=0)
    directory = write_study(tmp_path_factory.mktemp("study"), shape)
    add_pages(directory)
    for trial in (directory / "trials").iterdir():
        write_account(directory, trial.name, 100)
    return directory


def test_a_pairs_page_has_all_figures_of_pairs_and_no_other(study: Path) -> None:
    """Drawn, or with the reason why not."""
    analysis = analyse_study(study)
    pair = cells_of(read_study(study), analysis)[0].pairs[0]
    drawn, absent = figures_of(open_study(study), analysis, pair)
    questions = {figure.question: figure.name for figure in FIGURES}
    assert drawn
    assert {questions[each.question] for each in (*drawn, *absent)} == at(Where.PAIR)


def test_sections_of_the_report_are_figures_of_the_study(study: Path) -> None:
    """By cell, along factors, and of the whole; not those of which this study has nothing."""
    found = {each.name: each for each in study_figures(read_study(study), analyse_study(study))}
    assert set(found) <= at(Where.STUDY, Where.FACTOR, Where.CELL)
    assert {"first_loss", "main_image"} <= set(found)
    assert {each.name for each in found.values() if each.by_cell} == at(Where.CELL) & set(found)
    assert at(Where.FACTOR) <= set(found)
    assert at(Where.STUDY) & set(found)


def test_the_page_leads_to_the_data_of_those_that_it_makes_itself(study: Path) -> None:
    """A figure that has no other place is one that a section of the page is about."""
    assert at(Where.PAGE) == set(MADE_BY_THE_PAGE)
    html = write_report(study).read_text(encoding="utf-8")
    for file in MADE_BY_THE_PAGE.values():
        assert f'href="report/data/{file}"' in html
        assert (study / "report" / "data" / file).is_file()
