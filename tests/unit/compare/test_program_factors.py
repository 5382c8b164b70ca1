# SPDX-License-Identifier: Apache-2.0
"""A study whose arms are compared with baselines of their own, and the server as a factor of it."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.comparison_words import arms_compared
from quiclab.compare.factors import axes_of, factor
from quiclab.compare.model import StudyAnalysis
from quiclab.compare.program_factors import pair_titles, program_factors, shared_name
from quiclab.compare.study import read_study
from quiclab.model.errors import SpecError
from quiclab.report import figures
from quiclab.report.figures import Where, spec
from quiclab.report.figures.difference_map import DifferenceMap
from quiclab.report.figures.factor import Factor
from quiclab.report.page.study_figures import study_figures
from quiclab.report.page.write import write_report
from quiclab.report.words.answers import answers
from quiclab.report.words.terminal import render

BASELINES = {"h2-nginx": "h2-nginx", "h2-caddy": "h2-caddy", "h3-nginx": "h2-nginx", "h3-caddy": "h2-caddy"}
SHAPE = Shape(
    ("100 KB", "1 MB"), ("loss",), failures=frozenset(), voids=frozenset(), baselines=BASELINES,
    factors={"h2-caddy": 2.0, "h3-caddy": 1.0},
)  # fmt: skip
"""HTTP/3 takes 22 % less than HTTP/2 from nginx, and 61 % less from caddy."""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study."""
    return write_study(tmp_path_factory.mktemp("study"), SHAPE)


@pytest.fixture(scope="module")
def analysis(directory: Path) -> StudyAnalysis:
    """Analysis of the study."""
    return analyse_study(directory)


def test_each_arm_is_compared_with_its_own_baseline(analysis: StudyAnalysis) -> None:
    """One comparison per server and cell, over which p is corrected; the difference is that to the same server."""
    found = {(c.workload, c.other.arm): (c.baseline.arm, c.difference_pct) for c in analysis.comparisons}
    assert list(found) == [(size, arm) for size in ("100 KB", "1 MB") for arm in ("h3-nginx", "h3-caddy")]
    for (_, arm), (baseline, difference) in found.items():
        assert baseline == BASELINES[arm]
        assert difference == pytest.approx(-22 if arm == "h3-nginx" else -61, abs=4)
    assert analysis.tested == 4
    assert analysis.baselines == {"h3-nginx": "h2-nginx", "h3-caddy": "h2-caddy"}


def test_a_cell_has_every_arm_once(analysis: StudyAnalysis) -> None:
    """Baselines are before those that are compared with them."""
    assert [arm.arm for arm in analysis.cells()["1 MB/loss"].arms] == ["h2-nginx", "h3-nginx", "h2-caddy", "h3-caddy"]
    assert analysis.arms == ["h2-nginx", "h3-nginx", "h2-caddy", "h3-caddy"]


def test_the_control_of_each_arm_is_its_own(analysis: StudyAnalysis) -> None:
    """Arms of the A/A control are compared with themselves, whatever their baselines are."""
    pairs = [(c.baseline.arm, c.other.arm) for c in analysis.controls]
    assert pairs == [(f"{arm}#1", f"{arm}#2") for arm in BASELINES]


def test_one_baseline_may_be_asked_for(directory: Path) -> None:
    """All others are then compared with it, baselines among them."""
    found = analyse_study(directory, baseline="h2-nginx").baselines
    assert found == dict.fromkeys(("h2-caddy", "h3-nginx", "h3-caddy"), "h2-nginx")


def test_an_arm_that_has_not_run_yet_has_its_baseline(tmp_path: Path) -> None:
    """The spec names the baseline of an arm that the table of trials does not have."""
    study = write_study(tmp_path, SHAPE)
    file = study / "tables" / "trials.parquet"
    pl.read_parquet(file).filter(pl.col("arm") != "h3-caddy").write_parquet(file)
    found = {c.other.arm: (c.baseline.arm, c.pairs) for c in analyse_study(study).comparisons}
    assert found == {"h3-nginx": ("h2-nginx", 9), "h3-caddy": ("h2-caddy", 0)}


def test_words_name_the_baseline_of_each_arm(analysis: StudyAnalysis) -> None:
    """Legend and answers both name it."""
    printed = io.StringIO()
    render(analysis, Console(file=printed, width=200))
    text = " ".join(printed.getvalue().split())
    assert "difference: h3-nginx against h2-nginx and h3-caddy against h2-caddy in the typical pair" in text
    assert "blue: its baseline is faster" in text
    (answer,) = answers(analysis)
    assert [sentence.partition(":")[0] for sentence in answer.sentences] == [
        "h3-nginx is faster than h2-nginx", "h3-caddy is faster than h2-caddy",
    ]  # fmt: skip


def test_arms_with_one_baseline_are_named_together() -> None:
    """`a and b against h2`."""
    assert arms_compared({"a": "h2", "b": "h2"}) == "a and b against h2"


def test_the_server_is_a_factor(directory: Path, analysis: StudyAnalysis) -> None:
    """Arms that differ in it alone are a line, called by what their names share; a panel for each size."""
    study = read_study(directory)
    assert axes_of(study, analysis) == ["size", "server"]
    assert [(line.label, dict(line.arms)) for line in program_factors(study, analysis)["server"]] == [
        ("h2", {"nginx": "h2-nginx", "caddy": "h2-caddy"}), ("h3", {"nginx": "h3-nginx", "caddy": "h3-caddy"}),
    ]  # fmt: skip
    data = factor(study, analysis, "server")
    assert data.select("panel", "arm", "x").rows() == [
        (panel, arm, server) for panel in ("100 KB", "1 MB") for arm in ("h2", "h3") for server in ("nginx", "caddy")
    ]
    medians = {(c.workload, arm.arm): arm.median for c in analysis.comparisons for arm in (c.baseline, c.other)}
    shown = {(row["panel"], f"{row['arm']}-{row['x']}"): row["median"] for row in data.iter_rows(named=True)}
    assert shown == medians


def test_each_map_of_the_page_has_the_server_in_its_title(tmp_path: Path) -> None:
    """A map and a title for each comparison; the only map needs none."""
    page = write_report(write_study(tmp_path / "two", SHAPE)).read_text(encoding="utf-8")
    section = page.partition('<section id="map">')[2].partition("</section>")[0]
    assert re.findall("<h3>(.*?)</h3>", section) == [
        "h3-nginx against h2-nginx (server nginx)", "h3-caddy against h2-caddy (server caddy)",
    ]  # fmt: skip
    assert len(re.findall('data-figure="map-[0-9]+"', section)) == 2
    one = replace(SHAPE, baselines={"h2-nginx": "h2-nginx", "h3-nginx": "h2-nginx"})
    page = write_report(write_study(tmp_path / "one", one)).read_text(encoding="utf-8")
    section = page.partition('<section id="map">')[2].partition("</section>")[0]
    assert "<h3>" not in section


def test_a_title_names_both_programs_where_they_differ(directory: Path) -> None:
    """Servers over one protocol, each against one of them."""
    titles = pair_titles(read_study(directory), analyse_study(directory, baseline="h2-nginx"))
    assert titles["h2-caddy"] == "h2-caddy against h2-nginx (server caddy against nginx)"
    assert titles["h3-nginx"] == "h3-nginx against h2-nginx (server nginx)"


def test_a_figure_of_one_arm_is_drawn_for_each(
    directory: Path, analysis: StudyAnalysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A section of the page has a drawing for each arm, with its title, and the data of all."""

    class PlacedMap(DifferenceMap):
        """The map as a section of its own."""

        where = Where.STUDY

    monkeypatch.setattr(figures, "FIGURES", (PlacedMap(),))
    (section,) = study_figures(read_study(directory), analysis)
    assert [part.title for part in section.parts] == list(pair_titles(read_study(directory), analysis).values())
    data = pl.read_csv(directory / "report" / "data" / "differences.csv")
    assert data["other_arm"].unique(maintain_order=True).to_list() == ["h3-nginx", "h3-caddy"]


def test_the_figure_has_programs_on_its_axis(directory: Path, analysis: StudyAnalysis) -> None:
    """Marks beside each other over the name of the program, without a line between programs, which have no order."""
    drawn = spec(Factor().draw(factor(read_study(directory), analysis, "server")))
    assert drawn["layout"]["xaxis"]["ticktext"] == ["nginx", "caddy"]
    assert {trace["mode"] for trace in drawn["data"]} == {"markers"}
    places = [[round(x) for x in trace["x"]] for trace in drawn["data"]]
    assert places == [[0, 1]] * 4
    assert len({tuple(trace["x"]) for trace in drawn["data"]}) == 2


def test_a_program_that_differs_within_a_comparison_is_no_factor(tmp_path: Path) -> None:
    """Another server that comes together with whatever else the arm has is no factor."""
    shape = Shape(("1 MB",), ("loss",), baselines=dict.fromkeys(BASELINES, "h2-nginx"))
    study = write_study(tmp_path, shape)
    assert program_factors(read_study(study), analyse_study(study)) == {}
    with pytest.raises(SpecError, match="differ in 'server' alone"):
        factor(read_study(study), analyse_study(study), "server")


@pytest.mark.parametrize(
    ("names", "shared"),
    [(["h3-nginx-curl", "h3-caddy-curl"], "h3 curl"), (["h3-nginx", "h3-caddy"], "h3"), (["a", "b"], ""), (["x"], "x")],
)
def test_arms_are_called_by_what_their_names_share(names: list[str], shared: str) -> None:
    """Both ends of the names count."""
    assert shared_name(names) == shared
