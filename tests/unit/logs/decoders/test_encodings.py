# SPDX-License-Identifier: Apache-2.0
"""JSON as programs on Windows write it: UTF-16, and UTF-8 behind a byte order mark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quiclab.logs.decoders import DECODERS, find
from quiclab.logs.decoders._api import Context
from quiclab.spec.har import read_har

_ENTRY: dict[str, Any] = {
    "startedDateTime": "2024-01-01T00:00:00.000Z",
    "time": 5,
    "request": {"method": "GET", "url": "https://www.test/ä", "httpVersion": "h2"},
    "response": {"status": 200, "httpVersion": "h2", "bodySize": 5000, "content": {"size": 5000}},
    "timings": {"wait": 3},
}
_HAR = {"log": {"version": "1.2", "creator": {"name": "ü", "version": "1"}, "entries": [_ENTRY]}}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_har_is_read_whatever_its_encoding(tmp_path: Path, encoding: str) -> None:
    """As a log and as a page to replay; what it says is the same."""
    file = tmp_path / "page.har"
    file.write_bytes(json.dumps(_HAR, ensure_ascii=False).encode(encoding))
    found = find([(file, "page.har")])
    assert [(log.name, log.decoder.format) for log in found.logs] == [("page.har", "har")]
    decoder = next(each for each in DECODERS if each.format == "har")
    requests = decoder.decode(file, Context()).tables["http_requests"]
    assert requests.select("url", "status").rows() == [("https://www.test/ä", 200)]
    assert read_har(file).document.size == 5000
