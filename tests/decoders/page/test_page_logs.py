# SPDX-License-Identifier: Apache-2.0
"""Trace events of a real browser against a plain reading; HAR in its dialects with known rows."""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from quiclab.logs.decoders import Context, FileTables, decoder_of

TRACE = Path(__file__).parent / "chromium-trace.json.gz"
_START = 1_767_225_600 * 10**9


def decoded(path: Path, expected: str, context: Context | None = None) -> FileTables:
    """The file, by the decoder that must recognise it."""
    decoder = decoder_of(path)
    assert decoder is not None
    assert decoder.format == expected
    return decoder.decode(path, context or Context())


def test_moments_of_a_real_page() -> None:
    """Paints, marks and navigation starts have the event's instant, frame and number; the clock is named."""
    events = json.loads(gzip.decompress(TRACE.read_bytes()))["traceEvents"]
    file = decoded(TRACE, "trace_events")
    rows = file.tables["page_events"]
    assert (file.clock, file.resolution_ns) == ("monotonic", 1000)
    for name in (
        "navigationStart",
        "firstContentfulPaint",
        "largestContentfulPaint::Candidate",
        "mark",
        "loadEventEnd",
    ):
        plain = [event for event in events if event["name"] == name]
        assert plain
        told = rows.filter(pl.col("name") == name)
        assert told["time_ns"].to_list() == [event["ts"] * 1000 for event in plain]
        assert told["process"].to_list() == [event["pid"] for event in plain]
        assert told["page"].to_list() == [event["args"].get("frame") for event in plain]
    candidate = rows.row(by_predicate=pl.col("name") == "largestContentfulPaint::Candidate", named=True)
    assert candidate["value"] == json.loads(candidate["detail"])["data"]["size"]


def test_requests_of_a_real_page() -> None:
    """One row per request, redirects apart; what was asked is the event's."""
    events = json.loads(gzip.decompress(TRACE.read_bytes()))["traceEvents"]
    rows = decoded(TRACE, "trace_events").tables["http_requests"]
    sent = [event["args"]["data"] for event in events if event["name"] == "ResourceSendRequest"]
    expected = Counter((each["url"].partition("#")[0], each["resourceType"], each["requestMethod"]) for each in sent)
    assert Counter(rows.drop_nulls("url").select("url", "resource_type", "method").iter_rows()) == expected
    both = rows.drop_nulls(["first_byte_ns", "last_byte_ns"])
    assert both.filter(pl.col("first_byte_ns") > pl.col("last_byte_ns")).is_empty()


def traced(folder: Path, *requests: tuple[str, dict[str, Any], list[int], dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Rows by URL of requests (URL, response, lengths of data as the renderer got them, end), in Chromium's words."""
    events: list[dict[str, Any]] = []

    def add(name: str, number: int, **data: Any) -> None:
        event = {"name": name, "cat": "devtools.timeline", "ph": "I", "ts": 1_000_000 + len(events), "pid": 1, "tid": 1}
        events.append(event | {"args": {"data": {"requestId": f"1.{number}", **data}}})

    for number, (url, response, data, end) in enumerate(requests):
        add("ResourceSendRequest", number, url=url, requestMethod="GET")
        add("ResourceReceiveResponse", number, statusCode=200, **response)
        for length in data:
            add("ResourceReceivedData", number, encodedDataLength=length)
        add("ResourceFinish", number, didFail=False, **end)
    path = folder / "trace.json"
    path.write_text(json.dumps(events))
    rows = decoded(path, "trace_events").tables["http_requests"].rows(named=True)
    return {row["url"]: row for row in rows}


def test_a_body_is_counted_as_it_came(tmp_path: Path) -> None:
    """Numbers of Chromium 156: data are told decoded, the whole with its header; only what a network brought counts."""
    network = {"protocol": "http/1.1", "fromCache": False, "encodedDataLength": 171}
    packed = {"encodedDataLength": 148_878, "decodedBodyLength": 1_128_890}
    rows = traced(
        tmp_path,
        ("http://a/packed", network, [564_445, 564_445], packed),
        ("http://a/empty", network | {"encodedDataLength": 90}, [], {"encodedDataLength": 90, "decodedBodyLength": 0}),
        ("http://a/cached", network | {"fromCache": True, "encodedDataLength": 0}, [500], {"encodedDataLength": 0}),
        ("chrome://a", {"protocol": "chrome", "encodedDataLength": -1}, [9], {"encodedDataLength": 9}),
        ("http://a/old", network, [9], {}),
    )
    lengths = {url: (row["response_body_bytes"], row["response_decoded_bytes"]) for url, row in rows.items()}
    assert lengths == {
        "http://a/packed": (148_707, 1_128_890),
        "http://a/empty": (0, 0),
        "http://a/cached": (None, None),
        "chrome://a": (None, None),
        "http://a/old": (None, None),
    }


def test_a_navigation_begins_where_the_network_says(tmp_path: Path) -> None:
    """The renderer hears of it once it is answered."""
    timing = {"requestTime": 0.5, "sendStart": 10, "receiveHeadersEnd": 40}
    response = {"protocol": "h2", "fromCache": False, "timing": timing}
    (row,) = traced(tmp_path, ("https://a/", response, [1], {"finishTime": 0.6})).values()
    assert row["time_ns"] == row["queued_ns"] == 500_000_000
    assert row["queued_ns"] < row["send_start_ns"] < row["headers_ns"] < row["last_byte_ns"]


def test_screenshots_are_bytes(tmp_path: Path) -> None:
    """What was to be seen comes out as the browser encoded it, other rows have none."""
    image = bytes(range(256)) * 40
    args = {"snapshot": base64.b64encode(image).decode()}
    event: dict[str, Any] = {"cat": "disabled-by-default-devtools.screenshot", "ph": "O", "pid": 1, "tid": 2}
    events = [
        {**event, "name": "Screenshot", "ts": 5, "args": args},
        {**event, "name": "firstPaint", "ts": 6, "args": {}},
        {**event, "name": "Screenshot", "ts": 7, "args": args},
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(events))
    rows = decoded(path, "trace_events").tables["page_events"]
    assert rows.schema["image"] == pl.Binary
    assert rows["image"].to_list() == [image, None, image]


def entry(**fields: Any) -> dict[str, Any]:
    """One request and its response as HAR 1.2 has them."""
    timings = {"blocked": 1.5, "dns": 2, "connect": 8, "ssl": 5, "send": 0.25, "wait": 20, "receive": 30}
    return {
        "startedDateTime": "2026-01-01T01:00:00.000+01:00",
        "request": {"method": "GET", "url": "https://a/b#c", "httpVersion": "h3", "headersSize": 99, "bodySize": 0},
        "response": {"status": 200, "httpVersion": "h3", "headersSize": -1, "bodySize": 1000, "content": {}},
        "timings": timings,
    } | fields


def archive(path: Path, entries: list[dict[str, Any]], pages: list[dict[str, Any]] | None = None) -> Path:
    """A file of these."""
    log = {"version": "1.2", "creator": {"name": "test", "version": "1"}, "pages": pages or [], "entries": entries}
    path.write_text(json.dumps({"log": log}))
    return path


def test_har_timings_become_instants(tmp_path: Path) -> None:
    """Phases follow each other; the time for TLS is the end of that to connect."""
    file = decoded(archive(tmp_path / "x.har", [entry()]), "har", Context(realtime_minus_monotonic_ns=_START))
    (row,) = file.tables["http_requests"].rows(named=True)
    assert (file.clock, row["queued_ns"], row["url"], row["http_version"]) == ("monotonic", 0, "https://a/b", "HTTP/3")
    names = (
        "name_start",
        "name_end",
        "connect_start",
        "secure_start",
        "connect_end",
        "send_end",
        "headers",
        "last_byte",
    )
    instants = [row[f"{name}_ns"] / 1e6 for name in names]
    assert instants == [1.5, 3.5, 3.5, 6.5, 11.5, 11.75, 31.75, 61.75]
    assert (row["response_body_bytes"], row["request_header_bytes"]) == (1000, None)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        # HAR 1.2: 2 + 8 + 0 + 20 + 30, of which TLS took 5.
        ({"connect": 8, "ssl": 5, "time": 60}, (2, 5, 10)),
        # Firefox: TLS followed.
        ({"connect": 8, "ssl": 5, "time": 65}, (2, 10, 15)),
        # It took longer than the whole would have.
        ({"connect": 1, "ssl": 30}, (2, 3, 33)),
        ({"connect": 8, "ssl": 5}, (2, 5, 10)),
        ({"connect": 8, "ssl": -1, "time": 65}, (2, None, 10)),
        ({"connect": -1, "ssl": 5, "time": 57}, (2, 2, 7)),
    ],
)
def test_the_time_for_tls_is_inside_or_behind(
    times: dict[str, float], expected: tuple[float | None, ...], tmp_path: Path
) -> None:
    """By HAR 1.2 it is part of the time to connect; Firefox writes it apart. The entry's own time tells which."""
    timings = {"blocked": -1, "dns": 2, "send": 0, "wait": 20, "receive": 30, **times}
    made = entry(timings=timings) | ({"time": timings.pop("time")} if "time" in timings else {})
    (row,) = decoded(archive(tmp_path / "x.har", [made]), "har").tables["http_requests"].rows(named=True)
    told = [row[name] for name in ("connect_start_ns", "secure_start_ns", "connect_end_ns")]
    assert tuple(None if ns is None else (ns - _START) / 1e6 for ns in told) == expected
    assert row["send_start_ns"] == row["connect_end_ns"]
    assert row["last_byte_ns"] - row["send_start_ns"] == 50_000_000


@pytest.mark.parametrize("nothing", [-1, None, "x"])
def test_har_phases_that_were_not(nothing: object, tmp_path: Path) -> None:
    """-1, null or nonsense: the phase is null, and the next begins where it would have."""
    timings = {"blocked": 1, "dns": nothing, "connect": nothing, "ssl": nothing, "send": 0, "wait": 3, "receive": 4}
    file = decoded(archive(tmp_path / "x.har", [entry(timings=timings)]), "har")
    (row,) = file.tables["http_requests"].rows(named=True)
    assert [row[name] for name in ("name_start_ns", "connect_start_ns", "secure_start_ns")] == [None] * 3
    assert (row["send_start_ns"], row["last_byte_ns"]) == (_START + 1_000_000, _START + 8_000_000)


def test_har_dialects(tmp_path: Path) -> None:
    """What DevTools and sitespeed.io add: priorities, the kind of resource, the cache, sizes, errors, paints."""
    response = {"status": 0, "httpVersion": "", "_transferSize": 700, "headersSize": 200, "bodySize": -1, "_error": "E"}
    chrome = entry(
        _initialPriority="Low", _priority="High", _resourceType="image", _fromCache="disk", connection="443",
        response=response,
    )  # fmt: skip
    page = {"startedDateTime": "2026-01-01T00:00:00Z", "id": "page_1", "title": "t"}
    page["pageTimings"] = {"onLoad": 250.5, "onContentLoad": -1, "_firstPaint": 100}  # type: ignore[assignment]
    file = decoded(archive(tmp_path / "x.har", [chrome], [page]), "har")
    (row,) = file.tables["http_requests"].rows(named=True)
    told = [row[name] for name in ("priority", "priority_updated", "resource_type", "from_cache", "error", "status")]
    assert told == ["Low", "High", "image", True, "E", None]
    assert (row["response_body_bytes"], row["connection"]) == (500, "443")
    moments = file.tables["page_events"].select("name", "time_ns", "page").rows()
    assert moments[0] == ("navigationStart", _START, "page_1")
    assert set(moments[1:]) == {
        ("onLoad", _START + 250_500_000, "page_1"),
        ("firstPaint", _START + 100_000_000, "page_1"),
    }
