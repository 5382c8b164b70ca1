# SPDX-License-Identifier: Apache-2.0
"""Contents of each packet of one direction: first-time bytes, bytes sent again, acknowledgments, a handshake."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown, quic
from quiclab.evidence.metrics.evidence import CAPTURES, Direction, End
from quiclab.evidence.metrics.intervals import IntervalSet
from quiclab.model.activity import What
from quiclab.why.account.handshakes import at_client

_SYN_OR_FIN = 0x03
_WAY: dict[End, Direction] = {"client": "up", "server": "down"}
_SPACES = {"initial": "initial", "handshake": "handshake"}


@dataclass(frozen=True)
class Content:
    """One IP packet's content."""

    what: What
    """PAYLOAD, HANDSHAKE, RETRANSMISSION, NEEDLESS, PROBE or ACKNOWLEDGMENTS."""
    payload_bytes: int = 0
    """Bytes of the transport's streams."""
    again: bool = False
    """True if it repeats what was sent before: data, a handshake, or a probe in their place.

    A probe larger than what carried data before looks for the path's MTU (RFC 9000 section 14.4): no repetition.
    """
    set_up: bool = False
    """True if it has a message of the handshake before the connection can be used."""
    stream: int | None = None
    """The request's stream with the most bytes in it; None where it has bytes of none, or where that is not known."""
    reached: Reached | None = None
    """Bytes that had been sent until then, this packet included."""
    asks: bool = False
    """True if it has a PING or IMMEDIATE_ACK, which a sender adds to a probe that is to be acknowledged."""

    @property
    def unasked(self) -> bool:
        """True if it is sent for no other reason than a timer, where no packet prompts it."""
        return self.again or (self.asks and self.what is What.ACKNOWLEDGMENTS)


@dataclass(frozen=True)
class Reached:
    """Progress of a sender at a packet."""

    stream: int
    """Highest offset of the packet's stream; of TCP, of its connection."""
    connection: int
    """Sum of the highest offsets of all streams."""
    bodies: int
    """Sum of the highest offsets of the requests' streams."""


def contents(
    evidence: Evidence, direction: Direction, delivered: Collection[int], own: int | None = None
) -> dict[int, Content]:
    """`index` in link_packets → content; empty where neither capture nor log shows the packets.

    `delivered` has the indices of those packets that arrived; first-time bytes of streams of requests other than `own`
    are another object's.
    """
    end: End = "server" if direction == "down" else "client"
    if not evidence.quic:
        found = _tcp_contents(
            evidence, end, direction, delivered, None if own is None else layout(evidence, end, direction)
        )
    else:
        try:
            found = _quic_contents(evidence, end, delivered)
        except Unknown:
            return {}
    return found if own is None else {index: _by_object(content, own) for index, content in found.items()}


def _by_object(content: Content, own: int) -> Content:
    if content.what is What.PAYLOAD and content.stream not in (None, own):
        return replace(content, what=What.OTHER_OBJECT)
    return content


def _tcp_contents(
    evidence: Evidence, end: End, direction: Direction, delivered: Collection[int], streams: Layout | None
) -> dict[int, Content]:
    found: dict[int, Content] = {}
    syns: set[int] = set()
    arrived: defaultdict[int, IntervalSet] = defaultdict(IntervalSet)
    highest: defaultdict[int, int] = defaultdict(int)
    for index, _, port, start, length, flags in segments(evidence, end, direction):
        if length == 0:
            kind = What.HANDSHAKE if flags & _SYN_OR_FIN else What.ACKNOWLEDGMENTS
            found[index] = Content(kind, again=bool(flags & 2) and port in syns)
            if flags & 2:
                syns.add(port)
            continue
        got = arrived[port]
        whole = got.reach(start) >= start + length
        sent = arrived[-1 - port]
        again = sent.add_length(start, start + length) < length
        kind = (What.NEEDLESS if whole else What.RETRANSMISSION) if again else What.PAYLOAD
        highest[port] = max(highest[port], start + length)
        stream = None if streams is None else streams.stream(start + length // 2)
        reached = Reached(highest[port], highest[port], highest[port])
        found[index] = Content(kind, length, again, stream=stream, reached=reached)
        if index in delivered:
            got.add(start, start + length)
    return found


def _quic_contents(evidence: Evidence, end: End, delivered: Collection[int]) -> dict[int, Content]:
    """Packets by what their frames say; several that share a datagram count as the one that carries the most."""
    placed = quic.departures(evidence, end)
    frames = quic.quic_packets(evidence, end, "sent", "frames").select(
        "connection", "packet_type", "packet_number", "frame_type", "stream_id", "offset", "length_bytes"
    )
    size = dict(evidence.packets(end, _WAY[end]).select("packet_index", "payload_bytes").drop_nulls().iter_rows())
    largest = 0
    found: dict[int, Content] = {}
    ranges: defaultdict[tuple[object, ...], tuple[IntervalSet, IntervalSet]] = defaultdict(
        lambda: (IntervalSet(), IntervalSet())
    )
    highest: defaultdict[int, int] = defaultdict(int)
    for index, several in _by_datagram(frames, placed, _Anew.from_evidence(evidence, end)):
        content = _datagram(several, ranges, highest, arrives=index in delivered)
        if content.what is What.PROBE and size.get(index, 0) > largest > 0:
            content = replace(content, again=False)
        elif content.what is not What.PROBE:
            largest = max(largest, size.get(index, 0))
        found[index] = content
    for (_, kind, _), (_, at) in placed.items():  # packets without a frame that the logs show
        if at is not None and at not in found:
            found[at] = Content(What.HANDSHAKE if kind in _SPACES else What.PROBE)
    return found


@dataclass(frozen=True)
class _Anew:
    """Bytes that an end that begins anew sends a second time without a loss."""

    retry_ns: int | None
    """Instant from which a client repeats its ClientHello because of Retry or Version Negotiation."""
    refused: bool
    """True if a client repeats what it had sent as early data because the server refused that."""

    @classmethod
    def from_evidence(cls, evidence: Evidence, end: End) -> _Anew:
        told = at_client(evidence).filter(pl.col("step").is_in(["retry", "version_negotiation"]))
        refused = evidence.trial.proof.early_data == "rejected"
        return cls(told["time_ns"].min() if end == "client" else None, end == "client" and refused)  # type: ignore[arg-type]

    def space(self, kind: str, name: str, sent_ns: int) -> str:
        """The space of offsets in which a frame of a packet type counts as new or sent again."""
        if name == "crypto":
            return f"{kind} anew" if self.retry_ns is not None and sent_ns >= self.retry_ns else kind
        return kind if self.refused and kind == "0RTT" else ""


_Frame = tuple[str, str, str, int | None, int, int]
"""Packet type, space of offsets, frame type, stream, offset, length."""


def _by_datagram(
    frames: pl.DataFrame, placed: dict[quic.PacketKey, tuple[int, int | None]], anew: _Anew
) -> Iterator[tuple[int, list[_Frame]]]:
    current: int | None = None
    several: list[_Frame] = []
    for connection, kind, number, name, stream, offset, length in frames.iter_rows():
        sent_ns, index = placed.get((connection, kind, number), (0, None))
        if index is None:
            continue
        if index != current and current is not None:
            yield current, several
            several = []
        current = index
        several.append((kind, anew.space(kind, name, sent_ns), name, stream, offset or 0, length or 0))
    if current is not None:
        yield current, several


def _datagram(
    several: list[_Frame],
    ranges: defaultdict[tuple[object, ...], tuple[IntervalSet, IntervalSet]],
    highest: defaultdict[int, int],
    *,
    arrives: bool,
) -> Content:
    carried: defaultdict[int, int] = defaultdict(int)
    data, crypto, set_up, again, whole, acks, others = False, False, False, False, True, False, False
    asks = any(frame[2] in ("ping", "immediate_ack") for frame in several)
    for kind, space, name, stream, offset, length in several:
        if name in ("stream", "crypto"):
            sent, got = ranges[space, stream]
            end = offset + length
            repeats = length > 0 and sent.add_length(offset, end) < length
            again |= repeats
            whole &= not repeats or got.reach(offset) >= end
            if arrives:
                got.add(offset, end)
            crypto |= name == "crypto"
            set_up |= name == "crypto" and kind in _SPACES
            if name == "stream" and stream is not None:
                data = True
                carried[stream] += length
                highest[stream] = max(highest[stream], end)
        acks |= name == "ack"
        others |= name not in ("padding", "ping", "ack", "immediate_ack")
    main = max((s for s in carried if quic.is_request_stream(s)), key=lambda s: carried[s], default=None)
    bodies = sum(end for s, end in highest.items() if quic.is_request_stream(s))
    reached = Reached(0 if main is None else highest[main], sum(highest.values()), bodies)
    if data or crypto:
        again_kind = What.NEEDLESS if whole else What.RETRANSMISSION
        new = What.PAYLOAD if data else What.HANDSHAKE
        return Content(again_kind if again else new, sum(carried.values()), again, set_up, main, reached)
    if acks or others:
        return Content(What.ACKNOWLEDGMENTS, asks=asks, reached=reached)
    return Content(What.PROBE, again=True, asks=asks, reached=reached)


# The bytes of a TCP connection, each of one stream of HTTP/2, by the frames of the sender's capture.
#
# A capture tells the length of each frame, in order, and when its last byte could be read. The bytes between the first
# frame and the last are shared out by their lengths, so that TLS's own are spread evenly: a few bytes in a thousand.
_FRAME_HEADER_BYTES = 9


@dataclass(frozen=True)
class Layout:
    """Stretches of a connection's bytes, in order, each of one stream."""

    ends: list[int]
    streams: list[int]

    def stream(self, offset: int) -> int | None:
        """The stream that a byte belongs to; None for frames of the connection, and where no frame shows it."""
        at = bisect_right(self.ends, offset)
        return (self.streams[at] or None) if at < len(self.ends) else None


def layout(evidence: Evidence, end: End, direction: Direction) -> Layout:
    """The layout of what one end sent on its only connection."""
    at_ns, reached = _progress(evidence, end, direction)
    frames = [each for each in _frames(evidence, end, direction) if at_ns and each[0] >= at_ns[0]]
    if not frames:
        return Layout([], [])
    first = bisect_left(at_ns, frames[0][0])
    begin = reached[first - 1] if first else reached[0]
    until = reached[bisect_right(at_ns, frames[-1][0]) - 1]
    sizes = [_FRAME_HEADER_BYTES + length for _, _, length in frames]
    ends = [begin + (until - begin) * so_far // sum(sizes) for so_far in accumulate(sizes)]
    return Layout(ends, [stream for _, stream, _ in frames])


def _progress(evidence: Evidence, end: End, direction: Direction) -> tuple[list[int], list[int]]:
    """Instants of sending, and the offset up to which all had been sent by then."""
    at_ns: list[int] = []
    reached: list[int] = []
    for _, time_ns, _, start, length, _ in segments(evidence, end, direction):
        if length:
            at_ns.append(time_ns)
            reached.append(max(start + length, reached[-1] if reached else 0))
    return at_ns, reached


def _frames(evidence: Evidence, end: End, direction: Direction) -> Iterator[tuple[int, int, int]]:
    """(last byte sent, stream, length) of each frame, in order."""
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES), pl.col("vantage") == end)
    rows = evidence.table("http_frames").filter(
        pl.col("source").is_in(captures["source"].to_list()),
        pl.col("direction") == direction,
        pl.col("event") == "sent",
    )
    told = rows.with_columns(pl.col("last_byte_ns").fill_null(pl.col("time_ns"))).drop_nulls("last_byte_ns")
    for last_ns, stream, length in told.select("last_byte_ns", "stream_id", "length_bytes").iter_rows():
        yield last_ns, stream or 0, length or 0


# TCP segments that one end sent, as offsets without wrap-around, with their places in the link's log.
def segments(evidence: Evidence, end: End, direction: Direction) -> Iterator[tuple[int, int, int, int, int, int]]:
    """(index, time, client's port, offset of the first byte, length, flags) of each segment an end sent, in order."""
    packets = evidence.packets(end, direction, ("tcp",)).drop_nulls(("packet_index", "tcp_seq"))
    port = "src_port" if direction == "up" else "dst_port"
    columns = ("packet_index", "time_ns", port, "tcp_seq", "payload_bytes", "tcp_flags")
    origins: dict[int, tuple[int, int]] = {}
    for index, time_ns, number, seq, length, flags in packets.select(columns).iter_rows():
        last, offset = origins.get(number, (seq, 1 << 33))
        offset += (seq - last + (1 << 31)) % (1 << 32) - (1 << 31)
        origins[number] = (seq, offset)
        yield index, time_ns, number, offset, length or 0, flags or 0
