# SPDX-License-Identifier: Apache-2.0
"""A report as one file in a real Chromium: the study is gone, and every link still leads somewhere."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chromium import DESKTOP, PHONE, all_drawn, needs_chromium, opened
from synthetic_logs import write_logs
from synthetic_study import Shape, write_study

from quiclab.report.page.single_file import write_single_file
from quiclab.report.page.write import write_report

pytestmark = needs_chromium

SMALL = replace(Shape(), workloads=("1 MB",), paths=("clean", "loss"), blocks=2, aa_blocks=0, voids=frozenset(),
                failures=frozenset())  # fmt: skip
IN_SIGHT = "(element) => { const { top } = element.getBoundingClientRect(); return top >= 0 && top < innerHeight; }"


@pytest.fixture(scope="module")
def mailed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file alone in its folder."""
    study = write_study(tmp_path_factory.mktemp("study"), SMALL)
    for seed, trial in enumerate(sorted((study / "trials").iterdir())):
        write_logs(study, trial.name, 300, seed)
    out = tmp_path_factory.mktemp("mail") / "report.html"
    write_single_file(write_report(study), out)
    shutil.rmtree(study)
    return out


def figures_of_part(page: Any) -> int:
    """Figures of the page of a pair that are drawn, each with something in it."""
    page.wait_for_selector("#part [data-drawn] .main-svg")
    all_drawn(page)
    widths = page.evaluate("[...document.querySelectorAll('#part [data-drawn]')].map((each) => each.clientWidth)")
    assert all(width > 200 for width in widths)
    return len(widths)


@pytest.mark.parametrize("size", [DESKTOP, pytest.param(PHONE, marks=pytest.mark.matrix)], ids=["desktop", "phone"])
def test_from_the_map_to_a_pair_and_back(browser: Any, mailed: Path, size: tuple[int, int]) -> None:
    """A click on a cell opens its median trials, previous and next step on, Back leads to the place one came from.
    Nothing is asked of any network, nor of a file beside it."""
    with opened(browser, mailed, size) as page:
        drawn = page.locator("main [data-drawn]").count()
        page.locator("#map").scroll_into_view_if_needed()
        here = page.evaluate("scrollY")
        page.evaluate("""() => { const map = document.querySelector("#map [data-figure]");
          map.emit("plotly_click", { points: [{ data: map.data[1], pointIndex: [0, 0] }] }); }""")
        assert figures_of_part(page) >= 5
        assert page.evaluate("scrollY") == 0
        title = page.title()
        assert title.startswith("nothing added, 1 MB, the median trial of each arm")
        assert page.locator("#answer").is_hidden()
        page.locator("#part a[rel=next]").click()
        page.wait_for_function("title => document.title !== title", arg=title)
        assert figures_of_part(page) >= 5
        assert "block 0" in page.locator("#part h1").inner_text()
        page.go_back()
        page.go_back()
        page.wait_for_selector("#answer", state="visible")
        assert page.title() == "synthetic – quiclab"
        assert abs(page.evaluate("scrollY") - here) < 50
        assert page.locator("main [data-drawn]").count() == drawn
        page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=size[0])


def test_opened_on_a_figure_of_a_pair(browser: Any, mailed: Path) -> None:
    """A link of “Why?” to one figure is an address of its own; the report behind it is drawn when one goes there."""
    anchor = re.search(r'href="(#report/pairs/[^"#]+#figure-queue)"', mailed.read_text(encoding="utf-8"))
    assert anchor is not None
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto(mailed.as_uri() + anchor[1])
    page.wait_for_selector("#part [data-figure=queue][data-drawn] .main-svg")
    page.wait_for_function(f"({IN_SIGHT})(document.getElementById('figure-queue'))")
    page.locator("#part nav a").first.click()
    page.wait_for_selector("#map [data-drawn] .main-svg")
    page.wait_for_function(f"({IN_SIGHT})(document.getElementById('pairs-1'))")
    assert page.locator("#part").is_hidden()
    assert trouble == []
    context.close()


def test_a_table_is_saved_from_the_file_itself(browser: Any, mailed: Path) -> None:
    """The numbers behind a figure, although nothing lies beside the file."""
    with opened(browser, mailed, DESKTOP) as page:
        link = page.locator("#map a[download]")
        link.scroll_into_view_if_needed()
        with page.expect_download() as saved:
            link.click()
        assert saved.value.suggested_filename == "differences.csv"
        assert Path(saved.value.path()).read_text().startswith("kind,cell_id,")


@pytest.mark.nightly
def test_a_page_of_a_pair_prints(browser: Any, mailed: Path) -> None:
    """What is on the screen, without the report behind it."""
    anchor = re.search(r'href="(#report/pairs/[^"]+median\.html)"', mailed.read_text(encoding="utf-8"))
    assert anchor is not None
    with opened(browser, mailed, DESKTOP, "dark") as page:
        page.evaluate("anchor => { location.hash = anchor; }", anchor[1])
        figures_of_part(page)
        assert page.pdf(format="A4").count(b"/Type /Page\n") < 12
