# SPDX-License-Identifier: Apache-2.0
"""The critical path in a real Chromium: a stretch opens its packets by mouse and by keyboard, and a zoom shows more."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chromium import DESKTOP, PHONE, all_drawn, needs_chromium, opened
from synthetic_logs import ZERO_NS, write_logs
from synthetic_study import Shape, write_study
from unit.why.account.test_reason_runs import account

from quiclab.report.page.single_file import write_single_file
from quiclab.report.page.write import write_report
from quiclab.why.account import account_totals

pytestmark = needs_chromium

SMALL = replace(Shape(), workloads=("1 MB",), paths=("loss",), blocks=2, aa_blocks=0, voids=frozenset(),
                failures=frozenset())  # fmt: skip
WAITS = 600
BARS = """() => document.querySelector('[data-figure=timeline]').data
  .filter((trace) => trace.meta?.why === 'window_after_loss').map((trace) => trace.x.length)"""
TIMES = """() => document.querySelector('[data-figure=timeline]').data
  .filter((trace) => trace.meta?.why === 'window_after_loss' && trace.meta.band === 0)
  .map((trace) => trace.y.reduce((sum, share, at) => sum + share * trace.width[at], 0))"""
TIMELINE = "document.querySelector('[data-figure=timeline]')"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trials in which the link is busy for 3 ms and a window full for 2, by turns."""
    directory = write_study(tmp_path_factory.mktemp("study"), SMALL)
    edges = [("quic_handshake", "propagation_up", 20)]
    edges += [("link_busy", "payload", 3), ("window_after_loss", "propagation_up", 2)] * WAITS
    packets = [None, *([2, None] * WAITS)]
    numbers = [0, *(value for wait in range(WAITS) for value in (wait, wait))]
    table = account(
        *edges, packets=packets, packet_index=numbers, direction=["up", *(["down", "up"] * WAITS)],
        event_ns=[None, *([None, ZERO_NS + 30_000_000] * WAITS)],
    )  # fmt: skip
    shift = ZERO_NS - table["from_ns"][0]
    table = table.with_columns(table["from_ns"] + shift, table["until_ns"] + shift)
    for seed, trial in enumerate(sorted((directory / "trials").iterdir())):
        write_logs(directory, trial.name, 300, seed)
        for name, rows in (("account", table), ("account_totals", account_totals(table))):
            file = directory / "tables" / name / f"{trial.name}.parquet"
            file.parent.mkdir(parents=True, exist_ok=True)
            rows.write_parquet(file)
    write_report(directory)
    return directory


def page_of(study: Path) -> Path:
    """Of the first block."""
    return next(study.glob("report/pairs/1-*/block-0.html"))


def shown(page: Any) -> str:
    """What the panel of packets says."""
    page.wait_for_selector("#timeline-packets:not([hidden]) h4")
    return str(page.locator("#timeline-packets").inner_text())


def test_short_waits_are_heaped_and_a_zoom_shows_each(browser: Any, study: Path) -> None:
    """Six hundred waits are some hundred columns that keep their time; within 50 ms ten waits stand alone."""
    with opened(browser, page_of(study), DESKTOP, beside=(study / "report/pairs/figures.js",)) as page:
        heaped = page.evaluate(BARS)
        assert all(100 < bars < WAITS for bars in heaped)
        assert page.evaluate(TIMES) == [pytest.approx(2 * WAITS)]
        page.evaluate(f"Plotly.relayout({TIMELINE}, {{'xaxis.range': [1000, 1050]}})")
        page.wait_for_function(f"() => ({BARS})().every((bars) => bars <= 12)")
        assert page.evaluate(f"{TIMELINE}.data.find((trace) => trace.meta?.why === 'window_after_loss').y")[3] == 1
        page.evaluate(f"Plotly.relayout({TIMELINE}, {{'xaxis.autorange': true}})")
        page.wait_for_function(f"() => ({BARS})().every((bars) => bars > 100)")


def test_a_wait_opens_its_packets_by_keyboard(browser: Any, study: Path) -> None:
    """The button of the table, then those of the panel: each names the wait, its edges, its packets, their instants."""
    with opened(browser, page_of(study), DESKTOP, beside=(study / "report/pairs/figures.js",)) as page:
        page.locator("[data-spell]").nth(1).focus()
        page.keyboard.press("Enter")
        first = shown(page)
        assert "h2: congestion window after loss, 2.000 ms" in first
        assert "The window was last tightened at 30.000 ms" in first
        assert re.search(r"propagation up\s+up 0\s+link_packets\s+23\.000\s+25\.000\s+2\.000", first)
        page.locator("#timeline-packets button", has_text="Later wait").press("Enter")
        page.wait_for_function("() => document.querySelector('#timeline-packets').innerText.includes('28.000')")
        page.locator("#timeline-packets button", has_text="Show this place").press("Enter")
        page.wait_for_function(f"() => {TIMELINE}.layout.xaxis.range[1] < 100")


@pytest.mark.parametrize("size", [DESKTOP, pytest.param(PHONE, marks=pytest.mark.matrix)], ids=["desktop", "phone"])
def test_a_click_on_a_stretch_opens_it_and_nothing_is_clipped(browser: Any, study: Path, size: tuple[int, int]) -> None:
    """The set-up is long enough to be hit once it is zoomed in on; the page never scrolls sideways."""
    with opened(browser, page_of(study), size, beside=(study / "report/pairs/figures.js",)) as page:
        page.evaluate(f"Plotly.relayout({TIMELINE}, {{'xaxis.range': [0, 30]}})")
        page.locator("[data-figure=timeline]").scroll_into_view_if_needed()
        bar = page.locator("[data-figure=timeline] .bars .point path").first
        box = bar.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_selector("[data-figure=timeline] .hoverlayer .hovertext")
        page.mouse.down()
        page.mouse.up()
        assert "QUIC handshake, 20.000 ms" in shown(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_in_a_single_file_a_number_leads_to_its_reason_and_a_wait_to_its_packets(
    browser: Any, study: Path, tmp_path: Path
) -> None:
    """The page of the pair is a part of the file; its own links stay within it."""
    write_single_file(study / "report.html", tmp_path / "mail.html")
    with opened(browser, tmp_path / "mail.html", DESKTOP) as page:
        page.locator("#because .lead a").first.click()
        page.wait_for_selector("[data-figure=timeline]")
        all_drawn(page)
        page.locator("[data-spell]").first.click()
        assert "packets behind it" in shown(page) or "packet behind it" in shown(page)
        page.locator('a[href$="#timeline-sums"]').click()
        assert page.locator("#timeline-sums").is_visible()
