# SPDX-License-Identifier: Apache-2.0
"""Packets of a log in a capture that was not decrypted: found by their order and sizes.

Match the packets of a qlog with the datagrams of a capture that carried them, by order and size.

A qlog's clock may be coarse or have no epoch; the order in which an endpoint handles packets, and their sizes, are
exact. Packets that share a datagram (RFC 9000 section 12.2) stand next to each other; a packet with a short header is
the last of its datagram.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from quiclab.logs.decoders.joins import KEY

_WINDOWS = ((32, 48), (24, 512))
"""Numbers of packets and datagrams to look at where the sequences diverge; the wide window is for long bursts that were
dropped."""
_MOST_PER_DATAGRAM = 8
_PADDED_IN_A_ROW = 3
"""Number of consecutive padded datagrams to look at when searching where padding starts."""


@dataclass(frozen=True, slots=True)
class LoggedPacket:
    """A packet of a qlog."""

    length_bytes: int
    kind: str
    """Packet type, in qlog's words."""


def align(packets: Sequence[LoggedPacket], datagrams: Sequence[int]) -> list[int | None]:
    """Find the index of each packet's datagram; None where there is none.

    `datagrams` are UDP payload lengths. Datagrams that no log mentions (dropped by the socket, or not decryptable) and
    packets without a datagram are skipped so that most of what follows fits. Among neighbours of equal size the log
    cannot tell which one was dropped.
    """
    found: list[int | None] = [None] * len(packets)
    at_packet = at_datagram = 0
    while at_packet < len(packets) and at_datagram < len(datagrams):
        count = _fit(packets, at_packet, datagrams, at_datagram)
        if count:
            found[at_packet : at_packet + count] = [at_datagram] * count
            at_packet, at_datagram = at_packet + count, at_datagram + 1
            continue
        skip = _skip(packets, at_packet, datagrams, at_datagram)
        if skip is None:
            break
        at_packet, at_datagram = at_packet + skip[0], at_datagram + skip[1]
    _place_late(packets, datagrams, found)
    return found


def _fit(
    packets: Sequence[LoggedPacket],
    start: int,
    datagrams: Sequence[int],
    at_datagram: int,
    look_ahead: int = _PADDED_IN_A_ROW,
) -> int:
    """Count the packets from `start` on that fill the datagram; 0 if they do not fit."""
    total = 0
    count = 0
    for packet in packets[start : start + _MOST_PER_DATAGRAM]:
        total += packet.length_bytes
        if total > datagrams[at_datagram]:
            break
        count += 1
        if total == datagrams[at_datagram]:
            return count
        if packet.kind == "1RTT":
            break
    if not count or packets[start].kind != "initial":
        return 0
    # Padding behind the packets of a datagram with an Initial belongs to none of them: what follows shows where it
    # starts.
    following = at_datagram + 1
    ends = (start + packed for packed in range(1, count + 1))
    if not look_ahead or following == len(datagrams):
        return 1
    fits = (end for end in ends if _fit(packets, end, datagrams, following, look_ahead - 1))
    return next(fits, start) - start


def _skip(
    packets: Sequence[LoggedPacket], at_packet: int, datagrams: Sequence[int], at_datagram: int
) -> tuple[int, int] | None:
    """Numbers of packets and datagrams to skip so that the most packets of a window fit; None if too few do."""
    for packet_window, datagram_window in _WINDOWS:
        near_packets = packets[at_packet : at_packet + packet_window]
        near_datagrams = datagrams[at_datagram : at_datagram + datagram_window]
        best = _most_fitting(near_packets, near_datagrams)
        if best[0][0] * 2 >= min(len(near_packets), len(near_datagrams)):
            i = j = 0
            while best[i][j] in (best[i][j + 1], best[i + 1][j]):
                i, j = (i, j + 1) if best[i][j] == best[i][j + 1] else (i + 1, j)
            return i, j
    return None


def _most_fitting(packets: Sequence[LoggedPacket], datagrams: Sequence[int]) -> list[list[int]]:
    """Most packets that can be placed in order, for every pair of suffixes: a longest common subsequence."""
    best = [[0] * (len(datagrams) + 1) for _ in range(len(packets) + 1)]
    for i in range(len(packets) - 1, -1, -1):
        for j in range(len(datagrams) - 1, -1, -1):
            count = _fit(packets, i, datagrams, j)
            placed = count + best[i + count][j + 1] if count else 0
            best[i][j] = max(placed, best[i + 1][j], best[i][j + 1])
    return best


def _place_late(packets: Sequence[LoggedPacket], datagrams: Sequence[int], found: list[int | None]) -> None:
    """Place packets that were logged late because the endpoint had to wait for their keys: their datagrams came
    earlier."""
    taken = {index for index in found if index is not None}
    free = [index for index in range(len(datagrams)) if index not in taken]
    latest = -1
    for at, packet in enumerate(packets):
        index = found[at]
        if index is not None:
            latest = max(latest, index)
            continue
        place = next((each for each in free if each <= latest and datagrams[each] == packet.length_bytes), None)
        if place is not None:
            found[at] = place
            free.remove(place)


_PROTECTED = ("0RTT", "1RTT")
_FIRST_AT_RECEIVER = 2
"""Lowest rank at the receiving end; see `sightings`."""
_MOST_PACKETS = 1_000_000
"""Most packets that are aligned, because aligning holds a whole log's packets in memory; beyond this only packet
numbers join. A download of 210 MB, with its acknowledgments, is half as many in the logs of both ends."""


def aligned(seen: pl.DataFrame, packets: pl.LazyFrame, ip_packets: pl.LazyFrame, captures: list[str]) -> pl.DataFrame:
    """Find the logs' QUIC packets in captures that cannot number them; return sightings in the form of `seen`.

    Where no 1-RTT packet of a capture was opened, a log is aligned with the datagrams that the capture at the same end
    shows in the same direction. Otherwise packets that were not found are aligned with those that stayed encrypted:
    some were captured without their content, and for 0-RTT packets programs may leave no secret.
    """
    logs = seen.filter(
        ~pl.col("source").is_in(captures), pl.col("transport") == "quic", pl.col("vantage").is_not_null()
    )
    if logs.is_empty() or logs.height > _MOST_PACKETS:
        return seen.clear()
    # Initial packets can be opened without a key log.
    of_captures = seen.filter(pl.col("source").is_in(captures), pl.col("transport") == "quic")
    opened = of_captures.filter(pl.col("packet_type") == "1RTT")["source"].unique().to_list()
    datagrams = ip_packets.filter(pl.col("protocol") == "udp", ~pl.col("source").is_in(opened)).select(
        "source", "vantage", "direction", "time_ns", "number", "payload_bytes"
    )
    closed = packets.filter(
        pl.col("source").is_in(opened),
        pl.col("transport") == "quic",
        pl.col("packet_number").is_null(),
        pl.col("packet_type").is_in(_PROTECTED),
    ).select("source", "vantage", "direction", "time_ns", number="ip_packet", payload_bytes="length_bytes")
    place = (*KEY, "vantage", "sent")
    logs, of_captures = (each.with_columns(sent=pl.col("rank") < _FIRST_AT_RECEIVER) for each in (logs, of_captures))
    lacking = logs.filter(pl.col("packet_type").is_in(_PROTECTED)).join(of_captures, on=place, how="anti").drop("sent")
    logs = logs.drop("sent")
    return pl.concat([seen.clear(), *_found(logs, datagrams.collect()), *_found(lacking, closed.collect())])


def _found(logs: pl.DataFrame, datagrams: pl.DataFrame) -> Iterator[pl.DataFrame]:
    shown = datagrams.partition_by("source", "vantage", "direction", as_dict=True)
    units = logs.partition_by("source", "connection", "vantage", "way", "rank", as_dict=True, maintain_order=True)
    names = logs.group_by("source").agg(pl.col("connection").n_unique()).rows()
    alone = {source for source, connections in names if connections == 1}
    for (source, _, vantage, way, rank), told in units.items():
        # Only a decrypted capture tells which datagrams belong to which of several connections.
        if source not in alone:
            continue
        for (capture, at, direction), wire in shown.items():
            if at != vantage or direction != way:
                continue
            packets = [
                LoggedPacket(length or 0, kind) for length, kind in told.select("length_bytes", "packet_type").rows()
            ]
            places = align(packets, wire["payload_bytes"].to_list())
            where = pl.Series(places, dtype=pl.UInt32)
            kept = told.filter(where.is_not_null())
            rows = where.drop_nulls()
            yield kept.with_columns(
                source=pl.lit(capture),
                rank=pl.lit(1 if rank == 0 else 2, pl.Int8),
                time_ns=wire["time_ns"].gather(rows),
                ip_packet=wire["number"].gather(rows),
            ).select("source", "vantage", "connection", "rank", *KEY, "time_ns", "length_bytes", "ip_packet")
