# SPDX-License-Identifier: Apache-2.0
"""One request of a recording of several, as a browser's or a proxy's does: the slowest, or the one asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import polars as pl

from quiclab.evidence.metrics import Unknown
from quiclab.evidence.metrics.quic import is_request_stream
from quiclab.model.tables import Row
from quiclab.why.account.edges import PROMPT_NS
from quiclab.why.account.recorded import Tables, Transport

_ENDED = ("connection", "send_start_ns", "last_byte_ns")
"""Columns of a request that a recording has to its end."""
_RECORD_ON = "record until the connection closes"
_LISTED = 6
"""Most requests whose addresses an error lists."""


@dataclass(frozen=True)
class Wanted:
    """The request that somebody asks for; the slowest where nothing is said."""

    url: str | None = None
    """Address, or only the path of it."""
    stream_id: int | None = None

    @property
    def name(self) -> str:
        """The request as it was asked for."""
        return " and ".join(
            ([self.url] if self.url else []) + ([] if self.stream_id is None else [f"stream {self.stream_id}"])
        )


@dataclass(frozen=True)
class Request:
    """One of several requests of a recording."""

    transport: Transport
    connection: str
    stream_id: int | None
    url: str | None
    """Address; None where the recording shows none, as a qlog without HTTP."""
    sent_ns: int
    """Instant at which its first packet left the client."""
    begins_ns: int
    """Beginning of its time: that of its connection where it waited for the handshake, else `sent_ns`."""
    others: int
    """Number of other answered requests."""
    unended: int
    """Number of requests whose answer the recording has not to its end."""
    is_slowest: bool
    """True if none of them took longer."""
    row: Row
    """Row of `http_requests`."""

    @property
    def waited_for_handshake(self) -> bool:
        """True if the handshake of its connection is in its time."""
        return self.begins_ns < self.sent_ns

    @property
    def took_ns(self) -> int:
        """Time from its beginning to the answer's last byte."""
        return int(self.row["last_byte_ns"]) - self.begins_ns


def chosen_request(tables: Tables, wanted: Wanted, transport: Transport | None = None) -> Request | None:
    """The request that is wanted, over a transport if one is given; None where nothing is asked for and there is but
    one. Raises Unknown where no request that ends is the one, or none shows."""
    shown = _requests_of(tables)
    if transport is not None:
        shown = shown.filter(transport=transport)
    rows = shown.drop_nulls(_ENDED)
    unended = _unended(shown)
    asked = wanted != Wanted()
    if rows.height + unended.height < 2 and not asked:
        return None
    if rows.is_empty() and unended.is_empty() and asked:
        raise Unknown(_none_to_choose(tables))
    if rows.is_empty() and unended.height > 1 and not asked:
        raise Unknown(f"it ends before the answer to any of its {unended.height} requests does: {_RECORD_ON}")
    requests = [replace(_request(tables, row, rows), unended=unended.height) for row in rows.iter_rows(named=True)]
    found = [each for each in requests if _is_wanted(each, wanted)]
    if not found and any(_is_meant(row["url"], row["stream_id"], wanted) for row in unended.iter_rows(named=True)):
        raise Unknown(f"it ends before the answer to {wanted.name} does: {_RECORD_ON}")
    if not found:
        there = list(dict.fromkeys(_name(each) for each in requests))
        more = f", and {len(there) - _LISTED} more" if len(there) > _LISTED else ""
        raise Unknown(f"no answered request in it is for {wanted.name}: it has {', '.join(there[:_LISTED])}{more}")
    slowest_ns = max(each.took_ns for each in requests)
    chosen = max(found, key=lambda each: each.took_ns)
    return replace(chosen, is_slowest=chosen.took_ns == slowest_ns)


def _none_to_choose(tables: Tables) -> str:
    """Say why no request can be chosen, and what to do: only a capture has keys."""
    if set(tables["sources"]["vantage"]) == {"server"}:
        return "it is a server's recording, of which only a single request is explained: give that of the client's end"
    keys = ": give the keys, or choose none" if tables["ip_packets"].height else ": choose none"
    return f"it shows no answered request, so none can be chosen{keys}"


def _unended(shown: pl.DataFrame) -> pl.DataFrame:
    """Requests whose answer a recording has not to its end, of those that it shows; without those that were given up,
    or answered from a cache."""
    lacking = pl.col("last_byte_ns").is_null() & pl.col("send_start_ns").is_not_null() & pl.col("error").is_null()
    return shown.filter(lacking, ~pl.col("from_cache").fill_null(value=False))


def _requests_of(tables: Tables) -> pl.DataFrame:
    """Requests as `http_requests` has them; without it, as in many a qlog, those that streams of QUIC show, which have
    no address. What a server logged is told by its own account."""
    rows = tables["http_requests"].filter(pl.col("vantage").is_null() | (pl.col("vantage") != "server"))
    if rows.drop_nulls(_ENDED).height or _unended(rows).height:
        return rows
    seen_by_client = pl.col("vantage").is_null() | (pl.col("vantage") == "client")  # some logs say no end
    streams = tables["streams"].filter(seen_by_client, pl.col("transport") == "quic")
    streams = streams.filter([is_request_stream(each) for each in streams["stream_id"]])
    ended, given_up = pl.col("down_end") == "fin", pl.any_horizontal(pl.col("down_end", "up_end") != "fin")
    streams = streams.select(
        "connection",
        "stream_id",
        transport=pl.lit("quic"),
        send_start_ns="up_first_ns",
        last_byte_ns=pl.when(ended).then("down_last_ns"),
        error=pl.when(given_up.fill_null(value=False)).then(pl.lit("given up")),
    )
    return pl.concat([rows, streams], how="diagonal_relaxed")


def _is_wanted(request: Request, wanted: Wanted) -> bool:
    return _is_meant(request.url, request.stream_id, wanted)


def _is_meant(url: str | None, stream_id: int | None, wanted: Wanted) -> bool:
    stream = wanted.stream_id in (None, stream_id)
    return stream and (wanted.url is None or (url is not None and wanted.url in (url, path_of(url))))


def _name(request: Request) -> str:
    stream = "" if request.stream_id is None else f"stream {request.stream_id}"
    return stream if request.url is None else " ".join(filter(None, (request.url, stream and f"({stream})")))


def path_of(url: str) -> str:
    """Path and query of an address."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _request(tables: Tables, row: Row, rows: pl.DataFrame) -> Request:
    """One of the answered requests in `rows`. One that left with the first of its connection, before anything could
    have come back, waited for its handshake."""
    of_connection = rows.filter(connection=row["connection"])
    sent_ns, first_ns = int(row["send_start_ns"]), int(of_connection["send_start_ns"].min())  # type: ignore[arg-type]
    begins_ns = sent_ns
    opened_ns = _opened_ns(tables, row)
    if opened_ns is not None and sent_ns - first_ns <= max(PROMPT_NS, (first_ns - opened_ns) // 4):
        begins_ns = opened_ns
    return Request(
        row["transport"],
        row["connection"],
        row["stream_id"],
        row["url"],
        sent_ns,
        begins_ns,
        rows.height - 1,
        unended=0,
        is_slowest=False,
        row=row,
    )


def _opened_ns(tables: Tables, row: Row) -> int | None:
    """The client's first packet of a connection; None where the recording shows none before its requests."""
    packets = tables["packets"].filter(connection=row["connection"], direction="up")
    first = packets["time_ns"].min() if packets.height else row["connect_start_ns"]
    return first if isinstance(first, int) and first <= row["send_start_ns"] else None


@dataclass(frozen=True)
class AnswerBytes:
    """Bytes of an answer and of others that came on its connection meanwhile, as far as they could be read."""

    own: int
    others_before: int
    """Bytes of others from its request to its first byte."""
    others_during: int
    """Bytes of others from its first byte to its last."""

    @property
    def own_share(self) -> float:
        """Share of the answer in all that came from its first byte to its last."""
        return self.own / max(1, self.own + self.others_during)


ALONE = AnswerBytes(1, 0, 0)
"""The bytes of an answer that nothing came beside."""


def answer_bytes(tables: Tables, request: Request, begin_ns: int, end_ns: int) -> AnswerBytes:
    """Count the bytes of the answers on a request's connection; its own came from `begin_ns` to `end_ns`."""
    down = (pl.col("connection") == request.connection) & (pl.col("direction") == "down")
    if request.transport == "quic":
        rows = tables["frames"].filter(down, pl.col("frame_type") == "stream")
        rows = rows.filter([is_request_stream(each) for each in rows["stream_id"].fill_null(1)])
        rows = rows.with_columns(last_byte_ns=pl.col("time_ns"))
    else:
        rows = tables["http_frames"].filter(down, pl.col("frame_type") == "data")
    rows = rows.select(
        pl.col("stream_id").eq_missing(request.stream_id).alias("own"),
        _bytes_within(request.sent_ns, begin_ns).alias("before"),
        _bytes_within(begin_ns, end_ns).alias("during"),
    )
    others = rows.filter(~pl.col("own"))
    return AnswerBytes(
        round(rows.filter("own")["during"].sum()), round(others["before"].sum()), round(others["during"].sum())
    )


def _bytes_within(from_ns: int, until_ns: int) -> pl.Expr:
    """Bytes of a frame in the stretch, as if they came evenly from its first byte to its last."""
    begin, end = pl.col("time_ns"), pl.coalesce("last_byte_ns", "time_ns")
    inside = pl.min_horizontal(end, until_ns) - pl.max_horizontal(begin, from_ns)
    whole = (end >= from_ns) & (end <= until_ns)
    share = pl.when(end > begin).then(inside.clip(0) / (end - begin)).otherwise(whole.cast(pl.Float64))
    return pl.col("length_bytes").fill_null(0) * share
