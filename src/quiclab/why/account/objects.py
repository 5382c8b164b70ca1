# SPDX-License-Identifier: Apache-2.0
"""Evidence for *why*: which object a transfer waits for last, and when each of several was asked for and sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown, quic
from quiclab.evidence.metrics.evidence import CAPTURES, End
from quiclab.evidence.metrics.responses import those_asked_for
from quiclab.model.cause import Why
from quiclab.why.account.edges import Reason

_INSTANTS = ("send_start_ns", "send_end_ns", "headers_ns", "last_byte_ns")
_LATER = Reason(Why.LATER_REQUEST, "http_requests")


@dataclass(frozen=True)
class Asked:
    """One object of several on its way through the transfer."""

    stream: int
    left_ns: int
    """Instant at which the client sent the beginning of its request."""
    came_ns: int
    """Instant from which the sender of the body could send it: the request is there; of an upload, `left_ns`."""
    begun_ns: int
    """Instant at which the sender sent the header of its message."""
    sent_ns: int
    """Instant at which it had sent the last byte for the first time."""
    done_ns: int
    """Instant at which the response had come to the client."""


@dataclass(frozen=True)
class Objects:
    """The objects of one transfer, in the order in which they could be sent; none where there is only one."""

    own: int | None
    """Stream of the object that is there last; None where there is only one."""
    asked: tuple[Asked, ...]
    at_once: int
    """Number of objects that the client asks for at once."""
    streams: Sequence[tuple[int, int]]
    """QUIC: (instant, number of streams that the client may open from then on), as the client came to know it."""
    open_streams: int | None
    """HTTP/2: how many streams the server allows to be open; None where it does not say."""

    def reason(self, idle_from_ns: int, sent_ns: int) -> Reason | None:
        """Reason why nothing was left to send when the bottleneck fell idle, if what ended that was another object's
        turn.

        None where an object that could be sent was not yet sent whole, or where the packet is of none of the next.
        """
        if any(each.came_ns <= idle_from_ns < each.sent_ns for each in self.asked):
            return None
        later = [at for at, each in enumerate(self.asked) if each.came_ns > idle_from_ns]
        if not later or not self.asked[later[0]].came_ns <= sent_ns <= self.asked[later[0]].begun_ns:
            return None
        return self._kept_back(later[0]) or _LATER

    def _kept_back(self, place: int) -> Reason | None:
        """The limit on streams, where an object could not be asked for earlier because of that."""
        each = self.asked[place]
        before = [other for other in self.asked if other.left_ns < each.left_ns]
        if self.open_streams is not None:
            limited = self.open_streams < self.at_once and len(before) >= self.open_streams
            return Reason(Why.STREAM_LIMIT, "parameters") if limited else None
        raised_ns = next((at for at, streams in self.streams if streams > each.stream // 4), None)
        if raised_ns is None or not before or raised_ns <= min(other.left_ns for other in before):
            return None
        ended = sorted(other.done_ns for other in before if other.done_ns <= each.left_ns)
        freed_ns = ended[len(before) - self.at_once] if len(before) >= self.at_once <= len(ended) else 0
        return Reason(Why.STREAM_LIMIT, "flow_control", raised_ns) if raised_ns > freed_ns else None


def objects(evidence: Evidence) -> Objects:
    """The objects of a transfer. Raises Unknown where there are several and the captures do not tell them apart."""
    expected = evidence.trial.expected
    several = expected.objects or ()
    if len(several) < 2:
        return Objects(None, (), 1, (), None)
    if evidence.packets("client", "up")["src_port"].n_unique() > 1:
        raise Unknown("several objects over several connections are not accounted for yet")
    client = _rows(evidence, "client")
    server = _rows(evidence, "server", client["stream_id"].to_list())
    joined = client.join(server, on="stream_id", suffix="_server").drop_nulls()
    if joined.height < len(several):
        raise Unknown("several objects are told apart only where captures or logs of both ends show all requests")
    asked = [_asked(row, upload=evidence.upload) for row in joined.iter_rows(named=True)]
    asked.sort(key=lambda each: (each.came_ns, each.left_ns))
    arrived = {each.stream: each.done_ns for each in asked}
    if evidence.upload:
        arrived = dict(joined.select("stream_id", "send_end_ns_server").iter_rows())
    own = max(arrived, key=lambda stream: arrived[stream])
    at_once = expected.concurrency or len(several)
    streams = _streams(evidence) if evidence.quic else ()
    return Objects(own, tuple(asked), at_once, streams, None if evidence.quic else _open_streams(evidence))


def _asked(row: Mapping[str, int], *, upload: bool) -> Asked:
    """The object of a row with the client's instants, and the server's behind `_server`."""
    left_ns, done_ns = row["send_start_ns"], row["last_byte_ns"]
    if upload:
        return Asked(row["stream_id"], left_ns, left_ns, left_ns, row["send_end_ns"], done_ns)
    came_ns, begun_ns, sent_ns = (row[f"{name}_ns_server"] for name in ("send_end", "headers", "last_byte"))
    return Asked(row["stream_id"], left_ns, came_ns, begun_ns, sent_ns, done_ns)


def _rows(evidence: Evidence, end: End, asked: Sequence[int] = ()) -> pl.DataFrame:
    """One row for each object with its instants at one end: by its capture, and where that cannot be opened (a program
    may leave no secret of its early data) by its only log.

    Streams that the other end has `asked` for count where this one cannot tell what for: of early data a server that
    logs no requests shows the response alone, and the client's log which packet the request was in.
    """
    rows = evidence.table("http_requests").filter(pl.col("vantage") == end)
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES))["source"].to_list()
    in_capture = pl.col("source").is_in(captures)
    logged = rows.filter(~in_capture)
    told = [rows.filter(in_capture), *([logged] if logged["source"].n_unique() == 1 else [])]
    streams = {stream for each in told for stream in those_asked_for(evidence, each)["stream_id"].drop_nulls()}
    every = pl.concat(told)
    streams |= set(every.filter(pl.col("url").is_null())["stream_id"].to_list()) & set(asked)
    instants = [pl.col(name).drop_nulls().first() for name in _INSTANTS]
    found = every.filter(pl.col("stream_id").is_in(list(streams))).group_by("stream_id").agg(instants)
    if not asked or not evidence.quic or not found["send_end_ns"].null_count():
        return found
    came = [pl.coalesce(name, "came_ns").alias(name) for name in ("send_start_ns", "send_end_ns")]
    return found.join(requests_came(evidence), on="stream_id", how="left").with_columns(came).drop("came_ns")


def requests_came(evidence: Evidence) -> pl.DataFrame:
    """Stream → instant at which all of its request had come to the server's end, `came_ns`, by the packets in which the
    client sent it; early data that the server refused did not come."""
    arrived = quic.arrivals(evidence, "server")
    refused = evidence.trial.proof.early_data == "rejected"
    pieces: dict[tuple[int, int], int] = {}
    for frame in quic.stream_frames(evidence, "client", "sent"):
        if refused and frame.packet[1] == "0RTT":
            continue
        if (at_ns := arrived.get(frame.packet)) is not None:
            piece = frame.stream_id, frame.start
            pieces[piece] = min(at_ns, pieces.get(piece, at_ns))
    came: dict[int, int] = {}
    for (stream, _), at_ns in pieces.items():
        came[stream] = max(at_ns, came.get(stream, at_ns))
    columns = {"stream_id": list(came), "came_ns": list(came.values())}
    return pl.DataFrame(columns, schema={"stream_id": pl.UInt64, "came_ns": pl.Int64})


def _streams(evidence: Evidence) -> list[tuple[int, int]]:
    rows = evidence.table("flow_control").filter(
        pl.col("vantage") == "client",
        pl.col("event") == "limit",
        pl.col("scope") == "streams_bidi",
        pl.col("direction") == "up",
    )
    return list(rows.drop_nulls(("time_ns", "limit")).sort("time_ns").select("time_ns", "limit").iter_rows())


def _open_streams(evidence: Evidence) -> int | None:
    """The server's SETTINGS_MAX_CONCURRENT_STREAMS (RFC 9113 section 6.5.2)."""
    return setting(evidence, "settings.server.max_concurrent_streams")


def setting(evidence: Evidence, name: str) -> int | None:
    """A number that was announced, by any log of the trial; None where none shows it."""
    told = evidence.table("parameters").filter(pl.col("name") == name)["value"].to_list()
    numbers = [json.loads(value) for value in told if value and value.isdigit()]
    return int(numbers[0]) if numbers else None
