# SPDX-License-Identifier: Apache-2.0
"""HAR 1.2 (HTTP Archive): requests of either protocol, with the page that a browser reported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import polars as pl

from quiclab import __version__
from quiclab.logs.exports._api import Choice, Tables, Written
from quiclab.logs.exports._choosing import chosen
from quiclab.logs.exports._details import names_and_values
from quiclab.logs.exports._tables import Row, in_order
from quiclab.model.errors import DecodeError

Json = dict[str, object]

_UNKNOWN = -1
_NS_PER_MS = 1e6
_INTERIM = r'":status", ?"1\d\d"'
"""Pattern in the header section of a response that is not the final one."""
_STARTS = ("queued_ns", "name_start_ns", "connect_start_ns", "send_start_ns", "time_ns")
_ENDS = ("last_byte_ns", "first_byte_ns", "headers_ns", "send_end_ns")
_PAGE_TIMINGS = {
    "onContentLoad": ("domContentLoadedEventEnd", "onContentLoad", "DOMContentLoaded", "MarkDOMContent"),
    "onLoad": ("loadEventEnd", "onLoad", "load", "MarkLoad"),
}
"""Names of moments in HAR, and what browsers call the same moments."""


class Har:
    """Requests and responses with their timings; header fields where the log shows them, never bodies."""

    format = "har"
    writes = "one HAR 1.2 file with the requests of HTTP/2 and HTTP/3, for the network panels of browsers"
    into_folder = False

    def write(self, tables: Tables, choice: Choice, out: Path) -> Written:
        """Write the chosen requests into the file `out`; see `Export.write`."""
        written = Written()
        requests = _requests(tables, choice)
        sources = requests.group_by("source").agg(first_ns=pl.min_horizontal(pl.col(*_STARTS).min()))
        epoch_ns = _epoch_ns(tables)
        pages = {
            row["source"]: row["first_ns"] for row in sources.sort("first_ns", "source").collect().iter_rows(named=True)
        }
        with out.open("w", encoding="utf-8") as file:
            file.write(json.dumps(_log(pages, tables, epoch_ns), ensure_ascii=False)[: -len("]}}")])
            count = 0
            for request in in_order(requests):
                if request["url"] is None:
                    written.left_out["requests without a URL"] += 1
                    continue
                file.write(",\n" if count else "\n")
                file.write(json.dumps(_entry(request, epoch_ns or 0), separators=(",", ":"), ensure_ascii=False))
                count += 1
            file.write("\n]}}\n")
        if not count:
            raise DecodeError(
                "the URL of no request is known", "HAR needs it: decode a capture with its key log, or a NetLog"
            )
        written.files[out] = count
        return written


def _requests(tables: Tables, choice: Choice) -> pl.LazyFrame:
    """Chosen requests, with the header sections `up` and `down` where the log shows them."""
    requests = tables["http_requests"]
    if not requests.head(1).collect().height:
        raise DecodeError("there is no HTTP request to write", "captures need their key log to show requests")
    key = ("source", "connection", "stream_id")
    sections = (
        tables["http_frames"]
        .filter(pl.col("frame_type") == "headers", ~pl.col("detail").str.contains(_INTERIM))
        .group_by(key)
        .agg(pl.col("detail").filter(pl.col("direction") == way).first().alias(way) for way in ("up", "down"))
    )
    return chosen(requests, choice).join(sections, on=key, how="left", maintain_order="left")


def _epoch_ns(tables: Tables) -> int | None:
    """Nanoseconds to add to an instant to get a date; None where they are unknown, or trials differ."""
    clocks = tables["sources"].select("clock", "placed_by").collect()
    if clocks.filter(pl.col("placed_by").is_null() | (pl.col("placed_by") == "reference")).height:
        return 0 if (clocks["clock"] == "realtime").all() else None
    known = tables["trials"].select(pl.col("realtime_minus_monotonic_ns").drop_nulls().unique()).collect()
    return int(known.item()) if known.height == 1 else None


def _log(pages: dict[str, int], tables: Tables, epoch_ns: int | None) -> Json:
    """The whole document without its entries, which are written last."""
    dates = "" if epoch_ns is not None else "no log knows the date: startedDateTime counts from 1970"
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "quiclab", "version": __version__},
            **({"comment": dates} if dates else {}),
            "pages": [_page(source, first_ns, tables, epoch_ns or 0) for source, first_ns in pages.items()],
            "entries": [],
        }
    }


def _page(source: str, first_ns: int, tables: Tables, epoch_ns: int) -> Json:
    """Page of one source, with a browser's instants: its own, or those of the only source that has some."""
    events = tables["page_events"]
    tellers = events.select(pl.col("source").unique()).collect()["source"].to_list()
    teller = source if source in tellers else tellers[0] if len(tellers) == 1 else None
    told = events.filter(pl.col("source").eq_missing(pl.lit(teller, pl.String)))
    timings = {
        name: _since(first_ns, told.filter(pl.col("name").is_in(names))) for name, names in _PAGE_TIMINGS.items()
    }
    return {"startedDateTime": _date(first_ns + epoch_ns), "id": source, "title": source, "pageTimings": timings}


def _since(first_ns: int, events: pl.LazyFrame) -> float:
    """Milliseconds from the first request to the last of these events."""
    last_ns = events.select(pl.col("time_ns").max()).collect().item()
    return _UNKNOWN if last_ns is None or last_ns < first_ns else (last_ns - first_ns) / _NS_PER_MS


def _date(time_ns: int) -> str:
    seconds, ns = divmod(max(time_ns, 0), 10**9)
    date = datetime.fromtimestamp(0, UTC) + timedelta(seconds=seconds)
    return f"{date:%Y-%m-%dT%H:%M:%S}.{ns:09d}Z"


def _entry(row: Row, epoch_ns: int) -> Json:
    start_ns = min(row[name] for name in _STARTS if row[name] is not None)
    timings = _timings(row, start_ns)
    whole_ns = sum(length for length in timings.values() if length is not None)
    # The time of TLS is part of `connect` too.
    timings["ssl"] = _length(row["secure_start_ns"], row["connect_end_ns"])
    entry: Json = {
        "pageref": row["source"],
        "startedDateTime": _date(start_ns + epoch_ns),
        "time": whole_ns / _NS_PER_MS,
        "request": _request(row),
        "response": _response(row),
        "cache": {},
        "timings": {name: _UNKNOWN if length is None else length / _NS_PER_MS for name, length in timings.items()},
    }
    if row["connection"] is not None:
        entry["connection"] = row["connection"]
    beside = {
        "_resourceType": row["resource_type"],
        "_priority": row["priority"],
        "_priorityUpdated": row["priority_updated"],
        "_streamId": row["stream_id"],
        "_transport": row["transport"],
        "_fromCache": row["from_cache"],
        "_error": row["error"],
        "_initiator": None if row["initiator"] is None else {"url": row["initiator"]},
    }
    return entry | {name: value for name, value in beside.items() if value is not None}


def _request(row: Row) -> Json:
    return {
        "method": row["method"] or "",
        "url": row["url"],
        "httpVersion": row["http_version"] or "",
        "cookies": [],
        "headers": _fields(row["up"]),
        "queryString": [{"name": name, "value": value} for name, value in _query(row["url"])],
        "headersSize": _size(row["request_header_bytes"]),
        "bodySize": _size(row["request_body_bytes"]),
    }


def _query(url: str) -> Iterator[tuple[str, str]]:
    try:
        yield from parse_qsl(urlsplit(url).query, keep_blank_values=True)
    except ValueError:
        # A log may call something a URL that is none.
        return


def _response(row: Row) -> Json:
    status = row["status"] or 0
    return {
        "status": status,
        "statusText": HTTPStatus(status).phrase if status in set(HTTPStatus) else "",
        "httpVersion": row["http_version"] or "",
        "cookies": [],
        "headers": _fields(row["down"]),
        "content": _content(row),
        "redirectURL": "",
        "headersSize": _size(row["response_header_bytes"]),
        "bodySize": _size(row["response_body_bytes"]),
    }


def _content(row: Row) -> Json:
    """The body without its content encoding; its length is known from a browser, or if a header shows that there is no
    encoding."""
    body, size = row["response_body_bytes"], row["response_decoded_bytes"]
    if size is None and names_and_values(row["down"]) and row["content_encoding"] in (None, "identity"):
        size = body
    content: Json = {"size": _size(size), "mimeType": row["content_type"] or ""}
    if size is not None and body is not None:
        content["compression"] = size - body
    return content


def _fields(detail: str | None) -> list[Json]:
    return [{"name": name, "value": value} for name, value in names_and_values(detail)]


def _size(length: int | None) -> int:
    return _UNKNOWN if length is None else length


def _timings(row: Row, start_ns: int) -> dict[str, int | None]:
    """Lengths of the phases in ns, which follow each other; gaps between them count as blocked."""
    answered = row["first_byte_ns"] if row["headers_ns"] is None else row["headers_ns"]
    asked = row["send_start_ns"] if row["send_end_ns"] is None else row["send_end_ns"]
    phases = {
        "dns": _length(row["name_start_ns"], row["name_end_ns"]),
        "connect": _length(row["connect_start_ns"], row["connect_end_ns"]),
        "send": _length(row["send_start_ns"], row["send_end_ns"]) or 0,
        "wait": _length(asked, answered) or 0,
        "receive": _length(answered, row["last_byte_ns"]) or 0,
    }
    end_ns = max((row[name] for name in _ENDS if row[name] is not None), default=start_ns)
    known = sum(length for length in phases.values() if length is not None)
    return {"blocked": max(end_ns - start_ns - known, 0), **phases}


def _length(start_ns: int | None, end_ns: int | None) -> int | None:
    """Time between two instants, at least 0: those of different places may cross by their uncertainty."""
    return None if start_ns is None or end_ns is None else max(end_ns - start_ns, 0)
