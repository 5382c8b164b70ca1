# SPDX-License-Identifier: Apache-2.0
"""QUIC connections: qlog packets placed in time by the captures, and when the response's streams move on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import polars as pl

from quiclab.metrics.evidence import End, Evidence, Unknown
from quiclab.metrics.intervals import IntervalSet

PacketKey = tuple[str, int]
"""Packet type and packet number."""


@dataclass(frozen=True)
class StreamFrame:
    """A STREAM frame and the packet that carried it."""

    packet: PacketKey
    stream_id: int
    start: int
    end: int
    fin: bool


def logged(evidence: Evidence, vantage: End, event: str, table: str = "packets") -> pl.DataFrame:
    """Rows of one endpoint's qlog in their order. Raises Unknown without a log, or with several connections."""
    rows = evidence.logged(table).filter(pl.col("vantage") == vantage, pl.col("event") == event)
    whole = evidence.logged("packets").filter(pl.col("vantage") == vantage)
    if whole.is_empty():
        raise Unknown(f"the {vantage} left no qlog")
    if whole["connection"].n_unique() > 1:
        raise Unknown(f"the {vantage}'s qlogs show several connections, which are not told apart in the captures")
    return rows.drop_nulls("packet_number")


@lru_cache(maxsize=2)
def departures(evidence: Evidence, end: End) -> dict[PacketKey, tuple[int, int | None]]:
    """(time_ns, packet_index) at which each packet that an endpoint logs as sent reached the link."""
    return _placed(evidence, end, "sent")


@lru_cache(maxsize=1)
def arrivals(evidence: Evidence) -> dict[PacketKey, int]:
    """time_ns at which each of the server's packets arrived at the client's end.

    By packet number where the server's log fits its capture without a gap: both captures share the packet log's index.
    Else as the client's capture shows what the client's log says it received.
    """
    try:
        sent = departures(evidence, "server")
        complete = len(sent) == logged(evidence, "server", "sent").height
    except Unknown:
        complete = False
    if complete:
        received = evidence.packets("client", "down").drop_nulls("packet_index")
        time_of = dict(received.unique("packet_index", keep="first").select("packet_index", "time_ns").iter_rows())
        return {key: time_of[index] for key, (_, index) in sent.items() if index in time_of}
    return {key: time_ns for key, (time_ns, _) in _placed(evidence, "client", "received").items()}


def _placed(evidence: Evidence, end: End, event: str) -> dict[PacketKey, tuple[int, int | None]]:
    columns = ("packet_type", "packet_number", "captured_ns", "packet_index")
    placed: dict[PacketKey, tuple[int, int | None]] = {}
    for kind, number, time_ns, index in (
        logged(evidence, end, event).select(columns).drop_nulls("captured_ns").iter_rows()
    ):
        placed.setdefault((kind, number), (time_ns, index))
    return placed


def stream_frames(evidence: Evidence, vantage: End, event: str) -> Iterator[StreamFrame]:
    """The STREAM frames that an endpoint logs, in their order."""
    frames = logged(evidence, vantage, event, "frames").filter(
        pl.col("frame_type") == "stream", pl.col("stream_id").is_not_null()
    )
    columns = ("packet_type", "packet_number", "stream_id", "offset", "length_bytes", "fin")
    for kind, number, stream_id, offset, length, fin in frames.select(columns).iter_rows():
        start = offset or 0
        yield StreamFrame((kind, number), stream_id, start, start + (length or 0), bool(fin))


def is_request_stream(stream_id: int) -> bool:
    """Client-initiated and bidirectional (RFC 9000 section 2.1, RFC 9114 section 4.1)."""
    return stream_id % 4 == 0


def in_order(evidence: Evidence) -> Iterator[tuple[int, int]]:
    """(time_ns, offset) at each packet that moves on the offset up to which a request stream has arrived."""
    arrival = arrivals(evidence)
    seen: defaultdict[int, IntervalSet] = defaultdict(IntervalSet)
    for frame in stream_frames(evidence, "client", "received"):
        data = seen[frame.stream_id]
        before = data.reach(0)
        data.add(frame.start, frame.end)
        if is_request_stream(frame.stream_id) and data.reach(0) > before and frame.packet in arrival:
            yield arrival[frame.packet], data.reach(0)


def completing_packets(evidence: Evidence) -> list[PacketKey]:
    """For each request stream the received packet that completes it. Raises Unknown if a stream stays incomplete."""
    seen: dict[int, IntervalSet] = {}
    final_size: dict[int, int] = {}
    done: dict[int, PacketKey] = {}
    for frame in stream_frames(evidence, "client", "received"):
        if not is_request_stream(frame.stream_id) or frame.stream_id in done:
            continue
        data = seen.setdefault(frame.stream_id, IntervalSet())
        data.add(frame.start, frame.end)
        if frame.fin:
            final_size[frame.stream_id] = frame.end
        if data.reach(0) == final_size.get(frame.stream_id):
            done[frame.stream_id] = frame.packet
    if not seen or len(done) < len(seen):
        raise Unknown("the client's qlog shows no end of the response")
    return list(done.values())
