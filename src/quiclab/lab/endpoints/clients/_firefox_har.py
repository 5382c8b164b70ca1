# SPDX-License-Identifier: Apache-2.0
"""Firefox's account of a page's load as a HAR 1.2. Pure."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence

from quiclab.lab.endpoints.clients._browser import Json

_TYPES = {
    2: "Script",
    3: "Image",
    4: "Stylesheet",
    6: "Document",
    7: "Document",
    11: "XHR",
    14: "Font",
    15: "Media",
    20: "Fetch",
    21: "Image",
    22: "Manifest",
}
"""Words of Chromium's developer tools for nsIContentPolicy's numbers."""
_US_PER_MS = 1000


def har(
    url: str,
    version: str,
    navigation_ns: int | None,
    moments: Mapping[str, float | None],
    seen: Sequence[Json],
) -> str:
    """HAR as text. `navigation_ns`: instant that the page counts its moments from, by the wall clock; None leaves the
    page out. `seen`: requests with instants in microseconds of the wall clock, 0 where there was none."""
    # The browser opens the document's request before the page's process learns of the navigation.
    began_ns = min([navigation_ns or 0, *(each["start"] * 1000 for each in seen[:1])])
    later_ms = ((navigation_ns or 0) - began_ns) / 1e6
    page = {
        "startedDateTime": _iso(began_ns),
        "id": "page",
        "title": url,
        "pageTimings": {name: None if ms is None else ms + later_ms for name, ms in moments.items()},
    }
    log = {
        "version": "1.2",
        "creator": {"name": "quiclab", "version": "1"},
        "browser": {"name": "Firefox", "version": version},
        "pages": [] if navigation_ns is None else [page],
        "entries": [_entry(each) for each in seen],
    }
    return json.dumps({"log": log}, indent=1)


def _entry(seen: Json) -> Json:
    timings = _timings(seen)
    version = seen["hop"] or ""
    response = {
        "status": seen["status"] or 0,
        "statusText": "",
        "httpVersion": version,
        "cookies": [],
        "headers": [],
        "content": {"size": seen["encoded"], "mimeType": seen["content_type"] or ""},
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": seen["encoded"],
    }
    request = {
        "method": seen["method"],
        "url": seen["url"],
        "httpVersion": version,
        "cookies": [],
        "headers": [],
        "queryString": [],
        "headersSize": -1,
        "bodySize": 0,
    }
    return {
        "pageref": "page",
        "startedDateTime": _iso(seen["start"] * 1000),
        "time": sum(each for name, each in timings.items() if each > 0 and name != "ssl"),
        "request": request,
        "response": response | ({"_error": seen["error"]} if seen["error"] else {}),
        "cache": {},
        "timings": timings,
        "_resourceType": _TYPES.get(seen["type"], "Other"),
    }


def _timings(seen: Json) -> dict[str, float]:
    """Phases in milliseconds, one after the other, so that each begins where Firefox says; -1 is none."""
    at = seen["start"]
    timings: dict[str, float] = {}

    def until(phase: str, instant: int) -> None:
        nonlocal at
        timings[phase] = max(0, instant - at) / _US_PER_MS if instant else -1
        at = max(at, instant)

    connects = bool(seen["connect_start"] and seen["connect_end"])
    resolves = bool(seen["name_start"] and seen["name_end"])
    begins = seen["name_start"] if resolves else seen["connect_start"] if connects else seen["sent"]
    until("blocked", begins)
    until("dns", seen["name_end"] if resolves else 0)
    # Until the request left: the time in between is no phase of its own.
    until("connect", seen["sent"] or seen["connect_end"] if connects or resolves else 0)
    secure_ms = (seen["connect_end"] - seen["secure_start"]) / _US_PER_MS
    timings["ssl"] = max(0.0, secure_ms) if connects and seen["secure_start"] else -1
    # HAR has no way to say that one of these did not occur.
    timings["send"] = 0
    until("wait", seen["first"] or at)
    until("receive", seen["last"] or at)
    return timings


def _iso(epoch_ns: int) -> str:
    seconds, rest = divmod(epoch_ns, 10**9)
    day = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f"{day:%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"
