# SPDX-License-Identifier: Apache-2.0
"""Cost of a report: to write one of 1,000 trials, to open it, to move about in it, and one of a million packets.

Times in the browser are those of a real Chromium without a graphics card, the slowest way to draw.

    python benches/bench_report.py [--quick] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from _bench import Row, print_table
from _figures import pair_seconds, study_seconds
from synthetic_logs import write_logs
from synthetic_study import Shape, write_study

WRITTEN_S, OPENED_S, FIGURE_S = 60.0, 2.0, 1.0
FRAMES_PER_S = 30.0
REPORT_MB, PAIR_MB, MILLION_MB = 10.0, 1.0, 64.0
"""The size budget: the report of 1,000 trials, a pair of trials of 1,000 packets, one of trials of a million."""
_WRITE = (
    "import sys; from pathlib import Path; from quiclab.report.page.write import write_report;"
    "write_report(Path(sys.argv[1]))"
)
_VERB = "import sys; from quiclab.cli.main import main; sys.exit(main(sys.argv[1:]))"
_FRAMES = """() => new Promise((done) => {
  const stamps = [];
  const step = (now) => { stamps.push(now); if (stamps.length < 90) requestAnimationFrame(step); else done(stamps); };
  requestAnimationFrame(step);
})"""


def make(folder: Path, blocks: int, packets: int, shape: Shape) -> Path:
    """A study whose every trial has the tables of `packets` packets."""
    if not folder.exists():
        folder.mkdir(parents=True)
        write_study(folder, replace(shape, blocks=blocks, aa_blocks=min(blocks, shape.aa_blocks)))
        for seed, trial in enumerate(sorted((folder / "trials").iterdir())):
            write_logs(folder, trial.name, packets, seed)
    return folder


def seconds(*command: str | Path) -> float:
    """Time on the wall of a command, from start to end."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def megabytes(file: Path) -> float:
    """Size of a file."""
    return file.stat().st_size / 1e6


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser that draws without help."""
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        yield browser
        browser.close()


def all_drawn(page: Any) -> None:
    """Wait for it."""
    from playwright.sync_api import expect

    expect(page.locator("[data-figure]:not([data-drawn])")).to_have_count(0, timeout=240_000)


def opening(browser: Any, page_file: Path, rounds: int) -> list[float]:
    """Seconds from the click until the first screen is drawn."""
    found = []
    for _ in range(rounds):
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(240_000)
        begin = time.perf_counter()
        page.goto(page_file.as_uri(), wait_until="commit")
        page.wait_for_selector("[data-drawn]", state="attached")
        page.evaluate("new Promise(requestAnimationFrame)")
        found.append(time.perf_counter() - begin)
        page.close()
    return found


def frames_per_s(page: Any, move: Callable[[int], None]) -> float:
    """Frames per second while something moves."""
    page.evaluate(f"window.counted = ({_FRAMES})()")
    for step in range(30):
        move(step)
    stamps = page.evaluate("window.counted")
    return 1000 * (len(stamps) - 1) / float(stamps[-1] - stamps[0])


def scrolling(browser: Any, page_file: Path) -> float:
    """Frames per second while the wheel turns, everything drawn before."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(240_000)
    page.goto(page_file.as_uri())
    all_drawn(page)
    page.mouse.move(640, 450)
    found = frames_per_s(page, lambda step: page.mouse.wheel(0, 400 if step % 20 < 10 else -400))
    page.close()
    return found


def zooming(browser: Any, page_file: Path, name: str) -> tuple[list[float], float]:
    """Seconds of each zoom in a figure of a long trial, and frames per second while it is dragged."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(240_000)
    page.goto(page_file.as_uri())
    figure = page.locator(f'[data-figure="{name}"]')
    figure.scroll_into_view_if_needed()
    page.wait_for_selector(f'[data-figure="{name}"][data-drawn]', timeout=120_000)
    all_drawn(page)
    zooms = page.evaluate(
        """async (name) => {
          const element = document.querySelector(`[data-figure="${name}"]`);
          const [low, high] = element.layout.xaxis.range.map(Number);
          const taken = [];
          for (let share = 0.5; share > 0.001; share /= 2) {
            const begin = performance.now();
            await Plotly.relayout(element, { "xaxis.range": [low, low + (high - low) * share] });
            await new Promise(requestAnimationFrame);
            taken.push((performance.now() - begin) / 1000);
          }
          await Plotly.relayout(element, { "xaxis.autorange": true, dragmode: "pan" });
          return taken;
        }""",
        name,
    )
    box = figure.locator(".nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 100)
    page.mouse.down()
    dragged = frames_per_s(page, lambda step: page.mouse.move(box["x"] + 300 + 8 * (step % 20), box["y"] + 100))
    page.mouse.up()
    page.close()
    return zooms, dragged


def main() -> None:
    """Write, weigh, open, move."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the trials and packets")
    parser.add_argument("--keep", type=Path, help="keep the studies there, or use those that are there")
    options = parser.parse_args()
    part = 10 if options.quick else 1
    lone = replace(Shape(), workloads=("1 MB",), paths=("loss",), failures=frozenset(), voids=frozenset(), aa_blocks=0)
    with tempfile.TemporaryDirectory() as name:
        folder = options.keep or Path(name)
        many = make(folder / "many", 55 // part, 1_000, Shape())
        long = make(folder / "long", 1, 1_000_000 // part, lone)
        write = (sys.executable, "-c", _WRITE)
        wrote = seconds(*write, many)
        trials = len(list((many / "trials").iterdir()))
        rows = [limit(f"write the report of {trials} trials", [wrote], "s", WRITTEN_S)]
        rows.append(limit("write the report of one long pair", [seconds(*write, long)], "s", WRITTEN_S))
        report, pair = many / "report.html", next(many.glob("report/pairs/1-*/block-0.html"))
        million = next(long.glob("report/pairs/1-*/block-0.html"))
        rows += [
            limit("size of that report", [megabytes(report)], "MB", REPORT_MB),
            limit("size of a pair's page", [megabytes(pair)], "MB", PAIR_MB),
            limit(f"the same, {1_000_000 // part:,} packets a trial", [megabytes(million)], "MB", MILLION_MB),
            limit("one figure of a pair, from tables", pair_seconds(many), "s", FIGURE_S),
        ]
        rows += [
            limit(f"the figure {figure} of {trials} trials, from tables", [taken], "s", FIGURE_S)
            for figure, taken in study_seconds(many).items()
        ]
        alone = (sys.executable, "-c", _VERB, "figure", "differences", many, "-o", folder / "figure.html")
        rows.append(limit("`quiclab figure differences`, from start to end", [seconds(*alone)], "s", FIGURE_S))
        if shutil.which("chromium"):
            with chromium() as browser:
                rows.append(limit("open the report", opening(browser, report, 3), "s", OPENED_S))
                rows.append(limit("open a pair's page", opening(browser, pair, 3), "s", OPENED_S))
                rows.append(least("scroll the report", scrolling(browser, report)))
                rows.append(limit("open the page of the long pair", opening(browser, million, 3), "s", OPENED_S))
                zooms, dragged = zooming(browser, million, "queue")
                rows.append(limit("zoom into a curve of the long pair", zooms, "s", FIGURE_S))
                rows.append(least("drag that curve", dragged))
    print_table("The report", rows)


def limit(what: str, values: list[float], unit: str, most: float) -> Row:
    """A row whose every value should be below a bound."""
    return Row(what, values, unit, target=f"< {most:g} {unit}", reached=max(values) < most)


def least(what: str, frames: float) -> Row:
    """A row of a frame rate."""
    return Row(what, [frames], "frames/s", target=f"> {FRAMES_PER_S:g}", reached=frames > FRAMES_PER_S)


if __name__ == "__main__":
    main()
