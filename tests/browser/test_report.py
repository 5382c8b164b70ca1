# SPDX-License-Identifier: Apache-2.0
"""The report in a real Chromium, at desktop and phone width, light and dark."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from by_night import by_night
from chromium import DESKTOP, PHONE, all_drawn, needs_chromium, opened
from synthetic_study import Shape, write_study

from quiclab.report.page.write import write_report

pytestmark = needs_chromium


# Four cells prove what nine would, of the page; two of them have no found difference, one has failures.
SHAPE = replace(
    Shape(), workloads=("100 KB", "5 MB"), paths=("clean", "loss"), voids=frozenset({("clean/5 MB", "h2", 1)})
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a study with failures, voids and every table."""
    return write_report(write_study(tmp_path_factory.mktemp("study"), SHAPE))


@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        (DESKTOP, "light"),
        (PHONE, "dark"),
        *by_night(*((size, "light") for size in (PHONE, (1400, 900), (390, 844)))),
        *by_night(*((size, "dark") for size in (DESKTOP, (1400, 900), (390, 844)))),
    ],
    ids=str,
)
def test_draws_every_figure_within_the_screen(browser: Any, report: Path, size: tuple[int, int], scheme: str) -> None:
    """Six figures with marks in them; the page itself never scrolls sideways, and takes the reader's scheme: light
    ink on dark paper, or the reverse."""
    with opened(browser, report, size, scheme) as page:
        assert page.locator("[data-drawn] .main-svg").count() >= 6
        assert page.locator("#map .heatmaplayer image").count() >= 1
        assert page.locator("#distributions .boxlayer .point").count() == 70
        assert page.locator("#bytes .scatterlayer .js-line").count() == 2
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        ink = page.evaluate("getComputedStyle(document.querySelector('#map .xtick text')).fill")
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness = [
            sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(","))) for colour in (ink, paper)
        ]
        assert (brightness[0] > brightness[1]) == (scheme == "dark")


def test_the_pair_selector_changes_the_curves(browser: Any, report: Path) -> None:
    """Another block shows other curves, and a block whose h2 failed says that it has no curve."""
    with opened(browser, report, DESKTOP) as page:
        page.select_option("#choose-cell", label="1 % loss, 5 MB")
        before = page.locator("#bytes .scatterlayer").inner_html()
        page.select_option("#choose-view", label="block 2")
        page.wait_for_function(
            "before => document.querySelector('#bytes .scatterlayer').innerHTML !== before", arg=before
        )
        page.select_option("#choose-view", label="block 3")
        page.wait_for_function("document.getElementById('chosen').textContent.includes('no curve of h2')")
        assert page.locator("#bytes .scatterlayer .js-line").count() == 1


def test_a_click_on_a_mark_opens_its_block(browser: Any, report: Path) -> None:
    """The distribution leads to the bytes of the same trial."""
    with opened(browser, report, DESKTOP) as page:
        mark = page.locator('[data-figure="cell-3"] .boxlayer .point').first
        mark.scroll_into_view_if_needed()
        box = mark.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_function("document.querySelector('[data-figure=cell-3] .hoverlayer .hovertext')")
        page.mouse.down()
        page.mouse.up()
        page.wait_for_function("document.getElementById('choose-view').value !== '0'")
        assert page.locator("#choose-cell option:checked").inner_text() == "1 % loss, 100 KB"


@pytest.mark.nightly
def test_the_same_trials_as_boxes_violins_and_shares(browser: Any, report: Path) -> None:
    """A choice changes every cell, those far down too; a mark of a share leads to its trial as that of a box does."""
    with opened(browser, report, DESKTOP) as page:
        page.select_option("#choose-shape", "violin")
        all_drawn(page)
        assert page.locator("#distributions .violinlayer .point").count() == 70
        page.select_option("#choose-shape", "share")
        all_drawn(page)
        assert page.locator("#distributions .scatterlayer .js-line").count() == 8
        page.evaluate("""() => document.querySelector('[data-figure=cell-3]').emit("plotly_click",
          { points: [{ data: { meta: { cell: 2 } }, customdata: [3, ""] }] })""")
        page.wait_for_function("document.querySelector('#choose-view option:checked').text === 'block 3'")
        page.select_option("#choose-shape", "box")
        all_drawn(page)
        assert page.locator("#distributions .boxlayer .point").count() == 70


def test_what_the_bytes_leave_out_is_said_and_lies_one_click_away(browser: Any, report: Path) -> None:
    """A long curve is thinned on this page: how many points are drawn, and the page that has all of them."""
    with opened(browser, report, DESKTOP) as page:
        page.select_option("#choose-cell", label="nothing added, 100 KB")
        page.wait_for_function("document.getElementById('chosen').textContent.includes('Every acknowledgment')")
        page.select_option("#choose-cell", label="nothing added, 5 MB")
        page.wait_for_function("document.getElementById('chosen').textContent.includes(' of 3,448 ackn')")
        assert page.locator("#chosen-page a").get_attribute("href").endswith("median.html")


def test_the_keyboard_reaches_everything(browser: Any, report: Path) -> None:
    """Tab stops at every link, table and choice in the order of the page, each on the screen with a mark around it."""
    with opened(browser, report, DESKTOP) as page:
        wanted = page.evaluate(
            """() => [...document.querySelectorAll("a[href], summary, select, input, .scroll")]
              .filter((each) => each.checkVisibility() && !each.closest(".js-plotly-plot"))
              .map((each, place) => (each.dataset.place = String(place)))"""
        )
        assert len(wanted) > 40
        visited = []
        for _ in range(3 * len(wanted)):
            page.keyboard.press("Tab")
            place, marked, seen = page.evaluate(
                """() => {
                  const here = document.activeElement, box = here.getBoundingClientRect();
                  const seen = box.bottom > 0 && box.top < innerHeight;
                  return [here.dataset.place, getComputedStyle(here).outlineStyle !== "none", seen];
                }"""
            )
            if place is None:
                continue
            visited.append(place)
            assert marked, f"stop {place} has no mark"
            assert seen, f"stop {place} is off the screen"
            if place == wanted[-1]:
                break
        assert visited == wanted


def test_the_keyboard_opens_and_chooses(browser: Any, report: Path) -> None:
    """Enter unfolds the numbers, an arrow key takes the next block, and Enter on a pair opens its page."""
    first = re.search(r'<td><div><a href="(report/pairs/[^"]+)"', report.read_text())
    assert first is not None
    pair = report.parent / first[1]
    with opened(browser, report, DESKTOP, beside=(pair, pair.parents[1] / "figures.js")) as page:
        page.locator("#numbers details.part details summary").first.focus()
        page.keyboard.press("Enter")
        assert page.locator("#numbers details.part details").first.get_attribute("open") is not None
        before = page.locator("#chosen").inner_text()
        page.locator("#choose-view").focus()
        page.keyboard.press("ArrowDown")
        page.wait_for_function("before => document.getElementById('chosen').textContent !== before", arg=before)
        page.locator("#pairs td a").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_url(pair.as_uri())
        all_drawn(page)


def test_the_switches_of_the_map_change_what_it_shows(browser: Any, tmp_path: Path) -> None:
    """Numbers of found differences below 5 % or not; what is not judged stays so. By keyboard."""
    lost = frozenset(("far/1 MB", "h3", block) for block in range(5))
    cells = replace(SHAPE, workloads=("100 KB", "1 MB"), paths=("clean", "far"), failures=frozenset())
    report = write_report(write_study(tmp_path, replace(cells, lost=lost, factors={"h3": 1.03})))
    texts = (
        "[...document.querySelectorAll('#map .heatmap-label')].map((label) => "
        "[...label.querySelectorAll('tspan.line')].map((line) => line.textContent).join(' ') || label.textContent)"
        ".filter((t) => t)"
    )
    with opened(browser, report, DESKTOP) as page:
        found = page.evaluate(texts)
        words = [text for text in found if text.endswith("not judged")]
        assert all("%" in text for text in words)
        assert words
        page.locator("[name=large]").focus()
        page.keyboard.press("Space")
        page.wait_for_function(f"before => {texts}.length < before", arg=len(found))
        left = page.evaluate(texts)
        assert set(words) <= set(left)
        assert all(abs(float(text.replace("−", "-")[:-2])) >= 5 for text in left if text.endswith("%"))
        assert "no number: < 5 %" in page.locator("#map .gtitle").first.text_content()
        page.locator("[name=large]").uncheck()
        page.wait_for_function(f"before => {texts}.length === before", arg=len(found))
        assert sorted(page.evaluate(texts)) == sorted(found)


@pytest.mark.nightly
def test_hovering_a_blank_cell_shows_its_numbers(browser: Any, report: Path) -> None:
    """A cell without a number still tells everything when pointed at."""
    with opened(browser, report, DESKTOP) as page:
        page.locator("#map").scroll_into_view_if_needed()
        box = page.locator("#map .heatmaplayer image").first.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 6, box["y"] + box["height"] / 6)
        page.wait_for_selector("#map .hoverlayer .hovertext")
        assert "Mann–Whitney" in page.locator("#map .hoverlayer").text_content()


def test_prints_all_figures_on_paper(browser: Any, tmp_path: Path) -> None:
    """Printing from the dark theme draws what was not yet on the screen and gives a PDF of a few pages."""
    shape = replace(Shape(), workloads=("100 KB",), paths=("clean", "loss"), voids=frozenset(), failures=frozenset())
    with opened(browser, write_report(write_study(tmp_path, shape)), DESKTOP, "dark") as page:
        assert page.pdf(format="A4").count(b"/Type /Page\n") >= 2


@pytest.mark.parametrize("gone", ["metrics.parquet", *by_night("tables/trials.parquet", "tables/bytes_acknowledged")])
def test_a_damaged_study_opens_without_an_error(browser: Any, tmp_path: Path, gone: str) -> None:
    """What is missing is said; the rest is drawn with a clean console."""
    path = write_study(tmp_path, replace(Shape(), workloads=("100 KB",), paths=("loss",))) / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with opened(browser, write_report(tmp_path), PHONE) as page:
        assert page.locator("body .caution").count() >= 1


def test_markup_in_names_runs_nowhere(browser: Any, tmp_path: Path) -> None:
    """A name that is a script tag appears as text in headings and figures and never runs."""
    nasty = "<img src=x onerror=document.title='hit'><script>document.title='hit'</script>"
    shape = replace(Shape(), workloads=(nasty,), paths=(nasty,), failures=frozenset(), voids=frozenset())
    with opened(browser, write_report(write_study(tmp_path, shape)), DESKTOP) as page:
        assert page.title() == "synthetic – quiclab"
        assert "<img src=x" in page.locator("#distributions").text_content()


def test_what_is_folded_opens_where_a_link_leads(browser: Any, report: Path) -> None:
    """A folded part opens from the contents, from the address, and on paper."""
    with opened(browser, report, DESKTOP) as page:
        folded = page.locator("details.part")
        assert folded.count() > 5
        page.goto(report.as_uri())
        page.wait_for_selector("#map [data-drawn]")
        assert page.locator("details.part[open]").count() == 0
        page.evaluate("scrollTo(0, 0)")
        page.locator("nav.contents a[href='#trust']").click()
        page.wait_for_selector("#trust details.part[open]")
        page.locator("#trust summary").first.click()
        page.wait_for_selector("#trust details.part:not([open])", state="attached")
        page.locator("nav.contents a[href='#trust']").click()
        page.wait_for_selector("#trust details.part[open]")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("details.part:not([open])").count() == 0
        page.evaluate("dispatchEvent(new Event('afterprint'))")
