# SPDX-License-Identifier: Apache-2.0
"""The page about recordings from elsewhere in a real Chromium: its timeline, and the packets behind each stretch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chromium import DESKTOP, PHONE, needs_chromium, opened

from quiclab.cli.main import main

pytestmark = needs_chromium

_HERE = Path(__file__).parents[1] / "unit" / "cli" / "recordings"
_NETLOGS = Path(__file__).parents[1] / "decoders" / "netlog"
_BANDS = """() => document.querySelector('[data-figure=timeline]').layout.meta.bands
  .map((band) => band.headings.map((name, at) => [name, band.why.filter((why) => why === at).length]))"""


def _page(out: Path, *recordings: str) -> Path:
    assert main(["explain", *recordings, "-o", str(out)]) == 0
    return out


def _listed(page: Any, stretch: int) -> list[list[str]]:
    """Rows of the packets behind a stretch of the first band, opened as the table of waits does it."""
    button = f"<button id=asked data-band=0 data-spell={stretch}>packets</button>"
    page.evaluate("(button) => document.querySelector('main').insertAdjacentHTML('beforeend', button)", button)
    page.locator("#asked").click()
    page.evaluate("document.querySelector('#asked').remove()")
    page.wait_for_selector("#timeline-packets:not([hidden]) h3")
    rows: list[list[str]] = page.locator("#timeline-packets tbody tr").evaluate_all(
        "rows => rows.map((row) => [...row.cells].map((cell) => cell.innerText))"
    )
    return rows


@pytest.mark.parametrize("size", [DESKTOP, pytest.param(PHONE, marks=pytest.mark.matrix)], ids=["desktop", "phone"])
def test_two_captures(tmp_path: Path, browser: Any, size: tuple[int, int]) -> None:
    """Both bands, and behind the only wait the segment that ended it; a handshake lists its packets in order."""
    keys = [part for name in ("h2", "h3") for part in ("--keys", str(_HERE / f"{name}.keys"))]
    files = ["--h2", str(_HERE / "h2.pcapng.gz"), "--h3", str(_HERE / "h3.pcapng.gz")]
    with opened(browser, _page(tmp_path / "why.html", *files, *keys), size) as page:
        assert page.locator(".answer").inner_text().startswith("h3 took 27.2 ms less than h2")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        h2, h3 = page.evaluate(_BANDS)
        parts = ["handshake", "client before its request", "request to answer", "data arriving"]
        assert [name for name, _ in h2] == [*parts, "waits"]
        assert [name for name, _ in h3][:4] == parts
        stretch = int(page.locator("#waits [data-band='0']").first.get_attribute("data-spell"))
        wait = _listed(page, stretch)
        assert wait[-1][0] == "server → client"
        assert wait[-1][1].startswith("data from ")
        # Wireshark's numbers rise with the time.
        assert [int(row[4]) for row in wait] == sorted(int(row[4]) for row in wait)
        assert [row[1] for row in _listed(page, 0)][:3] == ["SYN", "SYN-ACK", "ACK"]


def test_a_log_names_frames(tmp_path: Path, browser: Any) -> None:
    """Packets of a qlog have their numbers and what they carry."""
    out = _page(tmp_path / "why.html", "--h3", str(_HERE / "h3-client.sqlog.gz"))
    with opened(browser, out, DESKTOP) as page:
        assert page.locator("h1").inner_text() == "h3-client.sqlog.gz"
        carried = [row[1] for row in _listed(page, 2)]
        assert any(each.startswith("1-RTT ") and "stream 0 from " in each for each in carried), carried[:5]


def test_a_log_without_packets_says_so(tmp_path: Path, browser: Any) -> None:
    """A browser's log of HTTP/2 has times and no packets."""
    out = _page(tmp_path / "why.html", "--h2", str(_NETLOGS / "chromium-h2.json.gz"))
    with opened(browser, out, DESKTOP) as page:
        assert _listed(page, 0) == []
        assert "no packets of this time" in page.locator("#timeline-packets").inner_text()


def test_hostile_names_stay_text(tmp_path: Path, browser: Any) -> None:
    """A file may be called anything."""
    hostile = tmp_path / "<img src=x onerror=alert(1)>.sqlog.gz"
    hostile.write_bytes((_HERE / "h3-client.sqlog.gz").read_bytes())
    with opened(browser, _page(tmp_path / "why.html", "--h3", str(hostile)), DESKTOP) as page:
        assert page.locator("img").count() == 0
        assert "onerror" in page.locator("h1").inner_text()
