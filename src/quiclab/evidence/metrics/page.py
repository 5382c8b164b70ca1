# SPDX-License-Identifier: Apache-2.0
"""The load of a page: when it was loaded and seen, what came by which protocol, and what had to wait for what.

Zero is navigation start. Moments and requests are those of the browser's own account: Chromium's trace, Firefox's HAR.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import polars as pl

from quiclab.evidence.metrics._api import Metric, Noted
from quiclab.evidence.metrics._critical_path import Step, critical_path
from quiclab.evidence.metrics._visual import Seen, last_change, speed_index, visual_progress
from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.model.expected_content import ExpectedPage
from quiclab.model.tables import TABLES, Row

_ACCOUNT = r"trace|\.har$"
"""Sources of what the browser itself tells of the load."""
TYPES = {"html": "Document", "css": "Stylesheet", "js": "Script", "image": "Image"}
"""Types of Yu and Benson's Table 3 → the browser's words."""


def _page(evidence: Evidence) -> ExpectedPage:
    """Page that was to be loaded. Raises Unknown if the trial loaded none."""
    if evidence.trial.expected.page is None:
        raise Unknown("the trial loaded no page")
    return evidence.trial.expected.page


def _events(evidence: Evidence, *names: str) -> pl.DataFrame:
    return evidence.table("page_events").filter(
        pl.col("name").is_in(names), pl.col("source").str.contains(_ACCOUNT), pl.col("time_ns") >= _went_ns(evidence)
    )


def _went_ns(evidence: Evidence) -> int:
    """Instant at which the browser was told to load the page; earlier events belong to another page."""
    client = evidence.trial.client
    if client is None or client.page is None:
        raise Unknown("the browser left no account of the page")
    return client.page.went_ns


def document_url(evidence: Evidence) -> str:
    """URL of the page's document. Raises Unknown without a page."""
    return _page(evidence).resources[0].url


@lru_cache(maxsize=4)
def navigation(evidence: Evidence) -> tuple[int, str]:
    """Navigation start in CLOCK_MONOTONIC ns, and the frame. Raises Unknown if the trace does not show it."""
    url = document_url(evidence)
    for time_ns, frame, detail in _events(evidence, "navigationStart").select("time_ns", "page", "detail").iter_rows():
        # A HAR gives the page's address as its title.
        if detail == url or ((detail or "").startswith("{") and _data(detail).get("documentLoaderURL") == url):
            return int(time_ns), str(frame)
    raise Unknown("the browser does not show where the navigation to the page began")


def _data(detail: str | None) -> dict[str, object]:
    data: dict[str, object] = json.loads(detail or "{}").get("data", {})
    return data


def _since_ms(evidence: Evidence, time_ns: int) -> float:
    return (time_ns - navigation(evidence)[0]) / 1e6


def _moment(name: str, in_har: str, which: Callable[[pl.DataFrame], pl.DataFrame] = lambda found: found.head(1)) -> Any:
    """Computes when the page's own frame reached a moment, which a HAR names in another way."""

    def compute(evidence: Evidence) -> float:
        return _since_ms(evidence, _moment_ns(evidence, name, in_har, which))

    return compute


def _moment_ns(
    evidence: Evidence,
    name: str,
    in_har: str,
    which: Callable[[pl.DataFrame], pl.DataFrame] = lambda found: found.head(1),
) -> int:
    # Until the document's header came, the frame shows the empty page before it.
    came_ns = _document(evidence)["headers_ns"] or navigation(evidence)[0]
    of_the_page = (pl.col("page") == navigation(evidence)[1]) & (pl.col("time_ns") >= came_ns)
    found = which(_events(evidence, name, in_har).filter(of_the_page))
    if found.is_empty():
        raise Unknown(f"the browser tells of no {in_har} of the page")
    return int(found["time_ns"][0])


def load_event_ns(evidence: Evidence) -> int:
    """Instant at which the load event began. Raises Unknown where the browser does not tell."""
    return _moment_ns(evidence, "loadEventStart", "onLoad")


def requests(evidence: Evidence) -> pl.DataFrame:
    """The page's requests by the browser's own account, in order. Raises Unknown without a page or an account."""
    zero_ns = navigation(evidence)[0]
    seen = evidence.table("http_requests").filter(
        pl.col("source").str.contains(_ACCOUNT), pl.col("url").str.starts_with("http"), pl.col("time_ns") >= zero_ns
    )
    if seen.is_empty():
        raise Unknown("the browser tells of no request of the page")
    return seen.sort("time_ns")


def _document(evidence: Evidence) -> Row:
    found = requests(evidence).filter(pl.col("url") == document_url(evidence))
    if found.is_empty():
        raise Unknown("the browser does not tell of the request for the document")
    return found.row(0, named=True)


def plt_ms(evidence: Evidence) -> float:
    """Navigation start to load event start, less the name lookup of the document."""
    document = _document(evidence)
    start_ns, end_ns = document["name_start_ns"], document["name_end_ns"]
    lookup_ns = end_ns - start_ns if start_ns is not None and end_ns is not None else 0
    return _since_ms(evidence, load_event_ns(evidence)) - lookup_ns / 1e6


def page_ttfb_ms(evidence: Evidence) -> float:
    """Navigation start to the response header of the document."""
    headers_ns = _document(evidence)["headers_ns"]
    if headers_ns is None:
        raise Unknown("the browser does not tell when the document's header came")
    return _since_ms(evidence, headers_ns)


@lru_cache(maxsize=4)
def progress(evidence: Evidence) -> list[Seen]:
    """Visual progress at every screenshot of the load, where the browser makes them. Raises Unknown without any."""
    zero_ns = navigation(evidence)[0]
    shots = evidence.table("page_events").filter(
        pl.col("name") == "Screenshot", pl.col("image").is_not_null(), pl.col("time_ns") >= zero_ns
    )
    seen = visual_progress(
        [
            ((time_ns - zero_ns) / 1e6, image)
            for time_ns, image in shots.sort("time_ns").select("time_ns", "image").rows()
        ]
    )
    if not seen:
        raise Unknown("the browser made no screenshots of the load")
    return seen


def page_progress(evidence: Evidence) -> pl.DataFrame:
    """One row per screenshot of the load, in order; without rows where the trial's tables cannot tell."""
    try:
        rows = [(each.since_ms, each.progress) for each in progress(evidence)]
    except Unknown:
        rows = []
    return pl.DataFrame(rows, schema=TABLES["page_progress"].schema(), orient="row")


def _main_image(evidence: Evidence) -> Row:
    """The request for the main image: the one that the manifest names, else the element of the LCP."""
    url = _page(evidence).main_image or _largest(evidence)
    found = requests(evidence).filter(pl.col("url") == url)
    if found.is_empty():
        raise Unknown("the browser does not tell of the request for the main image")
    return found.row(0, named=True)


def _largest(evidence: Evidence) -> str:
    told = [_data(detail) for detail in _events(evidence, "LargestImagePaint::Candidate")["detail"]]
    found = [each["imageUrl"] for each in told if each.get("imageUrl")]
    if not found:
        raise Unknown("the site names no main image, and the browser does not say which is the largest")
    return str(found[-1])


def _main_image_metric(column: str) -> Callable[[Evidence], float]:
    def compute(evidence: Evidence) -> float:
        time_ns = _main_image(evidence)[column]
        if time_ns is None:
            raise Unknown("the main image did not come")
        return _since_ms(evidence, time_ns)

    return compute


def _bytes_over_h3(kind: str | None) -> Callable[[Evidence], float]:
    """Per cent of the bytes of one type, or of all."""

    def compute(evidence: Evidence) -> float:
        seen = requests(evidence).filter(pl.col("response_body_bytes") > 0)
        if kind is not None:
            seen = seen.filter(pl.col("resource_type") == TYPES[kind])
        if seen.is_empty():
            raise Unknown(f"the page has no {kind or 'bytes'}")
        by_h3 = float(seen.filter(pl.col("http_version") == "HTTP/3")["response_body_bytes"].sum())
        return 100 * by_h3 / float(seen["response_body_bytes"].sum())

    return compute


def _failed(evidence: Evidence) -> float:
    """Requests without a good answer."""
    bad = pl.col("error").is_not_null() | pl.col("status").is_null() | (pl.col("status") >= 400)
    return float(requests(evidence).filter(bad).height)


def _from_cache(evidence: Evidence) -> float | Noted:
    """Requests that no server saw."""
    seen = requests(evidence)
    cached = seen.filter(pl.col("from_cache").fill_null(value=False))
    if cached.height and set(seen["url"]) - set(cached["url"]) == {document_url(evidence)}:
        return Noted(float(cached.height), "the document alone came over the network")
    return float(cached.height)


def _critical_path(evidence: Evidence) -> list[Step]:
    seen = requests(evidence)
    if seen["initiator"].is_null().all() and seen.height > 1:
        raise Unknown("the browser does not tell because of what it asked for each resource")
    return critical_path(seen)


def _path_ms(evidence: Evidence) -> float | Noted:
    path = _critical_path(evidence)
    urls = " → ".join(step.url.rpartition("/")[2] or "/" for step in path)
    return Noted(_since_ms(evidence, path[-1].end_ns), urls)


def _latest(found: pl.DataFrame) -> pl.DataFrame:
    return found.tail(1)


_ZERO = "Navigation start to "
PAGE = (
    Metric(
        "plt_ms",
        "page load time",
        "ms",
        "lower",
        _ZERO + "load event start, less the name lookup of the document (page load time).",
        plt_ms,
        heading="page load",
    ),
    Metric(
        "speed_index_ms",
        "Speed Index",
        "ms",
        "lower",
        "Area above the visual progress over time since navigation start: the mean time at which what is to be seen "
        "appears. Progress is by colour histograms of the browser's screenshots, as speedline and Lighthouse have it.",
        lambda evidence: speed_index(progress(evidence)),
        heading="Speed Index",
    ),
    Metric(
        "fcp_ms",
        "First Contentful Paint",
        "ms",
        "lower",
        _ZERO + "First Contentful Paint.",
        _moment("firstContentfulPaint", "firstContentfulPaint"),
        heading="first paint",
    ),
    Metric(
        "lcp_ms",
        "Largest Contentful Paint",
        "ms",
        "lower",
        _ZERO + "Largest Contentful Paint: the last candidate of the load.",
        _moment("largestContentfulPaint::Candidate", "largestContentfulPaint", _latest),
        heading="largest paint",
    ),
    Metric(
        "last_visual_change_ms",
        "time to the last visual change",
        "ms",
        "lower",
        _ZERO + "the screenshot from which on nothing changed: when the page appears whole (Qin et al. 2023).",
        lambda evidence: last_change(progress(evidence)),
        heading="last change",
    ),
    Metric(
        "page_ttfb_ms",
        "time to the response header of the document",
        "ms",
        "lower",
        _ZERO + "the response header of the document, as the browser saw it.",
        page_ttfb_ms,
    ),
    Metric(
        "dom_content_loaded_ms",
        "time to DOMContentLoaded",
        "ms",
        "lower",
        _ZERO + "the event DOMContentLoaded.",
        _moment("domContentLoadedEventStart", "onContentLoad"),
    ),
    Metric(
        "main_image_start_ms",
        "time to the request for the main image",
        "ms",
        "lower",
        _ZERO
        + "the request for the main image being sent. It is the one that the site names, else the largest that was "
        "painted.",
        _main_image_metric("send_start_ns"),
        heading="main image asked for",
    ),
    Metric(
        "main_image_end_ms",
        "time to the end of the main image",
        "ms",
        "lower",
        _ZERO + "its last byte.",
        _main_image_metric("last_byte_ns"),
        heading="main image there",
    ),
    Metric(
        "critical_path_ms",
        "length of the critical path",
        "ms",
        "none",
        _ZERO
        + "the end of the longest chain of requests, each of which was asked for because of the one before it; the "
        "note names them.",
        _path_ms,
    ),
    Metric(
        "critical_path_requests",
        "requests on the critical path",
        "",
        "none",
        "Requests in that chain.",
        lambda evidence: float(len(_critical_path(evidence))),
    ),
    Metric(
        "page_requests",
        "requests of the page",
        "",
        "none",
        "Requests of the page.",
        lambda evidence: float(requests(evidence).height),
    ),
    Metric(
        "page_failed_requests",
        "failed requests of the page",
        "",
        "none",
        "Those of them without an answer, or with a status from 400 on.",
        _failed,
    ),
    Metric(
        "page_requests_from_cache",
        "requests of the page that the HTTP cache answered",
        "",
        "none",
        "Those of them that the browser answered from its HTTP cache, so that no server was asked; 0 unless a client "
        "keeps its cache (`http_cache`). The note says if only the document came over the network.",
        _from_cache,
    ),
    Metric(
        "page_bytes",
        "body bytes of the page",
        "bytes",
        "none",
        "Body bytes of all responses.",
        lambda evidence: float(requests(evidence)["response_body_bytes"].sum()),
    ),
    Metric(
        "page_bytes_h3_pct",
        "share of the page's bytes over HTTP/3",
        "%",
        "none",
        "Of these, what came over HTTP/3.",
        _bytes_over_h3(None),
        heading="bytes over HTTP/3",
    ),
    *(
        Metric(
            f"page_{kind}_h3_pct",
            f"share of the page's bytes of type {word} over HTTP/3",
            "%",
            "none",
            f"Of the bytes of type {word}, those over HTTP/3.",
            _bytes_over_h3(kind),
        )
        for kind, word in TYPES.items()
    ),
)
