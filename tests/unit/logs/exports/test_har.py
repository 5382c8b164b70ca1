# SPDX-License-Identifier: Apache-2.0
"""Exported HARs: as the specification asks, with the captures' own numbers, and read again by the HAR decoder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fastjsonschema
import polars as pl
import pytest
from exported import STACKS, decode_to, rows, unpack
from har_schema import HAR

from quiclab.logs.exports import Choice, open_tables
from quiclab.logs.exports.har import Har
from quiclab.model.errors import DecodeError, SpecError
from quiclab.model.tables import TABLES

MS = 1_000_000


def load(path: Path) -> dict[str, Any]:
    """The archive's log, once it is as HAR 1.2 asks."""
    archive = json.loads(path.read_text())
    fastjsonschema.compile(HAR)(archive)
    log: dict[str, Any] = archive["log"]
    pages = {page["id"] for page in log["pages"]}
    for entry in log["entries"]:
        assert entry["pageref"] in pages
        parts = (length for name, length in entry["timings"].items() if name != "ssl" and length >= 0)
        assert entry["time"] == pytest.approx(sum(parts), abs=1e-5)
    return log


@pytest.mark.parametrize("name", [*STACKS, "h2"])
def test_requests_of_decrypted_captures(name: str, tmp_path: Path) -> None:
    """One entry a request of either protocol, with header fields, sizes, and the time that the capture shows."""
    (logs := tmp_path / "logs").mkdir()
    (tables := tmp_path / "tables").mkdir()
    decode_to(tables, unpack(name, logs))
    out = tmp_path / "out.har"
    written = Har().write(open_tables(tables), Choice(), out)
    log = load(out)
    (entry,) = log["entries"]
    assert written.files == {out: 1}
    request, response = entry["request"], entry["response"]
    assert (request["method"], request["url"]) == ("GET", "https://server.test/object")
    assert request["httpVersion"] == response["httpVersion"] == ("HTTP/2" if name == "h2" else "HTTP/3")
    assert {"name": ":path", "value": "/object"} in request["headers"]
    assert {"name": ":status", "value": "200"} in response["headers"]
    assert (response["status"], response["statusText"]) == (200, "OK")
    assert (response["content"]["size"], response["bodySize"]) == (30_000, 30_000)
    (told,) = rows(tables, "http_requests").iter_rows(named=True)
    assert entry["time"] == pytest.approx((told["last_byte_ns"] - told["send_start_ns"]) / MS)
    assert entry["connection"] == told["connection"]


def test_a_trial_that_tells_the_offset_between_clocks_gives_dates(tmp_path: Path) -> None:
    """The study's clock counts from no date; with the trial's offset entries and pages have theirs, else 1970's."""
    (logs := tmp_path / "logs").mkdir()
    (tables := tmp_path / "tables").mkdir()
    decode_to(tables, unpack("h2", logs))
    dates = []
    for name, offset_ns in (("without", None), ("with", 1_795_000_000 * 10**9)):
        trial = {"time_ns": [0], "realtime_minus_monotonic_ns": [offset_ns]}
        schema = TABLES["trials"].schema()
        told = pl.DataFrame({**{column: [None] for column in schema}, **trial}, schema=schema)
        told.write_parquet(tables / "trials.parquet")
        out = tmp_path / f"{name}.har"
        Har().write(open_tables(tables), Choice(), out)
        log = load(out)
        assert ("comment" in log) == (offset_ns is None)
        dates.append([log[kind][0]["startedDateTime"][:4] for kind in ("entries", "pages")])
    assert dates == [["1970", "1970"], ["2026", "2026"]]


def test_decoded_again_it_is_the_same_request(tmp_path: Path) -> None:
    """The HAR decoder reads what was written: names, sizes and lengths of time."""
    (logs := tmp_path / "logs").mkdir()
    for name in ("tables", "again"):
        (tmp_path / name).mkdir()
    tables = decode_to(tmp_path / "tables", unpack("quiche", logs))
    out = tmp_path / "out.har"
    Har().write(open_tables(tables), Choice(), out)
    again = decode_to(tmp_path / "again", out)
    columns = ("method", "url", "status", "response_body_bytes")
    before, after = (rows(folder, "http_requests") for folder in (tables, again))
    assert before.select(columns).rows() == after.select(columns).rows()
    lasting = [(table["last_byte_ns"] - table["send_start_ns"]).item() for table in (before, after)]
    assert lasting[0] == pytest.approx(lasting[1], abs=MS)


def made(folder: Path, *requests: dict[str, Any], page: tuple[tuple[str, float], ...] = ()) -> Path:
    """Tables with these requests, and moments of a page in ms."""
    known = {"source": "netlog", "time_ns": 0, "url": "https://a.test/?q=1&r=", "method": "GET"}
    schema = TABLES["http_requests"].schema()
    pl.DataFrame([known | each for each in requests], schema=schema).write_parquet(folder / "http_requests.parquet")
    moments = [{"source": "trace", "time_ns": round(ms * MS), "name": name} for name, ms in page]
    pl.DataFrame(moments, schema=TABLES["page_events"].schema()).write_parquet(folder / "page_events.parquet")
    return folder


def test_every_phase_has_its_time(tmp_path: Path) -> None:
    """Queue, names, connection, TLS within it, request, answer: phases that follow each other, in ms."""
    instants = {
        "queued_ns": 0, "name_start_ns": 2, "name_end_ns": 5, "connect_start_ns": 5, "secure_start_ns": 15,
        "connect_end_ns": 25, "send_start_ns": 26, "send_end_ns": 27, "headers_ns": 40, "first_byte_ns": 41,
        "last_byte_ns": 60,
    }  # fmt: skip
    tables = made(tmp_path, {name: ms * MS for name, ms in instants.items()})
    Har().write(open_tables(tables), Choice(), tmp_path / "out.har")
    (entry,) = load(tmp_path / "out.har")["entries"]
    assert entry["time"] == 60
    assert entry["timings"] == {
        "blocked": 3, "dns": 3, "connect": 20, "ssl": 10, "send": 1, "wait": 13, "receive": 20
    }  # fmt: skip
    assert entry["request"]["queryString"] == [{"name": "q", "value": "1"}, {"name": "r", "value": ""}]


def test_a_page_has_the_browsers_moments(tmp_path: Path) -> None:
    """From the only log that tells of a page, counted from the first request."""
    tables = made(
        tmp_path, {"time_ns": 10 * MS}, {"time_ns": 9 * MS, "queued_ns": 4 * MS}, page=(("loadEventEnd", 54.5),)
    )
    Har().write(open_tables(tables), Choice(), tmp_path / "out.har")
    (page,) = load(tmp_path / "out.har")["pages"]
    assert page["pageTimings"] == {"onContentLoad": -1, "onLoad": 50.5}
    assert page["startedDateTime"] == "1970-01-01T00:00:00.004000000Z"


def test_what_no_url_is_known_of_is_left_out_and_counted(tmp_path: Path) -> None:
    """HAR needs a URL; where there is none at all, there is nothing to write."""
    tables = made(tmp_path, {"url": None}, {})
    written = Har().write(open_tables(tables), Choice(), tmp_path / "out.har")
    assert written.left_out == {"requests without a URL": 1}
    assert len(load(tmp_path / "out.har")["entries"]) == 1
    with pytest.raises(DecodeError, match="the URL of no request is known"):
        Har().write(open_tables(made(tmp_path, {"url": None})), Choice(), tmp_path / "out.har")


def test_nothing_to_choose_from(tmp_path: Path) -> None:
    """No request at all, or none of that source: each says what there is."""
    with pytest.raises(SpecError) as caught:
        Har().write(open_tables(made(tmp_path, {})), Choice(source="netlogs"), tmp_path / "out.har")
    assert caught.value.problems == ("netlog",)
    with pytest.raises(DecodeError, match="no HTTP request"):
        Har().write(open_tables(made(tmp_path)), Choice(), tmp_path / "out.har")


@pytest.mark.parametrize(
    ("told", "content"),
    [
        ({"response_body_bytes": 100, "response_decoded_bytes": 700}, {"size": 700, "compression": 600}),
        ({"response_body_bytes": 100}, {"size": -1}),
        ({"response_decoded_bytes": 700}, {"size": 700}),
    ],
)
def test_content_is_longer_than_the_body(told: dict[str, int], content: dict[str, int], tmp_path: Path) -> None:
    """`bodySize` is what was sent, `content.size` what the browser made of it; -1 where no log tells."""
    out = tmp_path / "out.har"
    Har().write(open_tables(made(tmp_path, told)), Choice(), out)
    (entry,) = load(out)["entries"]
    assert entry["response"]["content"] == {"mimeType": "", **content}
    assert entry["response"]["bodySize"] == told.get("response_body_bytes", -1)
