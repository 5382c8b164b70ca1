# SPDX-License-Identifier: Apache-2.0
"""The site of the docs in a real Chromium without a network: built, searched, and read on a desk and on a phone."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import DESKTOP, PHONE, needs_chromium, started

pytestmark = [pytest.mark.nightly, needs_chromium]

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("index.html", "learn/tutorial.html", "reference/spec.html", "reference/tables/tcp_info.html", "papers.html",
         "experiments/demo/spec.toml.html", "project/changelog.html")  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `make site` builds and checks it."""
    folder = tmp_path_factory.mktemp("site") / "site"
    subprocess.run([str(ROOT / "tools" / "site.sh"), str(folder)], check=True)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium."""
    with started() as chromium:
        yield chromium


def open_page(browser: Any, address: str, size: tuple[int, int], scheme: str = "light") -> tuple[Any, list[str]]:
    """A page, and what it requested that is no file."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, offline=True, service_workers="block"
    )
    page = context.new_page()
    elsewhere: list[str] = []
    page.on("request", lambda request: elsewhere.append(request.url))
    page.goto(address)
    page.wait_for_load_state("networkidle")
    return page, [url for url in elsewhere if not url.startswith(("file:", "data:", "blob:"))]


@pytest.mark.parametrize("size", [DESKTOP, (1400, 900), PHONE])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_and_loads_nothing_from_elsewhere(
    site: Path, browser: Any, name: str, size: tuple[int, int]
) -> None:
    """Wide tables scroll within themselves."""
    page, elsewhere = open_page(browser, (site / name).as_uri(), size)
    assert elsewhere == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.context.close()


@pytest.mark.parametrize(
    ("words", "found"),
    [("slow start", "reference/causes/slow_start.html"), ("initial_window", "reference/spec.html"),
     ("void", "project/glossary.html")],
)  # fmt: skip
def test_the_search_needs_no_network(site: Path, browser: Any, words: str, found: str) -> None:
    """A word of a page, of code and of the glossary."""
    page, elsewhere = open_page(browser, f"{(site / 'search.html').as_uri()}?q={words.replace(' ', '+')}", DESKTOP)
    page.wait_for_selector(f'#search-results a[href^="{found}"]')
    assert elsewhere == []
    page.context.close()


def test_dark_mode_is_dark(site: Path, browser: Any) -> None:
    """The page follows the reader's setting."""
    shades = []
    for scheme in ("light", "dark"):
        page, _ = open_page(browser, (site / "index.html").as_uri(), DESKTOP, scheme)
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        shades.append(sum(colour[:3]))
        page.context.close()
    light, dark = shades
    assert dark < 200 < 600 < light
