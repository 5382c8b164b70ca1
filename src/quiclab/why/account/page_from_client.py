# SPDX-License-Identifier: Apache-2.0
"""The account of a page's load by what its client alone recorded: the browser's own log, and a capture if there is one.

It leads back from the object that was there last to what had led to its request, and so on to the navigation. What each
object was waited for is as coarse as one end tells: its connection, its request, its answer. What the browser did
between an answer and the next request is its time as one, and where its log names no initiator, whose time that was is
not told.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import polars as pl

from quiclab.evidence.metrics import Unknown
from quiclab.evidence.metrics.evidence import CAPTURES
from quiclab.evidence.metrics.intervals import IntervalSet
from quiclab.model.tables import Row
from quiclab.why.account.capture_place import capture_place
from quiclab.why.account.recorded import Tables, is_cut_short, recorded
from quiclab.why.account.transfer import NEVER_AWAITED

_ACCOUNTS = ("trace_events", "har", "netlog")
"""Formats of a browser's own account, from the one that tells most to the one that tells least."""
_SAME_NS = 100_000_000
"""Most by which a browser's instants may be off those of a capture: it reads late on a busy machine."""
_ADDRESSES = 5
"""Most addresses that an error lists."""
_ICON = "/favicon.ico"
"""Path of what browsers ask for of themselves, once a page is loaded."""
_INSTANTS = ("send_start_ns", "headers_ns", "last_byte_ns")


class PagePart(enum.StrEnum):
    """A part of a page's load, in the order in which parts are reported."""

    # A lookup by name has none of the words: `PagePart("name")`.
    def __new__(cls, name: str, heading: str = "") -> PagePart:
        member = str.__new__(cls, name)
        member._value_, member.heading = name, heading
        return member

    heading: str
    """Name of the part for readers."""

    NAME = "name", "name lookup"
    HANDSHAKE = "handshake", "handshakes"
    REQUEST = "request", "requests to answers"
    ANSWER = "answer", "answers arriving"
    BROWSER = "browser", "browser"
    NOT_TOLD = "not_told", "initiator not logged"


@dataclass(frozen=True)
class PageStep:
    """A stretch of the load that belongs to one part and one object."""

    part: PagePart
    from_ns: int
    until_ns: int
    url: str

    @property
    def ms(self) -> float:
        """Length in ms."""
        return (self.until_ns - self.from_ns) / 1e6


@dataclass(frozen=True)
class PageLoad:
    """The account of a page's load: steps from the navigation to its end, without a gap."""

    url: str
    """Address of the document."""
    last: str
    """Address of the object that was there last."""
    steps: tuple[PageStep, ...]
    ends_with_load_event: bool
    """False where the log tells of no load event: then the last answer ends it."""
    begins_with_navigation: bool
    """False where the log tells of no navigation: then the request for the document begins it."""
    captured: bool
    """True if a capture gave the instants of requests and answers."""
    beside_ms: float
    """Time from requests to answers in which answers of other objects arrived: they had to wait for these."""
    objects: int
    """Number of objects that had come by then."""
    resolution_ns: int
    """Step of the browser's times."""

    @property
    def total_ms(self) -> float:
        """Time from its begin to its end."""
        return (self.steps[-1].until_ns - self.steps[0].from_ns) / 1e6

    @property
    def parts(self) -> Mapping[PagePart, float]:
        """Time of each part in ms; they add up to the total."""
        return {part: sum(step.ms for step in self.steps if step.part is part) for part in PagePart}


def page_load(tables: Tables, url: str | None = None) -> PageLoad:
    """The load of the page with an address, or of the first. Raises Unknown where the recordings tell of none, or are
    not of one load."""
    source, resolution_ns = _account(tables)
    told = tables["http_requests"].filter(pl.col("source") == source, pl.col("url").str.starts_with("http"))
    document = _document(told, url)
    navigated_ns, frame = _navigation(tables, source, document)
    zero_ns = document["queued_ns"] if navigated_ns is None else navigated_ns
    rows = told.filter(pl.col("time_ns") >= zero_ns).sort("time_ns", maintain_order=True)
    rows, captured = _as_captured(tables, rows)
    loaded_ns = _load_event(tables, source, frame, document)
    if loaded_ns is None and is_cut_short(tables):
        raise Unknown("its end is cut off, before the page had loaded: later objects may lack. Log until it has")
    done = [_Object(tables, row) for row in rows.drop_nulls(_INSTANTS).iter_rows(named=True)]
    awaited = [each for each in done if each.is_awaited and (loaded_ns is None or each.done_ns <= loaded_ns)]
    if not awaited:
        raise Unknown("it shows no object of the page from its request to its end: log from before the page is opened")
    last = max(awaited, key=lambda each: each.done_ns)
    found = _back(done, last, document["url"], zero_ns)
    if loaded_ns is not None:
        found.append(PageStep(PagePart.BROWSER, last.done_ns, loaded_ns, last.url))
    return PageLoad(
        document["url"],
        last.url,
        tuple(step for step in found if step.until_ns > step.from_ns),
        loaded_ns is not None,
        navigated_ns is not None,
        captured,
        _beside_ms(found, done),
        len(awaited),
        resolution_ns,
    )


def _beside_ms(steps: Sequence[PageStep], objects: Sequence[_Object]) -> float:
    """Time in which answers of other objects arrived, in the stretches from a request to its answer."""
    found = 0
    for step in steps:
        if step.part is PagePart.REQUEST:
            arriving = IntervalSet()
            for other in objects:
                begin, end = max(other.headers_ns, step.from_ns), min(other.done_ns, step.until_ns)
                if other.url != step.url and begin < end:
                    found += arriving.add_length(begin, end)
    return found / 1e6


def _account(tables: Tables) -> tuple[str, int]:
    sources = tables["sources"].filter(pl.col("format").is_in(_ACCOUNTS))
    for each in _ACCOUNTS:
        rows = sources.filter(format=each)
        if rows.height > 1:
            raise Unknown(f"these are {rows.height} logs of a browser, and a page's account is of one load: name one")
        if rows.height:
            return str(rows["source"][0]), int(rows["resolution_ns"][0] or 1)
    raise Unknown("no browser's log is among these files: give a NetLog, a HAR or a trace, and a capture beside it")


def _document(told: pl.DataFrame, url: str | None) -> Row:
    """Row of the page's document: that of the address, else the first that is one by its type."""
    answered = told.drop_nulls(_INSTANTS).sort("time_ns", maintain_order=True)
    if url is not None:
        found = answered.filter(pl.col("url").str.ends_with(url))
    else:
        is_page = pl.col("resource_type").str.to_lowercase() == "document"
        is_html = pl.col("content_type").str.starts_with("text/html")
        found = next((each for each in map(answered.filter, (is_page, is_html)) if each.height), answered)
    if url is not None and found.height and not _is_document(found.row(0, named=True)):
        kind = found["resource_type"][0] or found["content_type"][0]
        raise Unknown(f"{url} is no page but {kind}: name the page's address, or explain one request without --page")
    if found.is_empty() and url is not None and answered.height:
        known = answered["url"].unique(maintain_order=True)
        more = f", … ({known.len()} in all)" if known.len() > _ADDRESSES else ""
        raise Unknown(f"it shows no answered request for {url}: it has {', '.join(known[:_ADDRESSES])}{more}")
    if found.is_empty():
        raise Unknown("it shows no answered request for a page: name its address by --url, or log the whole load")
    row = found.row(0, named=True)
    return {**row, "queued_ns": row["queued_ns"] if row["queued_ns"] is not None else row["send_start_ns"]}


def _is_document(row: Row) -> bool:
    """False where the log tells of another type."""
    kind, content = (row["resource_type"] or "").lower(), row["content_type"] or ""
    return kind == "document" or content.startswith("text/html") or not (kind or content)


def _navigation(tables: Tables, source: str, document: Row) -> tuple[int | None, str | None]:
    """Begin of the navigation to a document, and its frame; None where the log has none."""
    events = tables["page_events"].filter(pl.col("source") == source, pl.col("name") == "navigationStart")
    for time_ns, frame, detail in events.select("time_ns", "page", "detail").iter_rows():
        told = json.loads(detail).get("data", {}).get("documentLoaderURL") if (detail or "").startswith("{") else detail
        if told == document["url"] and time_ns <= document["send_start_ns"]:
            return int(time_ns), frame
    return None, None


def _load_event(tables: Tables, source: str, frame: str | None, document: Row) -> int | None:
    events = tables["page_events"].filter(
        pl.col("source") == source,
        pl.col("name").is_in(["loadEventStart", "onLoad"]),
        pl.col("page").eq_missing(frame),
        pl.col("time_ns") >= document["headers_ns"],
    )
    found = events["time_ns"].min()
    return found if isinstance(found, int) else None


def _as_captured(tables: Tables, rows: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """The browser's requests with the instants of a capture, where one shows them all; the n-th request for an address
    is the n-th of both. Raises Unknown where these are of another load."""
    sources = tables["sources"].filter(pl.col("format").is_in(CAPTURES))["source"].to_list()
    seen = tables["http_requests"].filter(pl.col("source").is_in(sources)).drop_nulls(_INSTANTS)
    if not sources or seen.is_empty():
        return rows, False
    _check_at_client(tables, seen)
    place = pl.col("time_ns").rank("ordinal").over("url").alias("place")
    own = seen.select("url", "connection", "stream_id", *_INSTANTS, place)
    joined = rows.with_columns(place).join(own, on=("url", "place"), how="left", suffix="_seen", maintain_order="left")
    both = joined.drop_nulls(("last_byte_ns", "last_byte_ns_seen"))
    off = (both["send_start_ns"] - both["send_start_ns_seen"]).abs()
    if both.is_empty() or off.median() > _SAME_NS:  # type: ignore[operator]
        raise Unknown("the capture and the browser's log are not of one load: no request is in both at one time")
    known = [pl.coalesce(f"{name}_seen", name).alias(name) for name in ("connection", "stream_id", *_INSTANTS)]
    return joined.with_columns(known), both.height == rows.drop_nulls("last_byte_ns").height


def _check_at_client(tables: Tables, seen: pl.DataFrame) -> None:
    """Raise Unknown for a capture that was taken elsewhere, where requests and answers pass at other times."""
    named = {"source": seen["source"].unique().to_list()}
    own = {name: rows.filter(pl.col("source").is_in(named["source"])) if "source" in rows.columns else rows
           for name, rows in tables.items()}  # fmt: skip
    for connection, transport in seen.select("connection", "transport").drop_nulls().unique().iter_rows():
        try:
            place = capture_place(recorded(own, transport, connection))
        except Unknown:
            continue  # nothing shows how long an end took to answer
        if place is not None:
            away = f"{place.client_least_ns / 1e6:.1f} ms or more from it"
            raise Unknown(f"the capture was not taken at the browser's end, but {away}: give the browser's own")


class _Object:
    """One object of a page."""

    def __init__(self, tables: Tables, row: Row) -> None:
        self._tables, self._row = tables, row
        self.url: str = row["url"]
        self.initiator: str | None = row["initiator"]
        self.sent_ns: int = row["send_start_ns"]
        self.headers_ns: int = max(row["headers_ns"], self.sent_ns)
        self.done_ns: int = max(row["last_byte_ns"], self.headers_ns)

    @property
    def is_awaited(self) -> bool:
        """True if a load event waits for it, as far as its type is told."""
        kind = self._row["resource_type"]
        return urlsplit(self.url).path != _ICON if kind is None else kind.lower() not in NEVER_AWAITED

    def before_request(self) -> Iterator[tuple[PagePart, int, int]]:
        """Stretches before the request for which it waited, latest first."""
        ends_ns = self.sent_ns
        for part, name in ((PagePart.HANDSHAKE, "connect"), (PagePart.NAME, "name")):
            begin_ns, end_ns = self._row[f"{name}_start_ns"], self._row[f"{name}_end_ns"]
            if begin_ns is None or end_ns is None or not begin_ns <= end_ns <= ends_ns:
                continue
            yield PagePart.BROWSER, end_ns, ends_ns
            yield part, begin_ns, end_ns
            ends_ns = begin_ns

    def came_by(self, at_ns: int) -> int | None:
        """Arrival of the last of it that could be read by an instant; None where nothing could."""
        if self.done_ns <= at_ns:
            return self.done_ns
        if self.headers_ns > at_ns:
            return None
        frames = self._tables["http_frames"].filter(
            pl.col("connection") == self._row["connection"],
            pl.col("direction") == "down",
            pl.col("stream_id").eq_missing(self._row["stream_id"]),
            pl.col("frame_type") == "data",
        )
        came = frames.select(pl.coalesce("last_byte_ns", "time_ns").alias("at"))["at"]
        latest = came.filter((came <= at_ns) & (came >= self.headers_ns)).max()
        return latest if isinstance(latest, int) else self.headers_ns


def _back(objects: Sequence[_Object], last: _Object, document: str, zero_ns: int) -> list[PageStep]:
    """Steps from the navigation to the last object's end, in order."""
    steps: list[PageStep] = []
    current, until_ns = last, last.done_ns
    for _ in objects:  # each turn leads to an earlier request

        def add(part: PagePart, from_ns: int, until_ns: int, url: str = current.url) -> None:
            steps.append(PageStep(part, max(from_ns, zero_ns), max(until_ns, zero_ns), url))

        add(PagePart.ANSWER, current.headers_ns, until_ns)
        add(PagePart.REQUEST, current.sent_ns, current.headers_ns)
        began_ns = current.sent_ns
        for part, from_ns, to_ns in current.before_request():
            add(part, from_ns, to_ns)
            began_ns = from_ns
        prompt = None if current.url == document else _prompt(objects, current, document, began_ns)
        if prompt is None:
            add(PagePart.BROWSER, zero_ns, began_ns)
            return steps[::-1]
        earlier, came_ns, part = prompt
        add(part, came_ns, began_ns)
        current, until_ns = earlier, came_ns
    raise Unknown("the objects of this page lead back in a circle")


def _prompt(objects: Sequence[_Object], of: _Object, document: str, by_ns: int) -> tuple[_Object, int, PagePart] | None:
    """Object that led to a request, when the last of it had come by then, and whose time followed."""
    named = (of.initiator, PagePart.BROWSER), (document, PagePart.NOT_TOLD)
    for url, part in named:
        earlier = [each for each in objects if each.url == url and each.sent_ns < of.sent_ns]
        came_ns = earlier[-1].came_by(by_ns) if earlier else None
        if came_ns is not None:
            return earlier[-1], came_ns, part
    return None
