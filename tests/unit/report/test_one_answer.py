# SPDX-License-Identifier: Apache-2.0
"""The terminal, the page, its data and `explain --json`: of each cell one verdict and one sign."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from by_night import by_night
from rich.console import Console
from synthetic_study import Shape, write_study

from quiclab.cli.main import main
from quiclab.compare.analyse import analyse_study
from quiclab.compare.model import Comparison, Conclusion, Outcome, StudyAnalysis
from quiclab.report.page.write import write_report
from quiclab.report.words.terminal import _STYLES, render

CLEAR = Shape(workloads=("1 MB", "5 MB"))
SHAPES = {
    "clear": CLEAR,
    "few": replace(CLEAR, blocks=5, aa_blocks=5),
    "disturbed": replace(CLEAR, disturbed={"h2": 14.0, "h3": 14.0}),
    "lost": Shape(lost=frozenset(("clean/1 MB", arm, block) for arm in ("h2", "h3") for block in range(5))),
    "slower": replace(CLEAR, factors={"h3": 1.6}),
}
_IN_A_COLUMN = {Conclusion.SMALL: "small", Conclusion.PERHAPS_SMALL: "small?", Conclusion.NOT_MEASURED: "no data",
                Conclusion.MEDIAN_ALIKE: "median eq."}  # fmt: skip
_SAYS_NOTHING = (Conclusion.UNDECIDED, Conclusion.NOT_JUDGED, Conclusion.NOT_MEASURED)


@pytest.fixture(scope="module", params=["disturbed", "slower", *by_night("clear", "few", "lost")], ids=str)
def shown(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """One study everywhere that it is shown."""
    directory = write_study(tmp_path_factory.mktemp("study"), SHAPES[request.param])
    analysis = analyse_study(directory)
    printed = io.StringIO()
    render(analysis, Console(file=printed, width=200, color_system=None))
    page = Path(write_report(directory)).read_text(encoding="utf-8")
    return {
        "directory": directory,
        "analysis": analysis,
        "terminal": printed.getvalue(),
        "page": re.sub(r"\s+", " ", re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)),
        "data": pl.read_csv(directory / "report" / "data" / "differences.csv"),
    }


def _rows(text: str, analysis: StudyAnalysis) -> dict[str, str]:
    """Cell → its row of the terminal's table."""
    found, path = {}, None
    names = {title: name for name, title in analysis.path_titles.items()}
    cells = {(each.path, analysis.workload_titles[each.workload]): each.cell_id for each in analysis.comparisons}
    for line in text.splitlines():
        path = names.get(line.strip(), path)
        for (of, title), cell in cells.items():
            if of == path and line.startswith(f"  {title} ") and cell not in found:
                found[cell] = line
    return found


def _sentence(text: str, each: Comparison, analysis: StudyAnalysis) -> str:
    """Words about the cell: the part of its path's sentence that ends with it."""
    line = next(
        line
        for line in text.splitlines()
        if re.match(rf"([^:]*; )?{re.escape(analysis.path_titles[each.path])}(; [^:]*)?: |every network: ", line)
    )
    title = re.escape(analysis.workload_titles[each.workload])
    return next(part for part in re.split(r"[;:.] ", line.replace("…", "")) if re.search(rf"\b{title}\b", part))


def test_terminal_data_and_explain_have_one_verdict_a_cell(
    shown: Mapping[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """In words that are the same, and with a number of one sign; a cell that says nothing has no colour."""
    analysis = shown["analysis"]
    capsys.readouterr()
    code = main(["explain", str(shown["directory"]), "--json"])
    entries = json.loads(capsys.readouterr().out)["accounts"] if code == 0 else []
    rows = _rows(shown["terminal"], analysis)
    for each in analysis.comparisons:
        conclusion, row = each.conclusion, rows[each.cell_id]
        assert row.rstrip().endswith(_IN_A_COLUMN.get(conclusion, conclusion.text)), row
        (data,) = shown["data"].filter(pl.col("cell_id") == each.cell_id, pl.col("kind") == "main").to_dicts()
        assert data["conclusion"] == conclusion.value
        for entry in entries:
            if entry["cell_id"] == each.cell_id:
                assert entry["conclusion"] == conclusion.value
        if each.difference_pct is not None and abs(each.difference_pct) > 0.05:
            assert data["difference_pct"] == pytest.approx(each.difference_pct)
            sign = "+" if each.difference_pct > 0 else "−"
            assert re.search(rf" {re.escape(sign)}[\d.]+ %", row), row
        if conclusion in (Conclusion.DIFFERENT, Conclusion.PERHAPS_SMALL):
            assert each.outcome is (Outcome.OTHER_BETTER if each.difference_pct < 0 else Outcome.BASELINE_BETTER)
        if conclusion in _SAYS_NOTHING:
            assert not each.outcome.significant


def test_the_sentence_has_the_sign_of_the_table(shown: Mapping[str, Any]) -> None:
    """A minus is less time, in every sentence; what is not decided is in none that says which arm is faster."""
    analysis, text = shown["analysis"], shown["terminal"]
    for each in analysis.comparisons:
        said = _sentence(text, each, analysis)
        title = analysis.workload_titles[each.workload]
        number = re.search(rf"([\d.]+) % (less|more) time(?: \([^)]*\))? for {re.escape(title)}", said)
        if each.conclusion is Conclusion.DIFFERENT:
            assert number is not None, said
            assert float(number[1]) == pytest.approx(abs(each.difference_pct), abs=0.06)
            assert (number[2] == "less") == (each.difference_pct < 0)
        elif each.conclusion in _SAYS_NOTHING:
            assert number is None, said


def test_the_page_says_what_the_terminal_says(shown: Mapping[str, Any]) -> None:
    """Each sentence of the answer stands on the page; the words of a verdict only where a cell has it."""
    analysis, page = shown["analysis"], shown["page"]
    for each in analysis.comparisons:
        said = _sentence(shown["terminal"], each, analysis)
        assert re.sub(r"\s+", " ", said.rstrip(".")) in re.sub(r"\s+", " ", page.replace("…", ""))
    said_of = {each.conclusion for each in analysis.comparisons}
    assert "more pairs may tell" not in page
    if Conclusion.NOT_JUDGED not in said_of:
        assert "darker grey" not in page


def test_one_colour_means_one_arm() -> None:
    """Orange is where the other arm is better, blue where the baseline is: in the terminal as on the page."""
    assert "orange" in str(_STYLES[Outcome.OTHER_BETTER])
    assert "blue" in str(_STYLES[Outcome.BASELINE_BETTER])
