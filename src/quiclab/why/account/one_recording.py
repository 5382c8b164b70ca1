# SPDX-License-Identifier: Apache-2.0
"""The account that a recording of one end carries by itself, whatever it is: capture or log, of client or server."""

from __future__ import annotations

import polars as pl

from quiclab.evidence.metrics import Unknown
from quiclab.logs.decoders import Found, decode_files, finished
from quiclab.logs.decoders.sinks import InMemory
from quiclab.model.tables import TABLES
from quiclab.why.account.arrivals import Arrivals
from quiclab.why.account.from_client import seen_by_client
from quiclab.why.account.from_server import seen_by_server
from quiclab.why.account.levels import Level
from quiclab.why.account.one_end import Instant, OneEnd, Seen, account_of_one_end
from quiclab.why.account.recorded import Tables, Transport

_LOGS_OF_QUIC = ("qlog",)


def account_of_tables(tables: dict[str, pl.DataFrame], transport: Transport) -> OneEnd:
    """The account of the only transfer in one recording. Raises Unknown where it cannot carry one."""
    sources = tables["sources"]
    logs = sources.filter(pl.col("format").is_in(_LOGS_OF_QUIC), pl.col("vantage") == "server")
    if logs.height and logs.height == sources.height:
        return account_of_one_end(seen_by_server(tables))
    if transport == "tcp" and sources["format"].to_list() == ["netlog"]:
        return account_of_one_end(seen_by_browser(tables))
    return account_of_one_end(seen_by_client(tables, transport))


def tables_of(found: Found) -> dict[str, pl.DataFrame]:
    """All tables of some logs. Raises what `decode_files` raises."""
    sink = InMemory()
    account = decode_files(found, sink)
    tables = {name: finished(name, sink, account).collect() for name, table in TABLES.items() if table.from_logs}
    return {**tables, **account.tables()}


# One transfer over TCP as a Chrome NetLog shows it: no packets, but the connection, the request and DATA frames.
_NEEDED = ("connect_start_ns", "connect_end_ns", "send_start_ns", "headers_ns", "last_byte_ns")


def seen_by_browser(tables: Tables) -> Seen:
    """The only request over TCP. Raises Unknown for none or several, or where its connection is not shown."""
    rows = tables["http_requests"].filter(pl.col("transport") == "tcp", pl.col("status").is_not_null())
    if rows.height != 1:
        raise Unknown(f"it holds {rows.height or 'no'} answered requests over TCP, and an account is of one")
    told = rows.row(0, named=True)
    lacking = [name.removesuffix("_ns").replace("_", " ") for name in _NEEDED if told[name] is None]
    if lacking:
        raise Unknown(f"it does not show the request's {lacking[0]}: log from before the browser connects to the end")
    data = tables["http_frames"].filter(
        pl.col("connection") == told["connection"], pl.col("frame_type") == "data", pl.col("direction") == "down"
    )
    data = data.filter(pl.col("length_bytes") > 0)
    came = pl.coalesce("last_byte_ns", "time_ns").alias("came_ns")
    at, size = data.select(came, pl.col("length_bytes").cast(pl.Int64)).sort("came_ns", maintain_order=True)
    if not len(at):
        raise Unknown("it shows no data of the answer")
    round_trip_ns = max(1, (told["secure_start_ns"] or told["connect_end_ns"]) - told["connect_start_ns"])
    # Headers show when the TLS record that holds them is whole, which may be longer than the server's initial window.
    early_ns = min(told["headers_ns"], max(told["send_start_ns"], told["connect_end_ns"]) + round_trip_ns)
    return Seen(
        Level.E3,
        "tcp",
        told["connect_start_ns"],
        0,
        Instant.exactly(told["connect_end_ns"]),
        Instant.exactly(told["last_byte_ns"]),
        Arrivals(at.to_numpy(), size.to_numpy()),
        early_ns,
        0,
        round_trip_ns,
        int(tables["sources"]["resolution_ns"].max() or 1),  # type: ignore[arg-type]
        None,
        told["response_body_bytes"],
        told["url"],
        told["status"],
    )
