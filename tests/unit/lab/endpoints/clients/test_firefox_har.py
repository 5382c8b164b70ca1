# SPDX-License-Identifier: Apache-2.0
"""What Firefox tells of a load, as a HAR: valid by its schema, and read again at the instants that Firefox told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fastjsonschema
from har_schema import HAR

from quiclab.lab.endpoints.clients._firefox_har import har
from quiclab.logs.decoders import Context, decoder_of

EPOCH_US = 1_790_000_000_000_000
URL = "https://server.test/index.html"


def _seen(url: str, kind: int, **instants: int) -> dict[str, Any]:
    told = dict.fromkeys(
        ("name_start", "name_end", "connect_start", "secure_start", "connect_end", "sent", "first", "last"), 0
    )
    at = {name: EPOCH_US + since for name, since in instants.items()}
    fixed = {"url": url, "method": "GET", "type": kind, "status": 200, "hop": "h3", "content_type": "text/html"}
    return told | at | fixed | {"encoded": 700, "error": None}


FIRST = _seen(
    URL,
    6,
    start=0,
    name_start=1_000,
    name_end=3_000,
    connect_start=3_500,
    secure_start=4_000,
    connect_end=9_000,
    sent=9_200,
    first=20_000,
    last=20_500,
)
ON_THE_SAME_CONNECTION = _seen("https://server.test/a.png", 3, start=30_000, sent=31_250, first=40_000, last=50_125)
REFUSED = _seen("https://outside.example/", 20, start=32_000) | {"status": None, "hop": None, "error": "NS_ERROR_X"}


def _text() -> str:
    moments = {"onContentLoad": 30.0, "onLoad": 55.0, "_firstContentfulPaint": 41.5, "_largestContentfulPaint": None}
    # The page's process learns of the navigation 2 ms after the request was opened.
    return har(URL, "153.0", (EPOCH_US + 2_000) * 1000, moments, [FIRST, ON_THE_SAME_CONNECTION, REFUSED])


def test_it_is_a_har() -> None:
    """By its schema."""
    fastjsonschema.compile(HAR)(json.loads(_text()))


def test_instants_are_those_that_firefox_told(tmp_path: Path) -> None:
    """To the microsecond, of a new connection as of one that is used again; a failure has its name."""
    (tmp_path / "client-page.har").write_text(_text())
    decoder = decoder_of(tmp_path / "client-page.har")
    assert decoder is not None
    tables = decoder.decode(tmp_path / "client-page.har", Context()).tables
    rows = tables["http_requests"].sort("time_ns").to_dicts()
    columns = (
        "time_ns",
        "name_start_ns",
        "name_end_ns",
        "secure_start_ns",
        "send_start_ns",
        "headers_ns",
        "last_byte_ns",
    )
    told = [[None if row[name] is None else row[name] // 1000 - EPOCH_US for name in columns] for row in rows]
    assert told[0] == [0, 1_000, 3_000, 4_200, 9_200, 20_000, 20_500]
    assert told[1] == [30_000, None, None, None, 31_250, 40_000, 50_125]
    assert (rows[2]["status"], rows[2]["error"]) == (None, "NS_ERROR_X")
    assert [row["resource_type"] for row in rows] == ["Document", "Image", "Fetch"]
    moments = {row["name"]: row["time_ns"] // 1000 - EPOCH_US for row in tables["page_events"].to_dicts()}
    assert moments == {
        "navigationStart": 0,
        "onContentLoad": 32_000,
        "onLoad": 57_000,
        "firstContentfulPaint": 43_500,
    }
