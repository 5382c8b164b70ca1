# SPDX-License-Identifier: Apache-2.0
"""QUIC connections: packets of captures, or of logs placed by captures, and when the response's streams move on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import polars as pl

from quiclab.evidence.metrics.evidence import End, Evidence, Unknown
from quiclab.evidence.metrics.intervals import IntervalSet

PacketKey = tuple[str, str, int]
"""Connection, packet type and packet number."""
_KEY = ("connection", "packet_type", "packet_number")
_LOGS = ("qlog", "netlog")


class StreamFrame(NamedTuple):
    """A STREAM frame and the packet that carried it."""

    packet: PacketKey
    stream_id: int
    start: int
    end: int
    fin: bool

    @property
    def stream(self) -> tuple[str, int]:
        """Connection and stream id."""
        return self.packet[0], self.stream_id


@lru_cache(maxsize=12)
def quic_packets(evidence: Evidence, vantage: End, event: str, table: str = "packets") -> pl.DataFrame:
    """QUIC packets of one end, in order. Raises Unknown where nothing is known.

    An end's capture says it, if it could be decrypted; else its own log.
    """
    rows = evidence.table(table).filter(
        pl.col("source").is_in(_sources(evidence, vantage)), pl.col("vantage") == vantage
    )
    if rows.is_empty():
        reason = evidence.cannot_tell(table, vantage)
        why = f" ({reason})" if reason else ""
        raise Unknown(f"the {vantage}'s log tells of no {table}{why}, and its capture could not be decrypted")
    rows = rows.filter(pl.col("event") == event).drop_nulls("packet_number")
    if vantage == "client" and event == "received" and not evidence.for_nobody.is_empty():
        return rows.join(_for_nobody(evidence), on=("source", *_KEY), how="anti", maintain_order="left")
    return rows


@lru_cache(maxsize=2)
def _for_nobody(evidence: Evidence) -> pl.DataFrame:
    """Packets that the client's capture shows, and that came for an address that it had left."""
    shown = evidence.table("packets").filter(pl.col("event") == "received").drop_nulls(("ip_packet", *_KEY))
    gone = evidence.for_nobody.select("source", ip_packet="number")
    return shown.join(gone, on=("source", "ip_packet"), how="semi")


@lru_cache(maxsize=4)
def _sources(evidence: Evidence, vantage: End) -> list[str]:
    """The files that tell of all of an end's packets."""
    packets = evidence.table("packets").filter(pl.col("transport") == "quic", pl.col("vantage") == vantage)
    findings = evidence.table("decode_stats")
    cut = findings.filter(pl.col("name") == "cut_packet")["source"].to_list()
    captured = packets.filter(
        pl.col("ip_packet").is_not_null(),
        pl.col("packet_type").is_in(["0RTT", "1RTT"]),
        # A capture of headers holds the first packets whole: what it shows of the rest is not what was sent.
        ~pl.col("source").is_in(cut),
    )
    # A program may leave no secret of its 0-RTT: a capture without it would miss the request.
    opened = captured.group_by("connection", "packet_type").agg(pl.col("packet_number").is_not_null().any())
    if opened.height and opened["packet_number"].all():
        return captured["source"].unique().to_list()
    formats = evidence.table("sources").filter(pl.col("format").is_in(_LOGS))
    logged = packets.join(formats.select("source"), on="source", how="semi")
    if logged.is_empty():
        closed = " and its capture could not be decrypted, or not all of it" if opened.height else ""
        closed = " and its capture holds headers only" if cut else closed
        raise Unknown(f"the {vantage} left no log of its packets{closed}")
    if logged["connection"].n_unique() > 1:
        raise Unknown(f"the {vantage}'s logs show several connections, and its capture could not be decrypted")
    return logged["source"].unique().to_list()


@lru_cache(maxsize=2)
def departures(evidence: Evidence, end: End) -> dict[PacketKey, tuple[int, int | None]]:
    """(time_ns, packet_index) at which each packet that an endpoint sent reached the link."""
    return _placed(evidence, end, "sent")


@lru_cache(maxsize=2)
def arrivals(evidence: Evidence, end: End = "client") -> dict[PacketKey, int]:
    """time_ns at which each of the other end's packets arrived at this end.

    By the link's own index where every packet that the other end sent is found in its capture: both captures of a link
    share it. Else as this end's capture shows what it received.
    """
    sender: End = "server" if end == "client" else "client"
    try:
        sent = departures(evidence, sender)
        complete = len(sent) == quic_packets(evidence, sender, "sent").height
    except Unknown:
        complete = False
    if complete and evidence.one_link:
        received = evidence.packets(end, "down" if end == "client" else "up").drop_nulls("packet_index")
        time_of = dict(received.unique("packet_index", keep="first").select("packet_index", "time_ns").iter_rows())
        return {key: time_of[index] for key, (_, index) in sent.items() if index in time_of}
    return {key: time_ns for key, (time_ns, _) in _placed(evidence, end, "received").items()}


def _placed(evidence: Evidence, end: End, event: str) -> dict[PacketKey, tuple[int, int | None]]:
    """Packets with their time in the capture, whichever source lists them; packets not in the capture are left out."""
    in_capture = pl.col("ip_packet").is_not_null()
    shown_ns = pl.when(in_capture).then(pl.col("time_ns")).otherwise(pl.col("captured_ns"))
    rows = quic_packets(evidence, end, event).with_columns(shown_ns=shown_ns).drop_nulls("shown_ns")
    placed: dict[PacketKey, tuple[int, int | None]] = {}
    columns = ("connection", "packet_type", "packet_number", "shown_ns", "packet_index")
    for connection, kind, number, time_ns, index in rows.select(columns).iter_rows():
        placed.setdefault((connection, kind, number), (time_ns, index))
    return placed


@lru_cache(maxsize=4)
def stream_frames(evidence: Evidence, vantage: End, event: str) -> tuple[StreamFrame, ...]:
    """The STREAM frames that an endpoint sent or received, in their order."""
    frames = quic_packets(evidence, vantage, event, "frames").filter(
        pl.col("frame_type") == "stream", pl.col("stream_id").is_not_null()
    )
    columns = ("connection", "packet_type", "packet_number", "stream_id", "offset", "length_bytes", "fin")
    return tuple(
        StreamFrame((connection, kind, number), stream_id, offset or 0, (offset or 0) + (length or 0), bool(fin))
        for connection, kind, number, stream_id, offset, length, fin in frames.select(columns).iter_rows()
    )


def is_request_stream(stream_id: int) -> bool:
    """True if a stream is client-initiated and bidirectional (RFC 9000 section 2.1, RFC 9114 section 4.1)."""
    return stream_id % 4 == 0


def in_order(evidence: Evidence) -> Iterator[tuple[int, int]]:
    """(time_ns, offset) at each packet that moves on the offset up to which a request stream has arrived."""
    arrival = arrivals(evidence)
    seen: defaultdict[tuple[str, int], IntervalSet] = defaultdict(IntervalSet)
    for frame in stream_frames(evidence, "client", "received"):
        data = seen[frame.stream]
        before = data.reach(0)
        data.add(frame.start, frame.end)
        if is_request_stream(frame.stream_id) and data.reach(0) > before and frame.packet in arrival:
            yield arrival[frame.packet], data.reach(0)


@lru_cache(maxsize=1)
def completing_packets(evidence: Evidence) -> tuple[PacketKey, ...]:
    """Return the received packet that completes each request stream. Raises Unknown if a stream stays incomplete."""
    seen: dict[tuple[str, int], IntervalSet] = {}
    final_size: dict[tuple[str, int], int] = {}
    done: dict[tuple[str, int], PacketKey] = {}
    for frame in stream_frames(evidence, "client", "received"):
        if not is_request_stream(frame.stream_id) or frame.stream in done:
            continue
        data = seen.setdefault(frame.stream, IntervalSet())
        data.add(frame.start, frame.end)
        if frame.fin:
            final_size[frame.stream] = frame.end
        if data.reach(0) == final_size.get(frame.stream):
            done[frame.stream] = frame.packet
    if not seen or len(done) < len(seen):
        raise Unknown("nothing at the client's end shows the end of the response")
    return tuple(done.values())
