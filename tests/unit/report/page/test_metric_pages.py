# SPDX-License-Identifier: Apache-2.0
"""Pages about other metrics beside the usual one."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study, usual_metric
from quiclab.compare.study import read_study
from quiclab.model.errors import SpecError
from quiclab.report.page.metric_pages import metrics_of_pages
from quiclab.report.page.write import write_report

SHAPE = replace(Shape(), workloads=("100 KB",), paths=("loss", "far"), failures=frozenset(), voids=frozenset())


def body(page: Path) -> str:
    """The page without its scripts."""
    return re.sub(r"<script>.*?</script>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with a page about goodput beside its report."""
    directory = write_study(tmp_path_factory.mktemp("study"), SHAPE)
    assert write_report(directory, "goodput_bit_per_s") == directory / "report-goodput_bit_per_s.html"
    return directory


def test_a_page_about_another_metric_stands_beside_the_report(study: Path) -> None:
    """It is about that metric throughout, with data and pairs of its own; nothing of the report is lost."""
    page = study / "report-goodput_bit_per_s.html"
    assert "goodput" in body(page)[: body(page).index("The answer")]
    assert "h3 is better than h2" in body(page)
    assert "h3 is faster than h2" in body(study / "report.html")
    metric = {folder: pl.read_csv(study / folder / "data" / "differences.csv")["metric"][0] for folder in
              ("report", "report-goodput_bit_per_s")}  # fmt: skip
    assert metric == {"report": "ttlb_ms", "report-goodput_bit_per_s": "goodput_bit_per_s"}
    links = re.findall(r'href="(report[^"#]*)', body(page))
    assert all((study / link).exists() for link in links)
    assert {link.partition("/")[0] for link in links} == {"report.html", "report-goodput_bit_per_s"}


def test_the_pages_of_pairs_lead_back_to_their_own_report(study: Path) -> None:
    """Pages about a metric open on its median trials and lead back to it."""
    pages = sorted((study / "report-goodput_bit_per_s" / "pairs").glob("*/*.html"))
    assert len(pages) == len(list((study / "report" / "pairs").glob("*/*.html"))) > 0
    assert all("../../../report-goodput_bit_per_s.html#pairs-" in page.read_text() for page in pages)


@pytest.mark.nightly
def test_pages_tell_of_each_other_and_that_looks_are_not_corrected_together(tmp_path: Path) -> None:
    """A report alone says nothing of it."""
    assert "The same trials are compared by" not in body(write_report(write_study(tmp_path, SHAPE)))
    write_report(tmp_path, "setup_ms")
    for name, other in (("report", "report-setup_ms"), ("report-setup_ms", "report")):
        text = body(tmp_path / f"{name}.html")
        assert f'<a href="{other}.html">' in text
        assert "The same trials are compared by 2 metrics" in text


def test_the_correction_is_over_the_cells_of_the_metric(study: Path) -> None:
    """Two comparisons each, however many metrics have a page."""
    rows = pl.read_csv(study / "report-goodput_bit_per_s" / "data" / "differences.csv").filter(kind="main")
    assert rows["adjusted_p"].max() == pytest.approx(rows["p"].max())  # Benjamini–Hochberg: times 2 / 2
    assert "Benjamini–Hochberg over 2 comparisons" in body(study / "report-goodput_bit_per_s.html")


def test_a_page_that_was_asked_for_once_is_kept_up_to_date(tmp_path: Path) -> None:
    """The next report writes it too: no page tells of trials that are not those of the tables."""
    page = write_report(write_study(tmp_path, SHAPE), "setup_ms")
    page.write_text("old")
    (tmp_path / "report-nonsense.html").write_text("somebody's own")
    assert write_report(tmp_path).name == "report.html"
    assert "handshake time" in body(page)
    assert (tmp_path / "report-nonsense.html").read_text() == "somebody's own"


@pytest.mark.parametrize("name", ["plt_ms", "path_rtt_min_ms", "../escape"])
def test_what_cannot_be_compared_is_refused(tmp_path: Path, name: str) -> None:
    """Not measured, of no better side, no metric: each is told, and nothing is written."""
    study = write_study(tmp_path / "study", SHAPE)
    with pytest.raises(SpecError) as caught:
        write_report(study, name)
    assert "ttfb_ms" in (caught.value.hint or "")
    assert not list(tmp_path.rglob("*.html"))


def test_the_spec_says_what_is_usual(tmp_path: Path) -> None:
    """Its metric is what `report.html` compares; ttlb then has a page of its own."""
    study = write_study(tmp_path, replace(SHAPE, resolved={"metric": "setup_ms"}))
    assert usual_metric(read_study(study)) == "setup_ms"
    assert (analyse_study(study).page, analyse_study(study, "ttlb_ms").page) == ("report", "report-ttlb_ms")
    assert metrics_of_pages(read_study(study), "ttlb_ms") == ["setup_ms", "ttlb_ms"]
    resolved = json.loads((study / "resolved.json").read_text())
    (study / "resolved.json").write_text(json.dumps(resolved | {"metric": None}))
    assert usual_metric(read_study(study)) == "ttlb_ms"
