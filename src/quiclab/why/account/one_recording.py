# SPDX-License-Identifier: Apache-2.0
"""The account that a recording of one end carries by itself, whatever it is: capture or log, of client or server.

One transfer as a client's capture or log shows it: the levels E1, E2 and E3; `from_between` has those from
elsewhere.
"""

from __future__ import annotations

import polars as pl

from quiclab.evidence.metrics import Unknown
from quiclab.evidence.metrics.arrived_pieces import first_bytes
from quiclab.evidence.metrics.intervals import IntervalSet
from quiclab.evidence.metrics.quic import is_request_stream
from quiclab.logs.decoders import Found, decode_files, finished
from quiclab.logs.decoders.sinks import InMemory
from quiclab.model.tables import TABLES, Row
from quiclab.why.account.answer_by_size import asked, guessed, is_captured, round_trip_ns
from quiclab.why.account.arrivals import Arrivals
from quiclab.why.account.capture_place import capture_place
from quiclab.why.account.chosen_request import ALONE, Request, answer_bytes
from quiclab.why.account.from_between import seen_from_between
from quiclab.why.account.from_server import seen_by_server
from quiclab.why.account.levels import Level
from quiclab.why.account.one_end import Instant, OneEnd, Seen, account_of_one_end
from quiclab.why.account.recorded import Recorded, Tables, Transport, recorded, resolution_ns

_COVERS_ONE = "an account is of one request on a connection of its own"


def seen_by_client(tables: Tables, transport: Transport, request: Request | None = None) -> Seen:
    """Transfer as the client's end shows it, of one request where the recording holds several. Raises Unknown where
    that is not one transfer from its beginning to its end."""
    of = recorded(tables, transport, request.connection if request else None)
    place = capture_place(of) if is_captured(of) else None
    if place is not None:
        if request is not None:
            raise Unknown(f"it was taken between the ends, and holds several requests: from there {_COVERS_ONE}")
        return seen_from_between(of, place)
    sent = Instant.exactly(request.sent_ns) if request else asked(of)
    if of.opened:
        answer_ns, last, early_ns, told = _answer_span(of, request, sent)
    else:
        answer_ns, last, early_ns = guessed(of, sent)
        told = {}
    client = _client(of, told) if of.opened and (request is None or request.waited_for_handshake) else None
    came = of.down.filter(pl.col("time_ns").is_between(answer_ns, last.at_ns))
    if came.is_empty():
        raise Unknown("no packet of its answer is found")
    at = came["time_ns"].cast(pl.Int64).to_numpy()
    size = came["size_bytes"].cast(pl.Int64).to_numpy()
    return Seen(
        _level(of),
        transport,
        request.begins_ns if request else int(of.packets["time_ns"][0]),
        0,
        asked(of) if request and client else sent,
        last,
        Arrivals(at, size),
        early_ns,
        int(of.down.filter(pl.col("time_ns").is_between(sent.at_ns, answer_ns, closed="left"))["size_bytes"].sum()),
        round_trip_ns(of),
        of.resolution_ns,
        _missing(of, sent.at_ns if request else None, last.at_ns, request),
        told.get("response_body_bytes"),
        told.get("url"),
        told.get("status"),
        request,
        answer_bytes(of.tables, request, answer_ns, last.at_ns) if request else ALONE,
        client,
        opened=of.opened,
    )


def _level(of: Recorded) -> Level:
    if not is_captured(of):
        return Level.E3
    return Level.E1 if of.opened else Level.E2


def _client(of: Recorded, told: Row) -> tuple[Instant, int] | None:
    """End of the handshake at the client and the departure of the request that the recording tells of; None where it
    does not show them.

    The client can ask from the first packet on that can carry a request; if the handshake's last messages show, from
    these on.
    """
    can_ns = of.up.filter("app")["time_ns"].min()
    sent_ns = told.get("send_start_ns")
    if sent_ns is None and of.transport == "quic":
        streams = of.table("streams")
        sent_ns = streams.filter([is_request_stream(each) for each in streams["stream_id"]])["up_first_ns"].min()
    if not isinstance(can_ns, int) or not isinstance(sent_ns, int):
        return None
    finished = of.table("handshake").filter(pl.col("step") == "finished")
    ends = finished.group_by("direction").agg(pl.col("time_ns").min())["time_ns"].to_list()
    ready_ns = min(can_ns, max(ends)) if len(ends) > 1 else can_ns
    return Instant.exactly(min(ready_ns, sent_ns)), sent_ns


def _answer_span(of: Recorded, request: Request | None, sent: Instant) -> tuple[int, Instant, int, Row]:
    """The answer's first packet, its last byte, and what the recording says of it."""
    requests = of.table("http_requests")
    told: Row = request.row if request else {}
    if requests.height > 1 and not request:
        raise Unknown(f"it holds {requests.height} requests: {_COVERS_ONE}")
    if requests.height and not request:
        told = requests.row(0, named=True)
    if of.transport == "tcp":
        first, last = _headers_begun(of, told, sent), told.get("last_byte_ns")
    else:
        streams = of.table("streams")
        streams = streams.filter([_is_asked(each, request) for each in streams["stream_id"]])
        streams = streams.filter(pl.col("down_first_ns").is_not_null())
        if streams.height > 1:
            raise Unknown(f"it holds {streams.height} requests: {_COVERS_ONE}")
        row = streams.row(0, named=True) if streams.height else {}
        first = row.get("down_first_ns")
        last = _with_fin(of, row) if row.get("down_end") == "fin" else None
    if not isinstance(first, int):
        raise Unknown("it holds no answer to the request: record until the connection closes")
    if not isinstance(last, int):
        raise Unknown("it ends before the answer does: record until the connection closes")
    return first, Instant.exactly(last), first, told


def _is_asked(stream_id: int, request: Request | None) -> bool:
    return is_request_stream(stream_id) if request is None else stream_id == request.stream_id


def _headers_begun(of: Recorded, told: Row, sent: Instant) -> int | None:
    """Arrival of the first byte of the answer's headers; where frames do not tell it, of the first segment that begins
    with a TLS record, of those until the headers could be read."""
    whole_ns = told.get("headers_ns")
    if whole_ns is None:
        return None
    numbers = pl.col("number").cast(pl.Int64)
    first = _first_byte(of, told.get("stream_id"))
    if first is not None:
        holds = (numbers <= first) & (first < numbers + pl.col("payload_bytes").cast(pl.Int64))
        came_ns = of.down.filter(holds)["time_ns"].min()
        return came_ns if isinstance(came_ns, int) else whole_ns
    down = of.down.filter(pl.col("app"), pl.col("time_ns") > sent.at_ns, pl.col("time_ns") <= whole_ns)
    begun_ns = down["time_ns"].max()
    return begun_ns if isinstance(begun_ns, int) else whole_ns


def _first_byte(of: Recorded, stream_id: int | None) -> int | None:
    """Number of the first byte of the server's frames of a stream of HTTP/2 in the TCP stream."""
    records, frames = of.table("tls_records"), of.table("http_frames")
    if records.is_empty() or frames.is_empty() or stream_id is None:
        return None
    frames = frames.filter(pl.col("direction") == "down", pl.col("http_version") == "HTTP/2")
    try:
        return first_bytes(records.filter(pl.col("direction") == "down"), frames).get(stream_id)
    except Unknown:
        return None


def _with_fin(of: Recorded, stream: Row) -> int | None:
    """Arrival of all bytes of a QUIC stream and of its end, which may come in a frame of its own."""
    frames = of.table("frames").filter(
        pl.col("direction") == "down", pl.col("frame_type") == "stream", pl.col("stream_id") == stream["stream_id"]
    )
    fin_ns, last_ns = frames.filter(pl.col("fin").fill_null(value=False))["time_ns"].min(), stream["down_last_ns"]
    return max(fin_ns, last_ns) if isinstance(fin_ns, int) and isinstance(last_ns, int) else last_ns


def _missing(
    of: Recorded, from_ns: int | None, until_ns: int, request: Request | None
) -> tuple[tuple[int, int], ...] | None:
    """Times in which the answer had a gap before bytes that had come, from an instant on where one is given."""
    if of.transport == "tcp":
        rows = of.down.filter(pl.col("payload_bytes") > 0).drop_nulls("number")
        pieces = rows.select("time_ns", "number", (pl.col("number") + pl.col("payload_bytes")).alias("end"))
    elif of.opened:
        frames = of.table("frames").filter(pl.col("direction") == "down", pl.col("frame_type") == "stream")
        frames = frames.filter([_is_asked(each, request) for each in frames["stream_id"].fill_null(1)])
        start = pl.col("offset").fill_null(0)
        pieces = frames.select("time_ns", start, (start + pl.col("length_bytes").fill_null(0)).alias("end"))
    else:
        return None
    gaps = _gaps(pieces.filter(pl.col("time_ns") <= until_ns))
    return tuple((max(begin, from_ns or begin), end) for begin, end in gaps if end > (from_ns or begin))


def _gaps(pieces: pl.DataFrame) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    have, since, highest = IntervalSet(), None, 0
    origin = int(pieces[:, 1].min() or 0) if pieces.height else 0  # type: ignore[arg-type]
    for time_ns, start, end in pieces.iter_rows():
        have.add(start, end)
        highest = max(highest, end)
        whole = have.reach(origin) >= highest
        if since is None and not whole:
            since = time_ns
        elif since is not None and whole:
            found.append((since, time_ns))
            since = None
    return found


_LOGS_OF_QUIC = ("qlog",)


def account_of_tables(tables: dict[str, pl.DataFrame], transport: Transport, request: Request | None = None) -> OneEnd:
    """The account of the only transfer in one recording, or of the `request` that was chosen of several. Raises Unknown
    where it cannot carry one."""
    sources = tables["sources"]
    logs = sources.filter(pl.col("format").is_in(_LOGS_OF_QUIC), pl.col("vantage") == "server")
    if logs.height and logs.height == sources.height:
        if request is not None:
            raise Unknown(f"it is a server's log of several requests: {_COVERS_ONE}")
        return account_of_one_end(seen_by_server(tables))
    if transport == "tcp" and sources["format"].to_list() == ["netlog"]:
        return account_of_one_end(seen_by_browser(tables, request))
    return account_of_one_end(seen_by_client(tables, transport, request))


def tables_of(found: Found) -> dict[str, pl.DataFrame]:
    """All tables of some logs. Raises what `decode_files` raises."""
    sink = InMemory()
    account = decode_files(found, sink)
    tables = {name: finished(name, sink, account).collect() for name, table in TABLES.items() if table.from_logs}
    return {**tables, **account.tables()}


# One transfer over TCP as a Chrome NetLog shows it: no packets, but the connection, the request and DATA frames.
_OF_CONNECTION = ("connect_start_ns", "connect_end_ns")
_OWN = ("send_start_ns", "headers_ns", "last_byte_ns")


def seen_by_browser(tables: Tables, request: Request | None = None) -> Seen:
    """The only request over TCP, or the one that was chosen. Raises Unknown for none or several, or where its
    connection is not shown."""
    rows = tables["http_requests"].filter(pl.col("transport") == "tcp", pl.col("status").is_not_null())
    if request is None and rows.height != 1:
        raise Unknown(f"it holds {rows.height or 'no'} answered requests over TCP, and an account is of one")
    told = request.row if request else rows.row(0, named=True)
    opened = rows.filter(connection=told["connection"]).drop_nulls("connect_start_ns")
    opening = opened.row(0, named=True) if opened.height else told
    lacking = [each for each in _OF_CONNECTION if opening[each] is None] + [each for each in _OWN if told[each] is None]
    if lacking:
        name = lacking[0].removesuffix("_ns").replace("_", " ")
        raise Unknown(f"it does not show the request's {name}: log from before the browser connects to the end")
    waited = request is None or request.waited_for_handshake
    begins_ns, asked_ns = (
        (opening["connect_start_ns"], opening["connect_end_ns"]) if waited else (told["send_start_ns"],) * 2
    )
    data = tables["http_frames"].filter(
        pl.col("connection") == told["connection"], pl.col("frame_type") == "data", pl.col("direction") == "down"
    )
    data = data.filter(pl.col("length_bytes") > 0)
    came = pl.coalesce("last_byte_ns", "time_ns").alias("came_ns")
    data = data.select(came, pl.col("length_bytes").cast(pl.Int64)).sort("came_ns", maintain_order=True)
    if request is not None:
        data = data.filter(pl.col("came_ns").is_between(told["headers_ns"], told["last_byte_ns"]))
    at, size = data
    if not len(at):
        raise Unknown("it shows no data of the answer")
    round_trip_ns = max(1, (opening["secure_start_ns"] or opening["connect_end_ns"]) - opening["connect_start_ns"])
    # Headers show when the TLS record that holds them is whole, which may be longer than the server's initial window.
    early_ns = min(told["headers_ns"], max(told["send_start_ns"], asked_ns) + round_trip_ns)
    return Seen(
        Level.E3,
        "tcp",
        begins_ns,
        0,
        Instant.exactly(asked_ns),
        Instant.exactly(told["last_byte_ns"]),
        Arrivals(at.to_numpy(), size.to_numpy()),
        early_ns,
        0,
        round_trip_ns,
        resolution_ns(tables),
        None,
        told["response_body_bytes"],
        told["url"],
        told["status"],
        request,
        answer_bytes(tables, request, told["headers_ns"], told["last_byte_ns"]) if request else ALONE,
        (Instant.exactly(asked_ns), max(asked_ns, told["send_start_ns"])) if waited else None,
        rate_is_shown=False,  # frames of HTTP are there when a program has read them
    )
