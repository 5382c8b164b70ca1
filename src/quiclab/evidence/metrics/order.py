# SPDX-License-Identifier: Apache-2.0
"""Order in which the bytes of several objects arrived: the table object_runs, and how much they were interleaved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import polars as pl

from quiclab.evidence.metrics import quic
from quiclab.evidence.metrics._api import Metric
from quiclab.evidence.metrics.evidence import CAPTURES, Evidence, Unknown
from quiclab.evidence.metrics.intervals import IntervalSet
from quiclab.model.tables import TABLES

Stream = tuple[str, int]
"""Connection and stream id."""
_MB = 1e6


@dataclass
class Run:
    """Bytes of one stream that arrived one after the other."""

    stream: Stream
    first_ns: int
    last_ns: int
    offset: int
    """Offset of the first byte in the stream."""
    size: int


def object_runs(evidence: Evidence) -> pl.DataFrame:
    """One row per run, in the order of arrival; none where the trial has one object or its tables cannot tell."""
    try:
        runs, names = _runs(evidence), object_names(evidence)
        rows = [
            (
                evidence.since_zero_ms(run.first_ns),
                evidence.since_zero_ms(run.last_ns),
                names.get(run.stream),
                *run.stream,
                run.offset,
                run.size,
            )
            for run in runs
        ]
    except Unknown:
        rows = []
    return pl.DataFrame(rows, schema=TABLES["object_runs"].schema(), orient="row")


@lru_cache(maxsize=1)
def _runs(evidence: Evidence) -> list[Run]:
    expected = evidence.trial.expected
    if len(expected.listed) <= 1 and expected.page is None:
        raise Unknown("the trial fetched one object")
    runs: list[Run] = []
    for stream, time_ns, offset, size in _quic(evidence) if evidence.quic else _http2(evidence):
        last = runs[-1] if runs else None
        if last is not None and last.stream == stream and last.offset + last.size == offset:
            last.last_ns, last.size = time_ns, last.size + size
        else:
            runs.append(Run(stream, time_ns, time_ns, offset, size))
    seen, wanted = sum(run.size for run in runs), expected.body_bytes or 0
    if not runs or seen < wanted:
        raise Unknown(
            f"what was recorded at the {evidence.receiver}'s end shows {seen} of {wanted} bytes of the objects"
        )
    return runs


Arrival = tuple[Stream, int, int, int]
"""Stream, time_ns, offset and number of bytes that had not arrived before."""


def _quic(evidence: Evidence) -> Iterator[Arrival]:
    arrival = quic.arrivals(evidence, evidence.receiver)
    seen: defaultdict[Stream, IntervalSet] = defaultdict(IntervalSet)
    arrived = [
        (arrival[frame.packet], frame)
        for frame in quic.stream_frames(evidence, evidence.receiver, "received")
        if quic.is_request_stream(frame.stream_id) and frame.packet in arrival
    ]
    # A log may tell of packets later than they came, and in another order.
    for time_ns, frame in sorted(arrived, key=lambda each: each[0]):
        for start, end in seen[frame.stream].add(frame.start, frame.end):
            yield frame.stream, time_ns, start, end - start


def _http2(evidence: Evidence) -> Iterator[Arrival]:
    """TCP hands bytes over in their order, so that DATA frames come as they were sent."""
    frames = evidence.table("http_frames").filter(
        pl.col("source").is_in(_captures(evidence)),
        pl.col("frame_type") == "data",
        pl.col("direction") == evidence.way,
        pl.col("event") == "received",
        pl.col("length_bytes") > 0,
    )
    offsets: defaultdict[Stream, int] = defaultdict(int)
    for connection, stream_id, time_ns, size in frames.select(
        "connection", "stream_id", pl.coalesce("last_byte_ns", "time_ns"), "length_bytes"
    ).iter_rows():
        stream = connection, stream_id
        yield stream, time_ns, offsets[stream], size
        offsets[stream] += size


def _captures(evidence: Evidence) -> list[str]:
    sources = evidence.table("sources")
    at_receiver = sources.filter(pl.col("format").is_in(CAPTURES), pl.col("vantage") == evidence.receiver)
    return at_receiver["source"].to_list()


def object_names(evidence: Evidence) -> dict[Stream, str]:
    """Name of the object that was asked for on each stream, from any source that has the request."""
    told = evidence.table("http_requests").drop_nulls(["connection", "stream_id", "url"])
    rows = told.select("connection", "stream_id", "url").iter_rows()
    return {(connection, stream_id): url.rpartition("/")[2] for connection, stream_id, url in rows}


def switches_per_mb(runs: list[Run]) -> float:
    """Times that the next byte belonged to another object."""
    switches = sum(a.stream != b.stream for a, b in pairwise(runs))
    return switches / (sum(run.size for run in runs) / _MB)


def interleaved_pct(runs: list[Run]) -> float:
    """Share of the bytes that arrived between the first and the last byte of another object."""
    first = {run.stream: place for place, run in reversed(list(enumerate(runs)))}
    last = {run.stream: place for place, run in enumerate(runs)}
    # How many objects are begun and not complete at each place, counting the one whose bytes arrive there.
    begun = [0] * (len(runs) + 1)
    for stream, place in first.items():
        begun[place] += 1
        begun[last[stream] + 1] -= 1
    among, open_objects = 0, 0
    for run, change in zip(runs, begun, strict=False):
        open_objects += change
        among += run.size if open_objects > 1 else 0
    return 100 * among / sum(run.size for run in runs)


def _metric(name: str, title: str, unit: str, compute: Callable[[list[Run]], float], doc: str) -> Metric:
    return Metric(name, title, unit, "none", doc, lambda evidence: compute(_runs(evidence)))


ORDER = (
    _metric(
        "object_switches_per_mb",
        "switches between objects per MB",
        "1/MB",
        switches_per_mb,
        "Of several objects of a trial, or of a page: how often, per million bytes, the next byte to arrive belonged "
        "to another object than the one before. By object_runs: the same bytes sent again do not count.",
    ),
    _metric(
        "interleaved_pct",
        "share of bytes interleaved with another object",
        "%",
        interleaved_pct,
        "Of several objects of a trial, or of a page: share of their bytes that arrived between the first and the last "
        "byte of another object. 0 where they came one after the other, 100 where all came side by side.",
    ),
)
