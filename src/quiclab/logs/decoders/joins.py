# SPDX-License-Identifier: Apache-2.0
"""Joins of one packet's rows in several sources: by packet number (QUIC) or sequence number (TCP), on the same
connection."""

from __future__ import annotations

from collections import Counter

import polars as pl

CAPTURES = ("pcapng", "pcap")
"""Formats whose packets were seen on the wire, not logged by a program."""

KEY = ("name", "transport", "way", "packet_type", "packet_number")
"""Columns that are equal for one packet everywhere; `name` is the connection's, as `with_common_names` gives it."""
_LEAST_OVERLAP = 0.5
"""Share of the shorter log's packets that must be in the other one for both to be of one connection, whatever its
name."""


def sightings(packets: pl.LazyFrame, captures: list[str]) -> pl.DataFrame:
    """Every packet that a source saw sent or received, once per source, connection and place on its way.

    `rank` is the place: 0 the sender's log, 1 its capture, 2 the receiver's capture, 3 its log. A segment that TCP sent
    again, or without data, has no number of its own and is left out.
    """
    is_capture = pl.col("source").is_in(captures)
    sent = pl.col("event") == "sent"
    told = (
        packets.filter(
            pl.col("packet_number").is_not_null(),
            pl.col("event").is_in(["sent", "received"]),
            (pl.col("transport") == "quic")
            | ((pl.col("length_bytes") > 0) & ~pl.col("retransmission").fill_null(value=False)),
        )
        .with_columns(
            way=pl.col("direction").fill_null(
                pl.when(pl.col("vantage").is_null())
                .then(None)
                .when((pl.col("vantage") == "client") == sent)
                .then(pl.lit("up"))
                .otherwise(pl.lit("down"))
            ),
            packet_type=pl.col("packet_type").fill_null(""),
            rank=pl.when(sent).then(is_capture.cast(pl.Int8)).otherwise(3 - is_capture.cast(pl.Int8)),
            name=pl.col("connection"),
        )
        .filter(pl.col("way").is_not_null())
        .select("source", "vantage", "connection", "rank", *KEY, "time_ns", "length_bytes", "ip_packet")
    )
    return told.unique(("source", "connection", "rank", *KEY), keep="first", maintain_order=True).collect()


def with_common_names(seen: pl.DataFrame) -> pl.DataFrame:
    """`seen` with one `name` for every connection: sources that call it differently are matched by their packets."""
    units = {(source, name): count for source, name, count in seen.group_by("source", "connection").len().iter_rows()}
    shared = Counter(connection for _, connection in units)
    by_packets = [*KEY[1:], "length_bytes"]
    renamed: dict[tuple[str, str], str] = {}
    for unit, count in units.items():
        source, connection = unit
        if shared[connection] > 1:
            continue
        own = seen.filter(pl.col("source") == source, pl.col("connection") == connection)
        others = seen.filter(pl.col("source") != source).select("source", "connection", *by_packets)
        fits = own.select(by_packets).join(others, on=by_packets).group_by("source", "connection").len()
        for other, name, fitting in fits.sort("len", descending=True).iter_rows():
            if fitting >= _LEAST_OVERLAP * min(count, units[other, name]):
                renamed[unit] = renamed.get((other, name), name)
                break
    if not renamed:
        return seen
    names = [renamed.get((source, name), name) for source, name in seen.select("source", "connection").iter_rows()]
    return seen.with_columns(name=pl.Series(names, dtype=pl.String))


def in_captures(seen: pl.DataFrame, captures: list[str]) -> pl.DataFrame:
    """Instant and row of each packet of a log in the capture at the same end, where it shows the packet.

    Columns: source, connection, event, packet_type, packet_number, captured_ns, capture, ip_packet.
    """
    place = (*KEY, "vantage", "sent")
    seen = seen.with_columns(sent=pl.col("rank") < 2)
    told = seen.filter(~pl.col("source").is_in(captures)).drop("ip_packet")
    shown = seen.filter(pl.col("source").is_in(captures)).select(
        *place, captured_ns="time_ns", capture="source", ip_packet="ip_packet"
    )
    return told.join(shown.unique(place, keep="first", maintain_order=True), on=place).select(
        "source",
        "connection",
        pl.when("sent").then(pl.lit("sent")).otherwise(pl.lit("received")).alias("event"),
        pl.col("packet_type").replace("", None),
        "packet_number",
        "captured_ns",
        "capture",
        "ip_packet",
    )
