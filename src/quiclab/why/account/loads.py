# SPDX-License-Identifier: Apache-2.0
"""The objects of a trial with several connections: which connection brought each, when it was asked for, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.evidence.metrics.evidence import CAPTURES, End

_INSTANTS = ("send_start_ns", "send_end_ns", "headers_ns", "last_byte_ns")


@dataclass(frozen=True)
class Load:
    """One object on its way, as the captures of both ends show it."""

    connection: str
    stream: int | None
    """Stream of HTTP/2 and HTTP/3."""
    url: str
    left_ns: int
    """Instant at which the client sent the beginning of its request."""
    came_ns: int
    """Instant at which the server had the whole of it."""
    begun_ns: int
    """Instant at which the server sent the header of its answer."""
    sent_ns: int
    """Instant at which it had sent the last byte of it for the first time."""
    headers_ns: int
    """Instant at which the header had come to the client."""
    done_ns: int
    """Instant at which the whole answer had come to the client."""


def loads_of(evidence: Evidence, kept: Callable[[pl.DataFrame], pl.DataFrame]) -> list[Load]:
    """The objects that came whole, in the order of their requests. `kept` chooses among rows of http_requests.

    Raises Unknown where the captures of both ends do not show the same requests.
    """
    client, server = (_captured(evidence, end, kept) for end in ("client", "server"))
    asked = client.drop_nulls("send_start_ns")
    joined = asked.join(server, on=("connection", "place"), suffix="_server", how="left")
    whole = joined.drop_nulls(("headers_ns", "last_byte_ns"))
    at_server = whole.select("send_end_ns_server", "headers_ns_server", "last_byte_ns_server")
    if whole.is_empty() or at_server.null_count().sum_horizontal()[0]:
        raise Unknown(
            "objects over several connections are told apart only where the captures of both ends show all requests"
        )
    rows = whole.sort("send_start_ns").select(
        "connection", "stream_id", "url", "send_start_ns", "send_end_ns_server", "headers_ns_server",
        "last_byte_ns_server", "headers_ns", "last_byte_ns",
    )  # fmt: skip
    return [Load(*row) for row in rows.iter_rows()]


def _captured(evidence: Evidence, end: End, kept: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    """Rows of the captures of one end, with `place`: the stream, or of HTTP/1.1 the number of the request."""
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES), pl.col("vantage") == end)
    rows = kept(evidence.table("http_requests").filter(pl.col("source").is_in(captures["source"].to_list())))
    number = pl.col("send_start_ns").rank("ordinal").over("connection").cast(pl.Int64)
    return rows.select(
        "connection",
        pl.col("stream_id").cast(pl.Int64),
        pl.coalesce(pl.col("stream_id").cast(pl.Int64), number).alias("place"),
        "url",
        *_INSTANTS,
    )


def first_on(loads: Sequence[Load], connection: str) -> Load:
    """The object that was asked for first on a connection."""
    return next(load for load in loads if load.connection == connection)
