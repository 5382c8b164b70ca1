# SPDX-License-Identifier: Apache-2.0
"""JSON has no order of members (RFC 8259 section 4): logs are the same whichever stands first."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from polars.testing import assert_frame_equal

from quiclab.logs.decoders import Context, FileTables, decoder_of

HERE = Path(__file__).parent
_LONG = {"comment": "x" * 9_000, "other": {"log": 1, "events": ["}", {"a": []}]}}
_HAR = {
    "log": {
        "version": "1.2",
        "creator": {"name": "x", "version": "1"},
        "entries": [
            {
                "startedDateTime": "2026-01-01T00:00:00.000Z",
                "time": 5,
                "request": {"method": "GET", "url": "https://a.test/", "headers": [], "headersSize": -1},
                "response": {"status": 200, "content": {"size": 10}, "headers": [], "headersSize": -1, "bodySize": 10},
                "timings": {"send": 0, "wait": 4, "receive": 1},
            }
        ],
    }
}


def _decoded(content: Any, path: Path, expected: str) -> FileTables:
    path.write_bytes(gzip.compress(json.dumps(content).encode()))
    decoder = decoder_of(path)
    assert decoder is not None
    assert decoder.format == expected
    return decoder.decode(path, Context())


def _reversed(content: Any) -> Any:
    """Members of the document and of the objects right below it in the other order, behind long ones of no meaning."""
    turned = {
        name: dict(reversed(value.items())) if isinstance(value, dict) else value
        for name, value in reversed(content.items())
    }
    return _LONG | turned


def _golden(name: str) -> Any:
    return json.loads(gzip.decompress((HERE / name).read_bytes()))


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        pytest.param(_golden("netlog/chromium-h3.json.gz"), "netlog", id="netlog"),
        pytest.param(_golden("netlog/chromium-h2.json.gz"), "netlog", id="netlog-h2"),
        pytest.param(_golden("qlog/aioquic-client-100kb.qlog.gz"), "qlog", id="qlog"),
        pytest.param(_golden("qlog/pcap2qlog-draft01-new-cid.qlog.gz"), "qlog", id="qlog-arrays"),
        pytest.param(_golden("page/chromium-trace.json.gz"), "trace_events", id="trace"),
        pytest.param(_HAR, "har", id="har"),
    ],
)
def test_a_log_is_the_same_in_every_order(content: Any, kind: str, tmp_path: Path) -> None:
    """Recognised, and with the same rows."""
    if kind == "qlog":
        turned = [dict(reversed(trace.items())) for trace in content["traces"]]
        other = _reversed(content | {"traces": turned})
    else:
        other = _reversed(content)
    # Names of connections may come from the file's.
    before, after = (_decoded(each, tmp_path / "log.json", kind) for each in (content, other))
    assert before.tables.keys() == after.tables.keys()
    for name, rows in before.tables.items():
        assert_frame_equal(after.tables[name], rows)
    assert after.dialect == before.dialect


@pytest.mark.parametrize("content", [b"", b"{", b'{"a": 1}', b"[1, 2]", b"\x1e{}", b"[" * 100_000, b'{"log": 1, "x'])
def test_other_json_is_no_log(content: bytes, tmp_path: Path) -> None:
    """Whatever is cut, nested or foreign is looked at and left alone."""
    path = tmp_path / "file.json"
    path.write_bytes(content)
    assert decoder_of(path) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"version": 1, "link": "bottleneck", "log": {"records": 7, "complete": true}, "up": {"entries": 3}}',
        '{"log": {"records": 7}, "version": 1, "entries": []}',
    ],
)
def test_a_member_log_alone_makes_no_har(tmp_path: Path, text: str) -> None:
    """The link's own account of a trial has one: what makes a HAR stands in it, not beside it."""
    (tmp_path / "link.json").write_text(text)
    assert decoder_of(tmp_path / "link.json") is None
