# SPDX-License-Identifier: Apache-2.0
"""Evidence for *why*: which limit of flow control the highest offset equals that a sender had sent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.evidence.metrics.evidence import CAPTURES
from quiclab.model.cause import Why
from quiclab.why.account.contents import Content
from quiclab.why.account.objects import setting
from quiclab.why.account.series import Steps


@dataclass(frozen=True)
class Credit:
    """Credit that the sender was given, and what it had used."""

    streams: Mapping[int, Steps[int]]
    """Stream → limit; only of streams in `used`."""
    connection: Steps[int]
    used: Mapping[int, Steps[int]]
    """Stream → highest offset sent."""
    used_in_all: Steps[int]

    def used_up(self, time_ns: int, stream: int | None) -> Why | None:
        """The limit that had been reached just before an instant: of a stream, else of the connection; None for
        neither, or where none is known. Without a stream, that of the only one."""
        only = next(iter(self.used)) if stream is None and len(self.used) == 1 else stream
        if only is not None and only in self.streams:
            sent = self.used[only].before(time_ns)
            if sent and sent == self.streams[only].before(time_ns):
                return Why.STREAM_CREDIT
        in_all = self.used_in_all.before(time_ns)
        return Why.CONNECTION_CREDIT if in_all and in_all == self.connection.before(time_ns) else None


def credit(evidence: Evidence, sent: Iterable[tuple[int, Content]]) -> Credit:
    """Limits at the sender's end. QUIC's use is told by its packets, in order of sending; HTTP/2's by DATA frames."""
    rows = limits(evidence)
    used, in_all = _by_packets(sent) if evidence.quic else _by_frames(_data_frames(evidence))
    connection = _highest(rows.filter(pl.col("scope") == "connection"))
    return Credit(_streams(evidence, rows.filter(pl.col("scope") == "stream"), used), connection, used, in_all)


def limits(evidence: Evidence) -> pl.DataFrame:
    """Rows of flow_control with a limit that the receiver gave, as they came to the sender; by its capture, if any."""
    rows = evidence.table("flow_control").filter(
        pl.col("vantage") == evidence.sender, pl.col("event") == "limit", pl.col("direction") == evidence.way
    )
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES))["source"].to_list()
    captured = rows.filter(pl.col("source").is_in(captures))
    return captured if captured.height else rows


def announced_for_streams(evidence: Evidence) -> int | None:
    """The credit that the receiver announced for each stream, in bytes; None where no log shows it."""
    return setting(evidence, _announced(evidence))


def _streams(evidence: Evidence, rows: pl.DataFrame, used: Iterable[int]) -> dict[int, Steps[int]]:
    """The limits of each stream, which begin with the one that the receiver announced for all."""
    announced = announced_for_streams(evidence)
    found: dict[int, Steps[int]] = {}
    for stream in used:
        told = rows.filter(pl.col("stream_id").is_null() | (pl.col("stream_id") == stream))
        given = _highest(told)
        if announced is not None:
            given = Steps([0, *given.at_ns], [announced, *given.values])
        if given.at_ns:
            found[stream] = given
    return found


def _announced(evidence: Evidence) -> str:
    """The parameter with which the receiver gives each stream its first credit."""
    if not evidence.quic:
        return f"settings.{evidence.receiver}.initial_window_size"
    # The client opens all streams with requests: its own are local to it, and remote to the server.
    return f"parameters_set.{evidence.receiver}.initial_max_stream_data_bidi_" + (
        "remote" if evidence.upload else "local"
    )


def _highest(rows: pl.DataFrame) -> Steps[int]:
    told = rows.drop_nulls("limit").sort("time_ns", maintain_order=True)
    return Steps(told["time_ns"].to_list(), list(accumulate(told["limit"].to_list(), max)))


def _by_packets(sent: Iterable[tuple[int, Content]]) -> tuple[dict[int, Steps[int]], Steps[int]]:
    told = [(at, content) for at, content in sent if content.reached]
    streams: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for at, content in told:
        if content.stream is not None and content.reached:
            streams[content.stream].append((at, content.reached.stream))
    in_all = [(at, content.reached.connection) for at, content in told if content.reached]
    return {stream: _steps(each) for stream, each in streams.items()}, _steps(in_all)


def _by_frames(frames: Iterator[tuple[int, int, int]]) -> tuple[dict[int, Steps[int]], Steps[int]]:
    streams: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    in_all: list[tuple[int, int]] = []
    for at, stream, length in frames:
        streams[stream].append((at, length + (streams[stream][-1][1] if streams[stream] else 0)))
        in_all.append((at, length + (in_all[-1][1] if in_all else 0)))
    return {stream: _steps(each) for stream, each in streams.items()}, _steps(in_all)


def _steps(told: list[tuple[int, int]]) -> Steps[int]:
    return Steps([at for at, _ in told], [value for _, value in told])


def _data_frames(evidence: Evidence) -> Iterator[tuple[int, int, int]]:
    """(last byte sent, stream, length) of the DATA frames, in that order."""
    sent = evidence.table("http_frames").filter(
        pl.col("vantage") == evidence.sender,
        pl.col("direction") == evidence.way,
        pl.col("event") == "sent",
        pl.col("frame_type") == "data",
    )
    ends = pl.col("last_byte_ns").fill_null(pl.col("time_ns"))
    sent = sent.with_columns(ends.alias("end_ns")).sort("end_ns", maintain_order=True)
    for end_ns, stream, length in sent.select("end_ns", "stream_id", "length_bytes").iter_rows():
        yield end_ns, stream or 0, length or 0
