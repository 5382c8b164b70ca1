# SPDX-License-Identifier: Apache-2.0
"""The unfolded report in a real Chromium: answer, map, timeline and causes, in this order, before a click."""

from __future__ import annotations

import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chromium import DESKTOP, PHONE, all_drawn, needs_chromium, opened
from synthetic_logs import write_account, write_logs
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.report.page.single_file import write_single_file
from quiclab.report.page.write import write_report
from quiclab.why.account import Why

pytestmark = needs_chromium

SHAPE = replace(Shape(), workloads=("1 MB",), paths=("clean", "loss"), blocks=9, aa_blocks=0, voids=frozenset(),
                failures=frozenset())  # fmt: skip
RECORD = Path(__file__).parents[2] / "docs" / "demo-study.tar.xz"
SCREEN_PX, MOST_SCREENS = 900, 6
BARS = """() => [...document.querySelectorAll('#because .cause')].filter((each) => each.checkVisibility()).map((cell) =>
  [...cell.querySelectorAll('.bar')].map((bar) => [...bar.children].map((part) => {
    const label = part.firstElementChild.getBoundingClientRect(), box = part.getBoundingClientRect();
    return { told: part.title, colour: getComputedStyle(part).backgroundColor, width: box.width,
      cut: label.top < box.bottom && (label.left < box.left - 0.5 || label.right > box.right + 0.5) };
  })))"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two cells of which h3 is faster in one; each trial with an account, the baseline's with a longer slow start."""
    directory = write_study(tmp_path_factory.mktemp("study"), SHAPE)
    for arm in analyse_study(directory).comparisons:
        for trials, slow_start_ms in ((arm.baseline.trials, 90), (arm.other.trials, 40)):
            for each in trials:
                write_logs(directory, each.trial_id, 50, each.block)
                write_account(directory, each.trial_id, slow_start_ms + each.block)
    write_report(directory)
    return directory


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_answer_map_timeline_and_causes_stand_before_what_is_folded(
    browser: Any, study: Path, size: tuple[int, int]
) -> None:
    """The page has this order from top to bottom; the map stands beside the answer where there is room."""
    with opened(browser, study / "report.html", size) as page:
        page.goto((study / "report.html").as_uri())
        page.wait_for_selector("#longest [data-drawn] .main-svg")
        tops = [
            page.locator(f"#{name} h2").first.bounding_box()["y"] for name in ("answer", "map", "longest", "because")
        ]
        assert tops == sorted(tops)
        first_folded = page.locator("main > section > details.part").first.bounding_box()
        assert first_folded["y"] > tops[-1]
        assert page.evaluate("document.documentElement.scrollHeight") <= MOST_SCREENS * SCREEN_PX


@pytest.mark.parametrize("size", [DESKTOP, pytest.param(PHONE, marks=pytest.mark.matrix)], ids=["desktop", "phone"])
def test_each_cell_has_a_bar_per_arm_in_the_looks_of_the_timeline(
    browser: Any, study: Path, size: tuple[int, int]
) -> None:
    """A wait's width is its share of the longer bar, its colour that of the timeline, and no name on it is cut."""
    with opened(browser, study / "report.html", size) as page:
        cells = page.evaluate(BARS)
        assert len(cells) == 2
        colours = page.evaluate("""() => Object.fromEntries(document.querySelector('[data-figure=median-timeline]').data
          .filter((trace) => trace.meta?.why).map((trace) => [trace.name, trace.marker.color]))""")
        order = [why.heading for why in Why]
        for bars in cells:
            assert len(bars) == 2
            slow, fast = (sum(part["width"] for part in bar) for bar in bars)
            assert fast / slow == pytest.approx((240 + 44) / (240 + 94), rel=0.01)
            for bar in bars:
                names = [part["told"].partition(":")[0] for part in bar]
                assert names == sorted(names, key=order.index)
                assert [part["colour"] for part in bar] == [_rgb(colours[name]) for name in names]
                assert not any(part["cut"] for part in bar)


def test_a_click_on_the_timeline_opens_the_packets_of_its_trials(browser: Any, study: Path, tmp_path: Path) -> None:
    """On the page of the median trials of the cell with the largest difference, also within a single file."""
    largest = analyse_study(study).most_different
    assert largest == "1 MB/loss"
    write_single_file(study / "report.html", tmp_path / "mail.html")
    for file in (study / "report.html", tmp_path / "mail.html"):
        page = browser.new_page()
        page.goto(file.as_uri())
        all_drawn(page)
        page.evaluate("""() => { const timeline = document.querySelector('[data-figure=median-timeline]');
          timeline.emit('plotly_click', { points: [{ data: timeline.data[0], customdata: [0, 0] }] }); }""")
        page.wait_for_selector("[data-figure=timeline][data-drawn] .main-svg")
        assert "1 % loss, 1 MB, the median trial of each arm" in page.title()
        assert page.url.endswith("median.html#figure-timeline")
        page.close()


@pytest.mark.nightly
@pytest.mark.parametrize("width", [1400, 390])
def test_the_demo_fits_six_screens(browser: Any, tmp_path: Path, width: int) -> None:
    """Nine cells, two of them not judged."""
    with tarfile.open(RECORD) as archive:
        archive.extractall(tmp_path, filter="data")
    with opened(browser, write_report(tmp_path / "demo-study"), (width, SCREEN_PX)) as page:
        page.reload()
        page.wait_for_selector("#longest [data-drawn] .main-svg")
        assert page.evaluate("document.documentElement.scrollHeight") <= MOST_SCREENS * SCREEN_PX


def _rgb(colour: str) -> str:
    """`#ff0000` as a browser tells it."""
    return f"rgb({int(colour[1:3], 16)}, {int(colour[3:5], 16)}, {int(colour[5:7], 16)})"
