# SPDX-License-Identifier: Apache-2.0
"""Packets of a log in a capture that was not decrypted: found by their order and sizes."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from quiclab.logs.decoders.alignment import LoggedPacket, align
from quiclab.logs.decoders.joins import KEY

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
