# SPDX-License-Identifier: Apache-2.0
"""The one transfer that a recording from a single end holds, with reasons to refuse a recording that cannot carry one.

A capture or a log from elsewhere may begin in the middle, miss its end, hold several connections or have been taken at
another place. Each of these is said so in a sentence: an account of it would be wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import polars as pl

from quiclab.evidence.metrics import Unknown
from quiclab.evidence.metrics.intervals import IntervalSet
from quiclab.why.account.header_captures import CUT

Transport = Literal["tcp", "quic"]
Tables = Mapping[str, pl.DataFrame]

_EVENTS = ("sent", "received", "seen")
_UDP_HEADERS_BYTES = 28
_BACKWARD_NS = 100_000_000
"""Most by which the times of a capture may go back: a busy machine records packets of two queues out of order."""
_CUT_SHORT = ("truncated_block", "truncated_compression", "truncated_log", "truncated_record")
"""Findings about a file that lacks its end: captures, what they are packed in, and logs."""
_ENOUGH_PACKETS, _ENOUGH_INSTANTS = 50, 16
"""Packets and different times from which on a step that all share is no chance."""
_COARSEST_NS = 1_000_000_000
_SYN, _FIN, _RST = 2, 1, 4
_NAMES = {"tcp": "TCP", "quic": "QUIC"}


@dataclass(frozen=True, eq=False)
class Recorded:
    """One connection as one end recorded it."""

    tables: Tables
    transport: Transport
    connection: str
    packets: pl.DataFrame
    """One row a datagram or segment: time_ns, direction, size_bytes (of the IP packet), payload_bytes, number, again,
    app (whether it can carry a request or an answer), flags."""
    resolution_ns: int
    opened: bool
    """True if the contents of its packets are known."""

    def table(self, name: str) -> pl.DataFrame:
        """Rows of this connection; none where the recording has no such table."""
        if name not in self.tables:
            return pl.DataFrame()
        rows = self.tables[name]
        return rows.filter(pl.col("connection") == self.connection) if "connection" in rows.columns else rows

    @property
    def up(self) -> pl.DataFrame:
        """The client's packets."""
        return self.packets.filter(pl.col("direction") == "up")

    @property
    def down(self) -> pl.DataFrame:
        """The server's packets."""
        return self.packets.filter(pl.col("direction") == "down")


def is_cut_short(tables: Tables) -> bool:
    """True if the file of a recording lacks its end: it ends within a record, or its program did not close it."""
    return bool(tables["decode_stats"]["name"].is_in(_CUT_SHORT).any())


def transports(tables: Tables) -> list[Transport]:
    """Transports over which a server sends anything in a recording."""
    packets = tables["packets"].filter(pl.col("direction") == "down", pl.col("length_bytes") > 0)
    requests = tables["http_requests"].filter(pl.col("status").is_not_null())
    seen = {*packets["transport"], *requests["transport"]}
    return [each for each in get_args(Transport) if each in seen]


def recorded(tables: Tables, transport: Transport, connection: str | None = None) -> Recorded:
    """The only connection over a transport, or the one that is named. Raises Unknown for none or several, or what
    begins or ends elsewhere."""
    if tables["packets"]["vantage"].n_unique() > 1:  # a log of both ends: the client's is what the others are
        tables = {name: _client_rows(table) for name, table in tables.items()}
    rows = tables["packets"].filter(
        pl.col("transport") == transport, pl.col("event").is_in(_EVENTS), pl.col("direction").is_not_null()
    )
    if connection is not None:
        rows = rows.filter(connection=connection)
    name = _NAMES[transport]
    full = rows.group_by("connection", maintain_order=True).agg(
        pl.col("length_bytes").filter(pl.col("direction") == "down").sum()
    )
    full = full.filter(pl.col("length_bytes") > 0)
    if full.is_empty() and rows.filter(pl.col("direction") == "down").height:
        raise Unknown("it does not tell the sizes of packets, without which nothing shows the path's rate")
    if full.is_empty():
        raise Unknown(
            f"it holds no {name} connection in which a server sends data: was it given for the other protocol?"
        )
    if full.height > 1:
        raise Unknown(
            f"it holds {full.height} {name} connections ({', '.join(full['connection'].head(3))}"
            f"{', …' if full.height > 3 else ''}), and an account is of one: cut it to that one, "
            "or name a request by --url, which needs keys"
        )
    connection = str(full["connection"][0])
    rows = rows.filter(pl.col("connection") == connection)
    back_ns = -int(rows.select(pl.col("time_ns").diff().min()).item() or 0)
    rows = rows.sort("time_ns", maintain_order=True)
    captured = rows["ip_packet"].null_count() == 0
    packets = _captured(rows, tables) if captured else _logged(rows)
    found = Recorded(
        tables, transport, connection, packets, resolution_ns(tables), _opened(tables, transport, connection)
    )
    if back_ns > _BACKWARD_NS:
        raise Unknown(f"it contradicts itself: its times go back by {back_ns / 1e6:.1f} ms")
    _check_begin(found)
    if captured:
        _check_whole(found)
    return found


def _client_rows(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.col("vantage") == "client") if "vantage" in table.columns else table


def _captured(rows: pl.DataFrame, tables: Tables) -> pl.DataFrame:
    """Rows of a capture; QUIC packets in one datagram are one."""
    shown = tables["ip_packets"].select(
        "source",
        pl.col("number").alias("ip_packet"),
        "size_bytes",
        pl.col("tls_application_data").fill_null(value=False),
        pl.col("tcp_flags").fill_null(0).alias("flags"),
        "payload_bytes",
    )
    one_rtt = pl.col("packet_type").is_in(["0RTT", "1RTT"]).fill_null(value=False)
    return (
        rows.group_by("source", "ip_packet", maintain_order=True)
        .agg(
            pl.col("time_ns").first(),
            pl.col("direction").first(),
            pl.col("packet_number").first().alias("number"),
            pl.col("retransmission").first().fill_null(value=False).alias("again"),
            one_rtt.any().alias("app"),
            pl.col("packet_type").is_in(["initial"]).any().alias("first_flight"),
        )
        .join(shown, on=("source", "ip_packet"), how="left", maintain_order="left")
        .with_columns(app=pl.col("app") | pl.col("tls_application_data"))
    )


def _logged(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of a QUIC endpoint's log: packets logged at one instant in one direction may have shared a datagram."""
    return rows.select(
        "time_ns",
        "direction",
        pl.col("packet_number").alias("number"),
        pl.lit(value=False).alias("again"),
        pl.col("packet_type").is_in(["0RTT", "1RTT"]).fill_null(value=False).alias("app"),
        (pl.col("packet_type") == "initial").fill_null(value=False).alias("first_flight"),
        (pl.col("length_bytes").fill_null(0) + _UDP_HEADERS_BYTES).alias("size_bytes"),
        pl.lit(0).alias("flags"),
        pl.col("length_bytes").fill_null(0).alias("payload_bytes"),
    )


def resolution_ns(tables: Tables) -> int:
    """Step of a recording's times: that of its format, or a coarser one of a capture, in whose packets it shows.

    A capture that was converted from whole milliseconds has times of a format with microseconds.
    """
    declared = int(tables["sources"]["resolution_ns"].max() or 1)  # type: ignore[arg-type]
    if "ip_packets" not in tables:  # a log's decoder measures its own
        return declared
    steps = [_step_ns(times) for _, times in tables["ip_packets"].select("source", "time_ns").group_by("source")]
    return max([declared, *steps])


def _step_ns(packets: pl.DataFrame) -> int:
    """The largest power of ten that divides all times between the packets of one source; 1 of too few."""
    between = packets["time_ns"].drop_nulls().cast(pl.Int64).unique().sort().diff().drop_nulls().to_numpy()
    if packets.height < _ENOUGH_PACKETS or len(between) < _ENOUGH_INSTANTS:
        return 1
    common, step = int(np.gcd.reduce(between)), 1
    while step < _COARSEST_NS and common % (10 * step) == 0:
        step *= 10
    return step


def _opened(tables: Tables, transport: Transport, connection: str) -> bool:
    """True if the contents of the answer are known: by keys, by a log, or since nothing is encrypted."""
    cut = tables["decode_stats"].filter(pl.col("name").is_in(CUT)).height
    if cut:  # a capture of headers shows the contents of its first packets alone
        return False
    table = "http_requests" if transport == "tcp" else "frames"
    rows = tables[table].filter(pl.col("connection") == connection)
    if transport == "quic":
        rows = rows.filter(pl.col("packet_type") == "1RTT")
    return rows.height > 0


def _check_begin(of: Recorded) -> None:
    first = of.packets.row(0, named=True)
    begins = bool(first["flags"] & _SYN) if of.transport == "tcp" else first["first_flight"]
    if first["direction"] != "up" or not begins:
        raise Unknown(
            f"it begins in the middle of the connection: record from before the client's first packet "
            f"({'SYN' if of.transport == 'tcp' else 'Initial'}) on"
        )
    if of.down.is_empty():
        raise Unknown("it holds nothing from the server: record both directions")


def _check_whole(of: Recorded) -> None:
    """Checks that the capture has all that an end acknowledges."""
    acks = of.table("acks")
    if "kind" not in acks.columns:
        return
    for end, way, other, sent in (("client", "up", "down", of.down), ("server", "down", "up", of.up)):
        own = acks.filter(pl.col("direction") == way)
        lacking = _lacking_bytes(sent, own) if of.transport == "tcp" else _lacking_packets(of, other, own)
        if lacking:
            counted = f"{lacking:,} {'byte' if of.transport == 'tcp' else 'packet'}{'' if lacking == 1 else 's'}"
            raise Unknown(
                f"it lacks {counted} that the {end} acknowledges: the capture lost packets; record again with "
                "a larger buffer, or with fewer bytes of each packet"
            )


def _lacking_bytes(sent: pl.DataFrame, acks: pl.DataFrame) -> int:
    """Bytes of TCP before the last acknowledged one that no segment has."""
    last = acks.filter(pl.col("kind") == "cumulative")["last"].max()
    reach, lacking = 1, 0
    if isinstance(last, int):
        rows = sent.filter(pl.col("payload_bytes") > 0).drop_nulls("number").sort("number")
        for start, length in rows.select("number", "payload_bytes").iter_rows():
            lacking += max(0, min(start, last) - reach)
            reach = max(reach, start + length)
    return lacking


def _lacking_packets(of: Recorded, way: str, acks: pl.DataFrame) -> int:
    """Acknowledged 1-RTT packets of QUIC that are not there; 0 where keys do not show the numbers of all."""
    rows = of.table("packets").filter(pl.col("direction") == way, pl.col("packet_type") == "1RTT")
    if rows["packet_number"].null_count():
        return 0
    seen = IntervalSet()
    for number in rows["packet_number"].to_list():
        seen.add(number, number + 1)
    ranges = acks.filter(pl.col("packet_type") == "1RTT").drop_nulls(("first", "last")).select("first", "last").unique()
    return sum(seen.add_length(first, last + 1) for first, last in ranges.iter_rows())
