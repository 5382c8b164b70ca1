# SPDX-License-Identifier: Apache-2.0
"""Pages of reports in a real Chromium: opened with all figures drawn, left with a clean console."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright (pip install playwright)")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium (apt-get install chromium)")

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
DESKTOP, PHONE = (1280, 900), (375, 812)
PATIENCE_MS = 120_000
"""A loaded machine draws slowly."""
_TABS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""A browser's tab, left blank by a test that passed: there the library of figures is compiled, two thirds of the time
that opening a page takes. Pages store nothing, and each is loaded anew."""


@contextmanager
def started() -> Iterator[Any]:
    """A Chromium."""
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@contextmanager
def opened(
    browser: Any, report: Path, size: tuple[int, int], scheme: str = "light", beside: tuple[Path, ...] = ()
) -> Iterator[Any]:
    """The page with all figures drawn; leaving it asserts that the console is clean and only `beside` was requested."""
    page = _TABS.pop(browser, None) or browser.new_context().new_page()
    page.context.set_default_timeout(PATIENCE_MS)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme=scheme)
    console: list[str] = []
    requests: list[str] = []
    listeners = {
        "console": lambda message: console.append(f"{message.type}: {message.text}"),
        "pageerror": lambda error: console.append(str(error)),
        "request": lambda request: requests.append(request.url),
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    page.goto(report.as_uri())
    all_drawn(page)
    yield page
    assert console == []
    assert {url for url in requests if not url.startswith(("data:", "blob:"))} == {
        file.as_uri() for file in (report, *beside)
    }
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
    page.goto("about:blank")
    _TABS[browser] = page


def all_drawn(page: Any) -> None:
    """Unfold the page, and wait until no figure is left to draw."""
    page.evaluate("document.querySelectorAll('details.part').forEach((part) => (part.open = true))")
    sync_api.expect(page.locator("[data-figure]:not([data-drawn])")).to_have_count(0, timeout=PATIENCE_MS)
