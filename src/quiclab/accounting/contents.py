# SPDX-License-Identifier: Apache-2.0
"""What each packet of one direction carries: first-time bytes, bytes sent again, acknowledgments, a handshake."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import polars as pl

from quiclab.accounting.what import What
from quiclab.metrics import Evidence, Unknown, quic
from quiclab.metrics.evidence import Direction, End
from quiclab.metrics.intervals import IntervalSet

_SYN_OR_FIN = 0x03
_SPACES = {"initial": "initial", "handshake": "handshake"}


@dataclass(frozen=True)
class Content:
    """One IP packet's content."""

    what: What
    """PAYLOAD, HANDSHAKE, RETRANSMISSION, NEEDLESS, PROBE or ACKNOWLEDGMENTS."""
    payload_bytes: int = 0
    """Bytes of the transport's streams."""
    again: bool = False
    """Whether it repeats what was sent before: data, a handshake, or a probe in their place."""
    highest: tuple[int, int] | None = None
    """Pair (of the request's stream, of all streams) of the highest offset sent so far, this packet included."""


def contents(evidence: Evidence, direction: Direction, delivered: Collection[int]) -> dict[int, Content]:
    """`index` in link_packets → content; empty where neither capture nor log shows the packets.

    `delivered` has the indices of those packets that arrived.
    """
    end: End = "server" if direction == "down" else "client"
    if not evidence.quic:
        return _of_tcp(evidence, end, direction, delivered)
    try:
        return _of_quic(evidence, end, delivered)
    except Unknown:
        return {}


def _of_tcp(evidence: Evidence, end: End, direction: Direction, delivered: Collection[int]) -> dict[int, Content]:
    found: dict[int, Content] = {}
    syns: set[int] = set()
    arrived: defaultdict[int, IntervalSet] = defaultdict(IntervalSet)
    highest: defaultdict[int, int] = defaultdict(int)
    for index, port, start, length, flags in _segments(evidence, end, direction):
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
        found[index] = Content(kind, length, again, (highest[port], highest[port]))
        if index in delivered:
            got.add(start, start + length)
    return found


def _segments(evidence: Evidence, end: End, direction: Direction) -> Iterator[tuple[int, int, int, int, int]]:
    """(index, client's port, offset of the first byte, length, flags) of each segment, in the order of sending."""
    packets = evidence.packets(end, direction, ("tcp",)).drop_nulls(("packet_index", "tcp_seq"))
    port = "src_port" if direction == "up" else "dst_port"
    columns = ("packet_index", port, "tcp_seq", "payload_bytes", "tcp_flags")
    origins: dict[int, tuple[int, int]] = {}
    for index, number, seq, length, flags in packets.select(columns).iter_rows():
        last, offset = origins.get(number, (seq, 1 << 33))
        offset += (seq - last + (1 << 31)) % (1 << 32) - (1 << 31)
        origins[number] = (seq, offset)
        yield index, number, offset, length or 0, flags or 0


def _of_quic(evidence: Evidence, end: End, delivered: Collection[int]) -> dict[int, Content]:
    """Packets by what their frames say; several that share a datagram count as the one that carries the most."""
    placed = quic.departures(evidence, end)
    frames = quic.told(evidence, end, "sent", "frames").select(
        "connection", "packet_type", "packet_number", "frame_type", "stream_id", "offset", "length_bytes"
    )
    found: dict[int, Content] = {}
    ranges: defaultdict[tuple[object, ...], tuple[IntervalSet, IntervalSet]] = defaultdict(
        lambda: (IntervalSet(), IntervalSet())
    )
    highest: defaultdict[object, int] = defaultdict(int)
    for index, several in _by_datagram(frames, placed):
        content = _datagram(several, ranges, highest, arrives=index in delivered)
        found[index] = content
    for (_, kind, _), (_, at) in placed.items():  # packets without a frame that the logs show
        if at is not None and at not in found:
            found[at] = Content(What.HANDSHAKE if kind in _SPACES else What.PROBE)
    return found


_Frame = tuple[str, str, int | None, int, int]
"""Packet type, frame type, stream, offset, length."""


def _by_datagram(
    frames: pl.DataFrame, placed: dict[quic.PacketKey, tuple[int, int | None]]
) -> Iterator[tuple[int, list[_Frame]]]:
    current: int | None = None
    several: list[_Frame] = []
    for connection, kind, number, name, stream, offset, length in frames.iter_rows():
        index = placed.get((connection, kind, number), (0, None))[1]
        if index is None:
            continue
        if index != current and current is not None:
            yield current, several
            several = []
        current = index
        several.append((kind, name, stream, offset or 0, length or 0))
    if current is not None:
        yield current, several


def _datagram(
    several: list[_Frame],
    ranges: defaultdict[tuple[object, ...], tuple[IntervalSet, IntervalSet]],
    highest: defaultdict[object, int],
    *,
    arrives: bool,
) -> Content:
    payload, data, crypto, again, whole, acks, others = 0, False, False, False, True, False, False
    for kind, name, stream, offset, length in several:
        if name in ("stream", "crypto"):
            sent, got = ranges[(kind if name == "crypto" else "", stream)]
            end = offset + length
            repeats = length > 0 and sent.add_length(offset, end) < length
            again |= repeats
            whole &= not repeats or got.reach(offset) >= end
            if arrives:
                got.add(offset, end)
            crypto |= name == "crypto"
            if name == "stream":
                data = True
                payload += length
                highest["all"] += max(0, end - highest[stream])
                highest[stream] = max(highest[stream], end)
        acks |= name == "ack"
        others |= name not in ("padding", "ping", "ack")
    first = min((s for s in highest if isinstance(s, int) and quic.is_request_stream(s)), default=0)
    reached = (highest[first], highest["all"])
    if data or crypto:
        again_kind = What.NEEDLESS if whole else What.RETRANSMISSION
        new = What.PAYLOAD if data else What.HANDSHAKE
        return Content(again_kind if again else new, payload, again, reached)
    if acks or others:
        return Content(What.ACKNOWLEDGMENTS, highest=reached)
    return Content(What.PROBE, again=True, highest=reached)
