# SPDX-License-Identifier: Apache-2.0
"""Words of figures on a phone: none is cut, none lies over another, and what needs more width scrolls by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from chromium import DESKTOP, PHONE, all_drawn, needs_chromium, opened
from synthetic_logs import write_account, write_logs
from synthetic_study import Shape, write_study

from quiclab.report.figures.losses import Losses
from quiclab.report.page.standalone_figure import write_figure
from quiclab.report.page.write import write_report

pytestmark = needs_chromium

SHAPE = replace(
    Shape(), workloads=("100 KB", "1 MB", "5 MB", "10 MB", "20 MB", "50 MB", "80 MB", "99 MB"), paths=("loss",),
    blocks=1, aa_blocks=0, voids=frozenset(), failures=frozenset(),
)  # fmt: skip
CUT = """(names) => names.flatMap((name) => {
  const figure = document.querySelector(`[data-figure="${name}"]`), box = figure.getBoundingClientRect();
  const words = [...figure.querySelectorAll("text")].filter((each) => each.textContent.trim() && each.checkVisibility())
    .map((each) => [each.textContent, each.getBoundingClientRect()]).filter(([, at]) => at.width && at.height);
  const out = words.filter(([, at]) =>
    at.left < box.left - 1 || at.right > box.right + 1 || at.bottom > box.bottom + 1);
  const shared = (a, b, low, high) => Math.min(a[high], b[high]) - Math.max(a[low], b[low]);
  const over = words.flatMap(([one, a], at) => words.slice(at + 1)
    .filter(([, b]) => shared(a, b, "left", "right") > 1.5 && shared(a, b, "top", "bottom") > 3)
    .map(([other]) => `${name}: ${one} over ${other}`));
  return [...out.map(([text]) => `${name}: ${text} is cut`), ...over];
})"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight sizes, too few pairs to decide anything, and the logs of each trial."""
    directory = write_study(tmp_path_factory.mktemp("study"), SHAPE)
    for trial in sorted((directory / "trials").iterdir()):
        write_logs(directory, trial.name, 300)
        write_account(directory, trial.name, 90)
    write_report(directory)
    return directory


def test_a_map_of_many_columns_scrolls_and_its_words_are_whole(browser: Any, study: Path) -> None:
    """Also with the line that a choice adds; the words below the map are broken into the width of the screen."""
    with opened(browser, study / "report.html", PHONE) as page:
        page.locator("[name=large]").check()
        page.wait_for_selector("#map .gtitle tspan:has-text('no number')")
        assert page.evaluate(CUT, ["map-1"]) == []
        scroller = page.locator("#map .scroll").first
        assert scroller.evaluate("each => each.scrollWidth > each.clientWidth")
        right = "document.querySelector('#map .gtitle').getBoundingClientRect().right"
        assert page.evaluate(right) <= PHONE[0]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_waits_have_their_words_above_their_bars(browser: Any, study: Path) -> None:
    """The waterfall of each cell of the report has whole words."""
    with opened(browser, study / "report.html", PHONE) as page:
        page.evaluate("document.querySelectorAll('#because details').forEach((each) => (each.open = true))")
        all_drawn(page)
        names = page.locator("#because [data-figure]").evaluate_all("all => all.map((each) => each.dataset.figure)")
        assert len(names) == len(SHAPE.workloads)
        assert page.evaluate(CUT, names) == []


def test_paper_takes_what_scrolls_as_a_smaller_figure(browser: Any, study: Path) -> None:
    """Whole, within the width of the sheet; afterwards it has its size again."""
    with opened(browser, study / "report.html", DESKTOP) as page:
        map_of = "document.querySelector('[data-figure=map-1]')"
        least = int(page.evaluate(f"{map_of}.dataset.least"))
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        sheet = page.evaluate("document.body.getBoundingClientRect().right")
        assert page.evaluate("document.body.clientWidth") < least
        assert page.evaluate(f"{map_of}.getBoundingClientRect().right") <= sheet + 1
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.evaluate(f"{map_of}.style.zoom") == ""


def test_lanes_of_losses_have_their_words_above_them(browser: Any, tmp_path: Path) -> None:
    """The longest ones too, in a figure by itself."""
    lanes = ("link: lost", "sender (estimate): declared lost, but had arrived")
    rows = [{"arm": arm, "lane": lane, "x_ms": 7.0, "told": "packet 1"} for arm in ("h2", "h3") for lane in lanes]
    write_figure(Losses(), pl.DataFrame(rows), tmp_path / "losses.html")
    with opened(browser, tmp_path / "losses.html", PHONE) as page:
        assert page.locator("[data-figure=losses] .annotation").count() == 4
        assert page.evaluate(CUT, ["losses"]) == []
        assert page.locator("[data-figure=losses] .xtitle").bounding_box()["width"] <= PHONE[0]
