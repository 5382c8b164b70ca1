# SPDX-License-Identifier: Apache-2.0
"""Evidence for *why*: which limit of flow control the highest offset equals that a sender had sent."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import polars as pl

from quiclab.accounting.series import Steps
from quiclab.accounting.why import Why
from quiclab.metrics import Evidence
from quiclab.metrics.evidence import CAPTURES


@dataclass(frozen=True)
class Credit:
    """What the sender was allowed, and what it had used."""

    stream: Steps[int]
    connection: Steps[int]
    used: Steps[tuple[int, int]]
    """Pairs (of the response's stream, of all streams) of the highest offset sent."""

    def used_up(self, time_ns: int) -> Why | None:
        """The limit that had been reached just before an instant; None for neither, or where none is known."""
        used = self.used.before(time_ns)
        if used is None:
            return None
        if used[0] and used[0] == self.stream.before(time_ns):
            return Why.STREAM_CREDIT
        if used[1] and used[1] == self.connection.before(time_ns):
            return Why.CONNECTION_CREDIT
        return None


def credit(evidence: Evidence, used_by_packets: Steps[tuple[int, int]]) -> Credit:
    """Limits at the sender's end. QUIC's use is told by its packets; HTTP/2's by the DATA frames of its capture."""
    rows = evidence.table("flow_control").filter(
        pl.col("vantage") == evidence.sender, pl.col("event") == "limit", pl.col("direction") == evidence.way
    )
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES))["source"].to_list()
    captured = rows.filter(pl.col("source").is_in(captures))
    rows = captured if captured.height else rows
    stream = rows.filter(pl.col("scope") == "stream")
    if evidence.quic:
        first = stream.filter(pl.col("stream_id").is_null() | (pl.col("stream_id") % 4 == 0))
        return Credit(_highest(first), _highest(rows.filter(pl.col("scope") == "connection")), used_by_packets)
    connection = rows.filter(pl.col("scope") == "connection")
    return Credit(_highest(stream), _highest(connection), _data_frames(evidence))


def _highest(rows: pl.DataFrame) -> Steps[int]:
    told = rows.drop_nulls("limit").sort("time_ns", maintain_order=True)
    return Steps(told["time_ns"].to_list(), list(accumulate(told["limit"].to_list(), max)))


def _data_frames(evidence: Evidence) -> Steps[tuple[int, int]]:
    sent = evidence.table("http_frames").filter(
        pl.col("vantage") == evidence.sender,
        pl.col("direction") == evidence.way,
        pl.col("event") == "sent",
        pl.col("frame_type") == "data",
    )
    ends = pl.col("last_byte_ns").fill_null(pl.col("time_ns"))
    sent = sent.with_columns(ends.alias("end_ns")).sort("end_ns", maintain_order=True)
    sums = list(accumulate(each or 0 for each in sent["length_bytes"].to_list()))
    return Steps(sent["end_ns"].to_list(), [(each, each) for each in sums])
