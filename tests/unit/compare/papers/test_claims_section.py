# SPDX-License-Identifier: Apache-2.0
"""What the page, its data and the terminal say about a paper."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from by_night import by_night
from synthetic_paper import UNTESTABLE, direction, number, write_paper
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse
from quiclab.compare.papers.claims_section import PaperSection, claims_in_cells, claims_lines, paper_section
from quiclab.compare.study import read_study
from quiclab.report.page.write import write_report

SHAPE = replace(
    Shape(), workloads=("100 KB", "1 MB"), paths=("clean", "loss"), blocks=20, aa_blocks=0, failures=frozenset(),
    voids=frozenset(), slower=frozenset(),
)  # fmt: skip
CLAIMS = (
    direction("lower", why="caddy stands for their server"),
    direction("higher", id="slower", text="H3 is slower.", paths=["loss", "moon"]),
    direction("same", id="alike", text="They are alike.", paths=["clean"], workloads=["100 KB", "1 MB", "9 MB"]),
    number("-90 %", -90.5, -89.5, "%", text="H3 is much worse.", statistic="mean"),
    number("106 s", 105_500, 106_500, "ms", id="h2", text="H2 takes 106 s.", arms=["h2"], statistic="mean"),
    UNTESTABLE,
)
FEW = replace(SHAPE, blocks=2)
"""For what is no matter of numbers: most of a report's time goes into the pages of its pairs."""
NASTY = "<script>alert('1')</script>&{{ 7*7 }}"


def section_of(directory: Path, *claims: dict[str, Any], **keys: Any) -> PaperSection:
    """What the page shows of these claims."""
    study = read_study(write_paper(write_study(directory, SHAPE), *claims, **keys))
    section = paper_section(study, analyse(study))
    assert section is not None
    return section


def page_of(directory: Path) -> str:
    """The page without plotly's own code."""
    html = write_report(directory).read_text(encoding="utf-8")
    return re.sub(r"<script>/\*\*.*?</script>", "", html, count=1, flags=re.DOTALL)


def test_a_row_per_claim_has_both_numbers_and_the_verdict(tmp_path: Path) -> None:
    """What the paper says and where, what was tested, ours with interval and n, the verdict and what is to be known."""
    rows = section_of(tmp_path, *CLAIMS).claims.rows
    assert [(row[1], row[7]) for row in rows] == [
        ("agrees", "1 agrees"),
        ("differs", "1 differs, 1 not testable here"),
        ("agrees", "2 agree, 1 not testable here"),
        ("differs", "1 differs"),
        ("differs", "1 differs"),
        ("not testable here", ""),
    ]
    assert (rows[0][0], rows[0][6], rows[0][5]) == (
        "H3 is faster.",
        "4.1, Figure 4",
        "time to last byte: h3 lower than h2",
    )
    assert re.fullmatch(r"−2\d\.\d %", rows[0][2])
    assert re.fullmatch(r"−2\d\.\d … −[12]\d\.\d % \(at 97\.6 %\)", rows[0][3])
    assert (rows[0][4], rows[0][8]) == ("20 pairs", "Caddy stands for their server.")
    assert rows[1][8] == "Significantly lower. (1 cell) 1 of its 2 cells are not in this study."
    assert rows[2][5] == "time to last byte: h3 as h2"
    assert re.fullmatch(r"[−+]\d\.\d %( to [−+]\d\.\d %)?", rows[2][2])
    assert rows[2][3] == "cell by cell below"
    assert rows[3][5] == "mean time to last byte, advantage of h3 over h2: −90 %"
    assert rows[4][5] == "mean time to last byte, h2: 106 s"
    assert re.fullmatch(r"\d+ ms", rows[4][2])
    assert rows[5][2:6] == ("", "", "", "–")
    assert rows[5][8] == "A shape is no metric."


def test_the_summary_counts_claims(tmp_path: Path) -> None:
    """Each once, and what was tested in part is said."""
    section = section_of(tmp_path, *CLAIMS)
    assert section.summary == (
        "Of the paper's 6 claims 2 agree, 3 differ, 0 are inconclusive, 1 is not testable here. "
        "1 of those that agree could be tested in some of their cells only."
    )
    study = read_study(tmp_path)
    assert claims_lines(study, analyse(study)) == [section.summary]
    one = section_of(tmp_path / "one", direction("lower"), caution="It is not the same.")
    assert one.summary == "Of the paper's 1 claim 1 agrees, 0 differ, 0 are inconclusive, 0 are not testable here."
    study = read_study(tmp_path / "one")
    assert claims_lines(study, analyse(study)) == [one.summary, "It is not the same."]


def test_a_control_that_fails_is_a_caution(tmp_path: Path) -> None:
    """Where h3 differs from itself, that is said beside the verdicts."""
    write_paper(write_study(tmp_path, replace(SHAPE, aa_blocks=20)), direction("lower"))
    trials = pl.read_parquet(tmp_path / "tables" / "trials.parquet")
    second = trials.filter(pl.col("arm") == "h3#2")["trial_id"].to_list()
    metrics = pl.read_parquet(tmp_path / "metrics.parquet")
    worse = pl.when(pl.col("trial_id").is_in(second)).then(2 * pl.col("value")).otherwise("value")
    metrics.with_columns(value=worse).write_parquet(tmp_path / "metrics.parquet")
    study = read_study(tmp_path)
    section = paper_section(study, analyse(study))
    assert section is not None
    assert section.caution.startswith("Against itself h3 differs significantly (A/A)")
    assert section_of(tmp_path / "one", direction("lower")).caution == ""


def test_cells_have_their_own_table_where_a_claim_has_several(tmp_path: Path) -> None:
    """One row each, by the names that the figures use."""
    rows = section_of(tmp_path, *CLAIMS).cells.rows
    assert [row[:4] for row in rows[1:4]] == [
        ("slower", "1 % loss", "100 KB", "higher"),
        ("slower", "moon", "100 KB", "higher"),
        ("alike", "nothing added", "100 KB", "same"),
    ]
    assert rows[2][9:] == ("not testable here", "This study has no path moon.")
    assert section_of(tmp_path / "one", direction("lower")).cells.rows == ()


def test_a_claim_stands_in_each_of_its_cells_as_on_the_page(tmp_path: Path) -> None:
    """Our number as in a sentence, with the interval's level where it is another one; none where nothing is tested."""
    study = read_study(write_paper(write_study(tmp_path, SHAPE), *CLAIMS, caution="It is not the same."))
    caution, found = claims_in_cells(study, analyse(study))
    assert caution == "It is not the same."
    rows = section_of(tmp_path, *CLAIMS)
    tested = [each for each in found if each.finding is None or each.finding.path != "moon"]
    assert [(each.judged.claim.id, each.says) for each in tested] == [
        ("faster", rows.claims.rows[0][5]), ("slower", rows.claims.rows[1][5]),
        *[("alike", rows.claims.rows[2][5])] * 3,
        ("value", rows.claims.rows[3][5]), ("h2", rows.claims.rows[4][5]), ("shape", "–"),
    ]  # fmt: skip
    number, interval, n = rows.claims.rows[0][2:5]
    assert found[0].ours == f"{number} ({interval.replace(' (at ', ', at ')}, {n}"
    assert found[-1].ours == ""
    assert [each.ours for each in found if each.finding is not None and each.finding.path == "moon"] == [""]
    (tmp_path / "paper.json").unlink()
    assert claims_in_cells(study, analyse(study)) == ("", ())


def test_the_page_has_it_after_the_map_and_the_data_beside(tmp_path: Path) -> None:
    """Table, rules and citation; a row per claim and cell in claims.csv."""
    write_paper(write_study(tmp_path, SHAPE), *CLAIMS)
    html = page_of(tmp_path)
    assert html.index('id="map"') < html.index('id="paper"') < html.index('id="distributions"')
    assert "A. Writer: On Protocols. A workshop, 2024" in html
    assert "which is no agreement" in html
    data = pl.read_csv(tmp_path / "report" / "data" / "claims.csv")
    assert data["claim"].to_list() == ["faster", "slower", "slower", "alike", "alike", "alike", "value", "h2", "shape"]
    agreeing = data.filter(pl.col("verdict") == "agrees")
    assert agreeing.height == 3
    assert agreeing.filter(pl.col("low") <= pl.col("ours"), pl.col("ours") <= pl.col("high")).height == 3
    assert data.filter(pl.col("claim") == "h2").select("unit", "n", "paper").row(0) == ("ms", 20, "106 s")


def test_a_study_without_a_paper_is_as_it_was(tmp_path: Path) -> None:
    """No section, no file, no line."""
    write_study(tmp_path, FEW)
    assert 'id="paper"' not in page_of(tmp_path)
    assert not (tmp_path / "report" / "data" / "claims.csv").exists()
    study = read_study(tmp_path)
    assert claims_lines(study, analyse(study)) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "paper.json cannot be read"),
        ('{"version": 9}', "paper.json has the form 9, not 1."),
        *by_night(("[]", "paper.json holds no JSON object.")),
        *by_night(('{"version": 1}', "paper.json does not hold a paper&#39;s claims.")),
    ],
)
def test_a_file_that_cannot_be_used_is_said(tmp_path: Path, text: str, said: str) -> None:
    """And the rest of the page is there."""
    (write_study(tmp_path, FEW) / "paper.json").write_text(text)
    html = page_of(tmp_path)
    assert said in html
    assert 'id="distributions"' in html


@pytest.mark.parametrize("arms", [["h2"], *by_night([], ["h2", "h3", "h2"])])
def test_a_claim_with_too_many_or_too_few_arms_is_none(arms: list[str], tmp_path: Path) -> None:
    """No spec makes one; a file from elsewhere may have it."""
    file = write_paper(write_study(tmp_path, FEW), *CLAIMS) / "paper.json"
    document = json.loads(file.read_text())
    direction = next(each for each in document["claims"] if each["kind"] == "direction" and each["testable"])
    direction["arms"] = arms
    file.write_text(json.dumps(document))
    assert "paper.json does not hold a paper&#39;s claims." in page_of(tmp_path)


@pytest.mark.parametrize("piece", ["resolved.json", "metrics.parquet", "tables/trials.parquet"])
def test_without_a_study_there_is_nothing_to_test(tmp_path: Path, piece: str) -> None:
    """Whatever is missing, the claims are listed, and none agrees or differs without its numbers."""
    (write_paper(write_study(tmp_path, SHAPE), *CLAIMS) / piece).unlink()
    study = read_study(tmp_path)
    section = paper_section(study, analyse(study))
    assert section is not None
    verdicts = {row[1] for row in section.claims.rows}
    assert verdicts == {"not testable here"} or piece == "resolved.json"


def test_what_a_paper_says_is_never_markup(tmp_path: Path) -> None:
    """Every text of the file is shown as text."""
    nasty = direction("lower", id=NASTY, text=NASTY, section=NASTY, why=NASTY, workloads=[NASTY, "1 MB"], metric=NASTY)
    write_paper(write_study(tmp_path, FEW), nasty, authors=NASTY, title=NASTY, caution=NASTY)
    html = page_of(tmp_path)
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;{{ 7*7 }}" in html


COUNT = direction("lower", id="count", kind="count", text="So are 22 of 30 pages.", paths=["clean", "loss"]) | {
    "expected": {"text": "22 of 30", "low": 0.6, "high": 0.8, "unit": "share", "cells": 30, "margin": "3 of 30"},
    "counted": {"text": "lower", "direction": "lower"},
    "workloads": ["100 KB", "1 MB"],
}  # fmt: skip


def test_a_count_has_its_cells_one_by_one(tmp_path: Path) -> None:
    """The table has one row with the number, and another table a row per cell with its state, as the data have."""
    section = section_of(tmp_path, COUNT)
    (row,) = section.claims.rows
    assert row[1:5] == ("differs", "2 of 4", "", "")
    assert row[5] == "time to last byte, h3 lower than h2: in 22 of 30 ± 3 of 30 cells"
    assert row[7] == "2 cells equivalent, 2 lower"
    assert row[8] == "2 cells equivalent, 2 lower. The paper has 30 cells: the share is held."
    assert [(each[3], each[6], each[9]) for each in section.cells.rows] == [
        ("lower", "20 pairs", state) for state in ("equivalent", "lower") * 2
    ]
    (told,) = section.data.select("first_arm", "second_arm", "workload", "statistic", "ours", "low", "high", "n").rows()
    assert told == ("h2", "h3", None, "count of cells: lower", 2.0, 2.0, 2.0, 4)
    assert section.counted.select("workload", "path", "counted", "state").row(1) == ("100 KB", "loss", "lower", "lower")
    assert section_of(tmp_path / "other", direction("lower")).counted.height == 0
    (found,) = claims_in_cells(read_study(tmp_path), analyse(read_study(tmp_path)))[1]
    assert found.ours == "2 of 4"


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        (
            {"arms": ["h2", "h2", "h3"], "counted": {"text": "lowest", "direction": "lowest"}},
            "h3 lowest of h2, h2 and h3",
        ),
        ({"arms": ["h2"], "counted": {"text": "above 1 s", "low": 1000, "unit": "ms"}}, "median with h2 above 1 s"),
        ({"counted": {"text": "same", "direction": "same"}}, "h3 as h2"),
        ({"arms": ["h2", ["h3", "h2"]]}, "mean of h3 and h2 lower than h2"),
    ],
)
def test_a_count_says_when_a_cell_counts(tmp_path: Path, keys: dict[str, Any], says: str) -> None:
    """The last arm is the one that is spoken of."""
    rows = section_of(tmp_path, COUNT | keys).claims.rows
    assert rows[0][5] == f"time to last byte, {says}: in 22 of 30 ± 3 of 30 cells"


def test_a_spread_says_which_arm_varies_more(tmp_path: Path) -> None:
    """Both coefficients of variation stand in the reason, and the data name what was compared."""
    section = section_of(tmp_path, direction("higher", kind="spread"))
    assert section.claims.rows[0][5] == "time to last byte: varies more with h3 than with h2"
    assert section.claims.rows[0][8].startswith("The coefficient of variation is ")
    assert section.data["statistic"].to_list() == ["coefficient of variation"]


@pytest.mark.parametrize("keys", [{"counted": None}, {"kind": "spread", "arms": ["h2", ["h3", "h2"]]}])
def test_a_claim_that_no_spec_makes_is_none(tmp_path: Path, keys: dict[str, Any]) -> None:
    """A count without what counts, a spread of a mean over arms."""
    study = read_study(write_paper(write_study(tmp_path, FEW), COUNT | keys))
    section = paper_section(study, analyse(study))
    assert section is not None
    assert section.caution == "paper.json does not hold a paper's claims."
