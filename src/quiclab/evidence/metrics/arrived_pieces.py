# SPDX-License-Identifier: Apache-2.0
"""Pieces of objects as they arrived: of a TCP connection by its TLS records, of a QUIC stream by its offsets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import polars as pl

from quiclab.evidence.metrics import quic
from quiclab.evidence.metrics.deliveries import Condition, Piece
from quiclab.evidence.metrics.evidence import CAPTURES, Evidence, Unknown
from quiclab.evidence.metrics.intervals import IntervalSet

Stream = tuple[str, int]
"""Connection and stream id."""
_OBJECT_FRAMES = ("headers", "data", "continuation", "push_promise")
_FRAME_HEADER_BYTES = 9
_PREFACE_BYTES = 24
"""Bytes that a client sends before its first frame (RFC 9113 section 3.4)."""
_RECORD_HEADER_BYTES = 5


class Arrival(NamedTuple):
    """Bytes of a direction of a TCP connection that had not arrived before."""

    start: int
    end: int
    arrived_ns: int
    sent: int | None


class Part(NamedTuple):
    """Bytes of a TLS record that belong to one stream."""

    start: int
    end: int
    stream_id: int | None
    counts: bool
    """False of the record's own header and tag."""


class Frame(NamedTuple):
    """Bytes of one HTTP/2 frame, its header included."""

    stream_id: int | None
    size: int


class Record(NamedTuple):
    """One TLS record, from its first byte in the TCP stream on."""

    start: int
    size: int
    content: int
    """Application data in it, bytes."""


def tcp_records(evidence: Evidence) -> dict[str, list[list[Piece]]]:
    """Pieces of each connection's TLS records, at the receiver, in order. Raises Unknown where they are not known."""
    records = _received(evidence, "tls_records")
    frames = _received(evidence, "http_frames").filter(http_version="HTTP/2")
    if frames.is_empty() or records.is_empty():
        reason = evidence.cannot_tell("tls_records", evidence.receiver) or "no frames of HTTP/2 over TLS are in it"
        raise Unknown(f"the {evidence.receiver}'s capture does not tell: {reason}")
    arrivals = _tcp_arrivals(evidence)
    found = {}
    for (connection,), own in frames.group_by("connection", maintain_order=True):
        name = str(connection)
        opened = [_record(row) for row in records.filter(connection=name).select(*_RECORD_COLUMNS).iter_rows()]
        listed = [_frame(row) for row in own.select("stream_id", "frame_type", "length_bytes").iter_rows()]
        if evidence.upload:
            listed.insert(0, Frame(None, _PREFACE_BYTES))
        _check_filled(opened, listed)
        found[name] = list(_pieces(_parts(opened, listed), arrivals.get(name, [])))
    return found


def first_bytes(records: pl.DataFrame, frames: pl.DataFrame) -> dict[int, int]:
    """Stream → number of the first byte of its first frame in the TCP stream, of one connection and direction of
    HTTP/2. Raises Unknown where the frames are not what the TLS records carry."""
    opened = [_record(row) for row in records.select(*_RECORD_COLUMNS).iter_rows()]
    listed = [_frame(row) for row in frames.select("stream_id", "frame_type", "length_bytes").iter_rows()]
    if not opened or not listed:
        raise Unknown("no frames of HTTP/2 over TLS are in it")
    _check_filled(opened, listed)
    found: dict[int, int] = {}
    for part in (part for parts in _parts(opened, listed) for part in parts if part.counts):
        if part.stream_id is not None:
            found.setdefault(part.stream_id, part.start)
    return found


_RECORD_COLUMNS = ("first_byte", "length_bytes", "content_bytes", "content_type")


def _record(row: tuple[int, int, int, str]) -> Record:
    first, size, content, kind = row
    return Record(first, size, content if kind == "application_data" else 0)


def _frame(row: tuple[int | None, str, int | None]) -> Frame:
    stream_id, kind, size = row
    return Frame(stream_id if kind in _OBJECT_FRAMES else None, _FRAME_HEADER_BYTES + (size or 0))


def _check_filled(records: list[Record], frames: list[Frame]) -> None:
    """Raise Unknown unless the frames are what the records carry: the last may be cut, or its header not whole."""
    content, listed = sum(record.content for record in records), sum(frame.size for frame in frames)
    if not content - _FRAME_HEADER_BYTES < listed < content + frames[-1].size:
        raise Unknown(f"TLS records carry {content} bytes, and the frames of HTTP/2 that were read {listed}")


def _captured(evidence: Evidence, table: str) -> pl.DataFrame:
    """Rows of a table that are of the receiver's capture."""
    sources = evidence.table("sources")
    captures = sources.filter(pl.col("format").is_in(CAPTURES), pl.col("vantage") == evidence.receiver)["source"]
    return evidence.table(table).filter(pl.col("source").is_in(captures.to_list()))


def _received(evidence: Evidence, table: str) -> pl.DataFrame:
    """Rows of a table that the receiver's capture shows of the bodies' direction."""
    received = pl.col("direction") == evidence.way, pl.col("event") == "received"
    return _captured(evidence, table).filter(*received)


def _tcp_arrivals(evidence: Evidence) -> dict[str, list[Arrival]]:
    """Bytes of each connection in the order of their numbers, each as it arrived first."""
    segments = _received(evidence, "packets").filter(
        pl.col("transport") == "tcp", pl.col("length_bytes") > 0, pl.col("packet_number").is_not_null()
    )
    if not evidence.for_nobody.is_empty():
        gone = evidence.for_nobody.select("source", ip_packet="number")
        segments = segments.join(gone, on=("source", "ip_packet"), how="anti", maintain_order="left")
    rank = pl.col("packet_index") if evidence.one_link else pl.lit(None, pl.UInt32)
    found: defaultdict[str, list[Arrival]] = defaultdict(list)
    seen: defaultdict[str, IntervalSet] = defaultdict(IntervalSet)
    columns = segments.sort("time_ns", maintain_order=True).select(
        "connection", "packet_number", "length_bytes", "time_ns", rank.alias("rank")
    )
    for connection, first, size, time_ns, sent in columns.iter_rows():
        for start, end in seen[connection].add(first, first + size):
            found[connection].append(Arrival(start, end, time_ns, sent))
    return {connection: sorted(arrivals) for connection, arrivals in found.items()}


def _parts(records: Iterable[Record], frames: Iterable[Frame]) -> Iterator[list[Part]]:
    """Owners of the bytes of each record: its header belongs to what comes first in it, its tag to what comes last.

    A nonce before the content, as TLS 1.2 has with some ciphers, is taken as if it stood behind it.
    """
    waiting = iter(frames)
    stream_id: int | None = None
    left = 0
    for record in records:
        parts: list[Part] = []
        at = record.start + _RECORD_HEADER_BYTES
        content_end = at + record.content
        while at < content_end:
            if left == 0:
                stream_id, left = next(waiting, Frame(None, content_end - at))
            size = min(left, content_end - at)
            parts.append(Part(at, at + size, stream_id, counts=True))
            at, left = at + size, left - size
        first, last = (parts[0].stream_id, parts[-1].stream_id) if parts else (None, None)
        end = record.start + record.size
        header = Part(record.start, record.start + _RECORD_HEADER_BYTES, first, counts=False)
        yield [header, *parts, Part(at, end, last, counts=False)] if at < end else [header, *parts]


def _pieces(records: Iterable[list[Part]], arrivals: list[Arrival]) -> Iterator[list[Piece]]:
    """Parts cut where one arrival ends and the next begins. Raises Unknown where bytes of a record never arrived."""
    place = 0
    for parts in records:
        pieces: list[Piece] = []
        for part in parts:
            at = part.start
            while at < part.end:
                while place < len(arrivals) and arrivals[place].end <= at:
                    place += 1
                if place == len(arrivals) or arrivals[place].start > at:
                    raise Unknown("the capture lacks segments of the connection")
                arrival = arrivals[place]
                end = min(part.end, arrival.end)
                pieces.append(Piece(part.stream_id, (end - at) * part.counts, arrival.arrived_ns, arrival.sent))
                at = end
        yield pieces


def quic_streams(evidence: Evidence) -> dict[Stream, list[Piece]]:
    """Pieces of each request stream at the receiver, in the order of their offsets, up to the first hole for good.

    A packet number is the place of its packet in the order of sending. Raises Unknown where nothing is known.
    """
    arrival = quic.arrivals(evidence, evidence.receiver)
    frames = [
        (arrival[frame.packet], frame)
        for frame in quic.stream_frames(evidence, evidence.receiver, "received")
        if quic.is_request_stream(frame.stream_id) and frame.packet in arrival
    ]
    seen: defaultdict[Stream, IntervalSet] = defaultdict(IntervalSet)
    found: defaultdict[Stream, list[tuple[int, Piece]]] = defaultdict(list)
    for time_ns, frame in sorted(frames, key=lambda each: each[0]):
        for start, end in seen[frame.stream].add(frame.start, frame.end):
            found[frame.stream].append((start, Piece(frame.stream_id, end - start, time_ns, frame.packet[2])))
    return {stream: list(_without_hole(sorted(pieces))) for stream, pieces in found.items()}


def _without_hole(pieces: list[tuple[int, Piece]]) -> Iterator[Piece]:
    end = 0
    for start, piece in pieces:
        if start > end:
            return
        yield piece
        end = start + piece.size


def quic_conditions(evidence: Evidence) -> dict[Stream, list[Condition]]:
    """Conditions on request streams beside their own bytes: that 1-RTT packets can be opened, which takes the sender's
    Finished (RFC 8446 section 7.1, RFC 9001 section 5.7), and that the header can be decoded.

    Streams that came in 0-RTT packets have no condition of keys. Headers of requests no table tells of.
    """
    streams = {frame.stream for frame in quic.stream_frames(evidence, evidence.receiver, "received")}
    early = {
        frame.stream
        for frame in quic.stream_frames(evidence, evidence.receiver, "received")
        if frame.packet[1] == "0RTT"
    }
    opened, headers = _finished(evidence), _header_waits(evidence)
    return {
        stream: [*(opened.get(stream[0], []) if stream not in early else []), *headers.get(stream, [])]
        for stream in streams
    }


def _finished(evidence: Evidence) -> dict[str, list[Condition]]:
    """The wait for the sender's Finished on each connection."""
    steps = _captured(evidence, "handshake").filter(
        pl.col("transport") == "quic", pl.col("direction") == evidence.way, pl.col("step") == "finished"
    )
    first = steps.group_by("connection").agg(pl.col("time_ns").min())
    return {connection: [Condition("other_gap", 0, time_ns)] for connection, time_ns in first.iter_rows()}


def _header_waits(evidence: Evidence) -> dict[Stream, list[Condition]]:
    """The wait of each response whose header was whole before what it refers to in the dynamic table had come.

    A header that waits for nothing is decoded in the instant in which its frame is whole.
    """
    if evidence.upload:
        return {}
    frames = _received(evidence, "http_frames").filter(http_version="HTTP/3", frame_type="headers")
    whole: defaultdict[Stream, list[int]] = defaultdict(list)
    for connection, stream_id, time_ns in (
        frames.drop_nulls("last_byte_ns").select("connection", "stream_id", "last_byte_ns").iter_rows()
    ):
        whole[connection, stream_id].append(time_ns)
    requests = _captured(evidence, "http_requests").drop_nulls(("headers_ns", "connection", "stream_id"))
    found: dict[Stream, list[Condition]] = {}
    for connection, stream_id, decoded_ns in requests.select("connection", "stream_id", "headers_ns").iter_rows():
        before = [time_ns for time_ns in whole[connection, stream_id] if time_ns <= decoded_ns]
        if before and max(before) < decoded_ns:
            found[connection, stream_id] = [Condition("qpack", max(before), decoded_ns)]
    return found
