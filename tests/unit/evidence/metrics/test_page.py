# SPDX-License-Identifier: Apache-2.0
"""The load of a page, by hand: moments, visual progress, what came by which protocol, the chain that took longest."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image
from trial_records import record

from quiclab.evidence.metrics import MetricRow, compute_trial
from quiclab.evidence.metrics._visual import last_change, speed_index, visual_progress
from quiclab.model.tables import TABLES

URL = "https://server.test/index.html"
ZERO_MS = 1000


def _shot(*colours: str) -> bytes:
    """A picture of as many stripes."""
    image = Image.new("RGB", (len(colours) * 10, 10))
    for number, colour in enumerate(colours):
        image.paste(colour, (number * 10, 0, number * 10 + 10, 10))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def _event(ms: float, name: str, detail: dict[str, Any] | None = None, image: bytes | None = None) -> dict[str, Any]:
    told = None if detail is None else json.dumps({"data": detail})
    time_ns = round((ZERO_MS + ms) * 1e6)
    return {
        "source": "raw/client-trace.json",
        "time_ns": time_ns,
        "page": "F",
        "name": name,
        "detail": told,
        "image": image,
    }


def _request(name: str, start: float, end: float, kind: str, size: int, version: str, because: str) -> dict[str, Any]:
    at = [round((ZERO_MS + ms) * 1e6) for ms in (start, end)]
    return {
        "source": "raw/client-trace.json",
        "url": f"https://server.test/{name}",
        "time_ns": at[0],
        "send_start_ns": at[0],
        "headers_ns": at[0] + 5_000_000,
        "last_byte_ns": at[1],
        "resource_type": kind,
        "response_body_bytes": size,
        "http_version": version,
        "status": 200,
        "initiator": f"https://server.test/{because}" if because else None,
    }


EVENTS = [
    _event(-100, "navigationStart", {"documentLoaderURL": "about:blank"}),
    _event(-50, "loadEventStart"),
    _event(0, "navigationStart", {"documentLoaderURL": URL}),
    _event(40, "firstContentfulPaint"),
    _event(50, "largestContentfulPaint::Candidate"),
    _event(90, "largestContentfulPaint::Candidate"),
    _event(60, "LargestImagePaint::Candidate", {"imageUrl": "https://server.test/b.png"}),
    _event(120, "loadEventStart"),
    _event(10, "Screenshot", image=_shot("white", "white")),
    _event(50, "Screenshot", image=_shot("red", "white")),
    _event(90, "Screenshot", image=_shot("red", "blue")),
    _event(130, "Screenshot", image=_shot("red", "blue")),
]
REQUESTS = [
    _request("index.html", 0, 20, "Document", 100, "HTTP/3", ""),
    _request("a.css", 20, 40, "Stylesheet", 300, "HTTP/2", "index.html"),
    _request("b.png", 40, 85, "Image", 500, "HTTP/3", "a.css"),
    _request("c.png", 20, 60, "Image", 500, "HTTP/2", "index.html"),
]


def _metrics(
    folder: Path, page: dict[str, Any] | None, main: str | None = None, requests: list[dict[str, Any]] = REQUESTS
) -> dict[str, MetricRow]:
    tables = {
        name: pl.concat([TABLES[name].empty(), pl.DataFrame(rows)], how="diagonal_relaxed")
        for name, rows in (("page_events", EVENTS), ("http_requests", requests))
    }
    tables["http_requests"] = tables["http_requests"].with_columns(
        name_start_ns=pl.when(pl.col("url") == URL).then(pl.col("time_ns")),
        name_end_ns=pl.when(pl.col("url") == URL).then(pl.col("time_ns") + 3_000_000),
    )
    expected = {} if page is None else {"page": page | {"main_image": main, "resources": [{"url": URL}]}}
    trial = {"trial_id": "t", "expected": expected, "client": {"page": {"went_ns": round((ZERO_MS - 60) * 1e6)}}}
    return {row.name: row for row in compute_trial(folder, tables, record(trial))}


@pytest.mark.parametrize(
    ("urls", "value", "note"),
    [
        ((), 0, None),
        (("c.png",), 1, None),
        (("a.css", "b.png", "c.png"), 3, "the document alone came over the network"),
    ],
)
def test_requests_that_the_cache_answered_are_told(
    tmp_path: Path, urls: tuple[str, ...], value: int, note: str | None
) -> None:
    """A page that came from the cache but for its document says so."""
    asked = [row | {"from_cache": row["url"].endswith(urls) if urls else None} for row in REQUESTS]
    row = _metrics(tmp_path, {}, requests=asked)["page_requests_from_cache"]
    assert (row.value, row.note) == (value, note)


def test_moments_and_bytes(tmp_path: Path) -> None:
    """Since the start of the navigation to the page, not of any other."""
    found = {name: row.value for name, row in _metrics(tmp_path, {}).items()}
    assert {name: found[name] for name in ("plt_ms", "fcp_ms", "lcp_ms", "page_ttfb_ms", "last_visual_change_ms")} == {
        "plt_ms": 117,
        "fcp_ms": 40,
        "lcp_ms": 90,
        "page_ttfb_ms": 5,
        "last_visual_change_ms": 90,
    }
    assert found["speed_index_ms"] == 50 + 40 * 0.5
    assert (found["page_requests"], found["page_bytes"], found["page_failed_requests"]) == (4, 1400, 0)
    assert found["page_bytes_h3_pct"] == pytest.approx(600 / 14)
    assert [found[f"page_{kind}_h3_pct"] for kind in ("html", "css", "js", "image")] == [100, 0, None, 50]


def test_the_longest_chain(tmp_path: Path) -> None:
    """The image that the stylesheet asked for ends last."""
    row = _metrics(tmp_path, {})["critical_path_ms"]
    assert (row.value, row.note) == (85, "index.html → a.css → b.png")


def test_the_main_image(tmp_path: Path) -> None:
    """The one that the site names, else the largest that was painted."""
    named = _metrics(tmp_path, {}, main="https://server.test/c.png")
    painted = _metrics(tmp_path, {})
    assert [named[f"main_image_{what}_ms"].value for what in ("start", "end")] == [20, 60]
    assert [painted[f"main_image_{what}_ms"].value for what in ("start", "end")] == [40, 85]


def test_no_page(tmp_path: Path) -> None:
    """Trials of objects say so."""
    row = _metrics(tmp_path, None)["plt_ms"]
    assert (row.value, row.note) == (None, "the trial loaded no page")


def test_a_page_that_never_changes_is_seen_at_once() -> None:
    """Nothing is left to wait for."""
    seen = visual_progress([(10.0, _shot("red")), (20.0, _shot("red"))])
    assert (speed_index(seen), last_change(seen)) == (10.0, 10.0)
