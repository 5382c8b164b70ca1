# SPDX-License-Identifier: Apache-2.0
"""The pages of pairs in a real Chromium: how one gets there, and a curve of many points."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from by_night import by_night
from chromium import DESKTOP, PHONE, all_drawn, needs_chromium, opened
from synthetic_logs import write_logs
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.study_tables import open_study
from quiclab.report.figures import Asked
from quiclab.report.figures.queue_length import QueueLength
from quiclab.report.page.write import write_report

pytestmark = needs_chromium

PACKETS = 20_000
NASTY = "<img src=x onerror=document.title='hit'><script>document.title='hit'</script>"
SMALL = replace(Shape(), workloads=("1 MB",), paths=("loss",), blocks=2, aa_blocks=0, voids=frozenset(),
                failures=frozenset())  # fmt: skip
SHOWN = """(name) => document.querySelector(`[data-figure="${name}"]`).data.map((trace) => trace.x.length)"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two blocks; the second has trials of many packets."""
    directory = write_study(tmp_path_factory.mktemp("study"), SMALL)
    for number, trial in enumerate(sorted((directory / "trials").iterdir())):
        write_logs(directory, trial.name, PACKETS if number > 1 else 300)
    write_report(directory)
    return directory


def page_of(study: Path, name: str) -> Path:
    """Of the first cell."""
    return next(study.glob(f"report/pairs/1-*/{name}.html"))


def script_of(study: Path) -> tuple[Path]:
    """What a page of a pair loads from beside it."""
    return (study / "report/pairs/figures.js",)


def test_the_way_from_a_cell_to_its_logs_and_back(browser: Any, study: Path) -> None:
    """The map leads to the median trials, from there one steps through all blocks, and each leads to the report."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(120_000)
    page = context.new_page()
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("requestfailed", lambda request: trouble.append(request.url))
    page.goto((study / "report.html").as_uri())
    all_drawn(page)
    cell = page.locator("#map .nsewdrag").first
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_selector("#map .hoverlayer .hovertext")
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url("**/median.html")
    for name in ("block-0", "block-1"):
        page.click("a[rel=next]")
        page.wait_for_url(f"**/{name}.html")
        assert page.locator("#logs a").count() >= 2
    assert page.locator("a[rel=next]").count() == 0
    page.click("nav a")
    page.wait_for_url("**/report.html#pairs-1")
    assert trouble == []
    context.close()


@pytest.mark.parametrize(("size", "scheme"), [*by_night((DESKTOP, "dark")), (PHONE, "light")], ids=["desktop", "phone"])
def test_a_pair_fits_the_screen(browser: Any, study: Path, size: tuple[int, int], scheme: str) -> None:
    """All figures have something in them; the page never scrolls sideways."""
    with opened(browser, page_of(study, "block-0"), size, scheme, script_of(study)) as page:
        assert page.locator("[data-drawn] .main-svg").count() >= 8
        assert all(points > 100 for points in page.evaluate(SHOWN, "queue"))
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_a_long_curve_shows_its_extremes_and_zooming_shows_all_of_it(browser: Any, study: Path) -> None:
    """Few points are drawn, the least and the greatest among them, and the page says so; a zoom draws every point."""
    points = QueueLength().gather(Asked(open_study(study), analyse_study(study), "1 MB/loss", block=1))
    first = points.filter(arm=points["arm"][0])
    with opened(browser, page_of(study, "block-1"), DESKTOP, "light", script_of(study)) as page:
        drawn = page.evaluate(SHOWN, "queue")
        assert all(1000 < points < 6000 for points in drawn)
        assert f"of {points.height:,} points" in page.locator("[data-note=queue]").text_content()
        ends = page.evaluate("Math.max(...document.querySelector('[data-figure=queue]').data[0].y)")
        assert ends == first["y"].max()
        page.evaluate("Plotly.relayout(document.querySelector('[data-figure=queue]'), {'xaxis.range': [1000, 2000]})")
        all_within = (
            "document.querySelector('[data-figure=queue]').data[0].x.filter((x) => x >= 1000 && x <= 2000).length"
        )
        assert page.evaluate(all_within) == first.filter(pl.col("x_ms").is_between(1000, 2000)).height
        page.evaluate("Plotly.relayout(document.querySelector('[data-figure=queue]'), {'xaxis.autorange': true})")
        assert page.evaluate(SHOWN, "queue") == drawn


def test_markup_from_logs_runs_nowhere(browser: Any, tmp_path: Path) -> None:
    """Names of cells and of files are text on a pair's page."""
    write_study(tmp_path, replace(SMALL, workloads=(NASTY,), paths=(NASTY,), blocks=1))
    for trial in (tmp_path / "trials").iterdir():
        write_logs(tmp_path, trial.name, 300)
        (trial / "raw" / "<img src=x onerror=document.title=1>").touch()
    write_report(tmp_path)
    with opened(browser, page_of(tmp_path, "block-0"), DESKTOP, "light", script_of(tmp_path)) as page:
        assert page.title().startswith("<img src=x")
        assert "<img src=x" in page.locator("#logs").text_content()
        assert page.locator("img").count() == 0
