# SPDX-License-Identifier: Apache-2.0
"""Sources of one exchange on one clock: made from one truth, each with a clock of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from quiclab.logs.decoders.clocks import Placement
from quiclab.logs.decoders.decode import Account, _place_sources, finished
from quiclab.logs.decoders.placing import Source
from quiclab.logs.decoders.sinks import InMemory
from quiclab.model.tables import TABLES

MS = 10**6
DELAY = 10 * MS
LOG_LAG = 20_000
"""From a program's log to its network interface, ns."""


def source(name: str, kind: str, vantage: str | None, clock: str = "own_start", step_ns: int = 1) -> Source:
    """One that is not placed yet."""
    return Source(name, kind, "", vantage, clock, step_ns)  # type: ignore[arg-type]


def rows_of(
    who: Source, offset_ns: int, packets: Sequence[tuple[str, int, int]], connection: str = "abcd"
) -> pl.DataFrame:
    """What one source says of packets (direction, number, instant at the sender's interface)."""
    rows = []
    for way, number, at in packets:
        sends = (way == "up") == (who.vantage == "client")
        lag = 0 if who.format == "pcapng" else LOG_LAG
        true = at - lag if sends else at + DELAY + lag
        time = (true - offset_ns) // who.resolution_ns * who.resolution_ns
        rows.append(
            {
                "source": who.name,
                "vantage": who.vantage,
                "connection": connection,
                "time_ns": time,
                "transport": "quic",
                "event": "sent" if sends else "received",
                "direction": way if who.format == "pcapng" else None,
                "packet_type": "1RTT",
                "packet_number": number,
                "length_bytes": 1000 + number % 7,
                "ip_packet": len(rows) if who.format == "pcapng" else None,
            }
        )
    schema = TABLES["packets"].schema()
    full = [{name: row.get(name) for name in schema.names()} for row in rows]
    return pl.DataFrame(full, schema=schema)


EXCHANGE = [
    (way, number, 1000 * MS + number * 3 * MS + (way == "down") * MS) for number in range(50) for way in ("up", "down")
]


def placed(*parts: tuple[Source, int], connections: dict[str, str] | None = None) -> tuple[Account, pl.DataFrame]:
    """The sources with their offsets from the truth, placed; and the table packets by the study's clock."""
    sink = InMemory()
    for who, offset_ns in parts:
        sink.take("packets", rows_of(who, offset_ns, EXCHANGE, (connections or {}).get(who.name, "abcd")))
    account = Account(sources=[who for who, _ in parts])
    _place_sources(account, sink)
    return account, finished("packets", sink, account).collect()


def errors(packets: pl.DataFrame, who: Source) -> pl.Series:
    """How far each instant of a source is from the truth."""
    truth = rows_of(Source(who.name, who.format, "", who.vantage, "monotonic", 1), 0, EXCHANGE)
    own = packets.filter(pl.col("source") == who.name)
    return (own["time_ns"] - truth["time_ns"]).abs()


CAPTURE = source("client.pcapng", "pcapng", "client").here("same_clock", 0)
LOG = source("client.sqlog", "qlog", "client", step_ns=MS)


def test_a_log_is_placed_by_the_capture_at_its_end() -> None:
    """A log of whole milliseconds is right within what it says, and the capture's time stands beside it."""
    account, packets = placed((CAPTURE, 0), (LOG, 999 * MS))
    log = account.sources[1]
    assert log.placed_by == "joined_packets"
    assert log.placement is not None
    assert log.placement.joined_packets == 100
    assert errors(packets, LOG).max() <= log.placement.uncertainty_ns  # type: ignore[operator]
    assert log.placement.uncertainty_ns < 2 * MS
    own = packets.filter(pl.col("source") == LOG.name)
    assert own["captured_ns"].to_list() == packets.filter(pl.col("source") == CAPTURE.name)["time_ns"].to_list()
    assert own["uncertainty_ns"].unique().to_list() == [log.placement.uncertainty_ns]


def test_the_far_ends_log_is_placed_by_way_of_the_near_one() -> None:
    """Without a capture at its own end a log is known to half the round trip, and no better is claimed."""
    far = source("server.sqlog", "qlog", "server")
    account, packets = placed((CAPTURE, 0), (far, -12345 * MS))
    placement = account.sources[1].placement
    assert placement is not None
    assert DELAY <= placement.uncertainty_ns < DELAY + MS
    assert errors(packets, far).max() <= placement.uncertainty_ns  # type: ignore[operator]
    assert packets.filter(pl.col("source") == far.name)["captured_ns"].null_count() == 100


def test_without_the_studys_clock_one_source_stands_for_it() -> None:
    """Logs from elsewhere: the capture stays as it is, the others come to it."""
    wire = source("x.pcap", "pcapng", "client", "realtime")
    account, packets = placed((LOG, 5), (wire, 0))
    assert [each.placed_by for each in account.sources] == ["joined_packets", "reference"]
    assert errors(packets, wire).max() == 0


def test_a_connection_of_another_name_is_found_by_its_packets() -> None:
    """NetLog and some qlogs call a connection by their own names."""
    account, _ = placed((CAPTURE, 0), (LOG, 7), connections={LOG.name: "session-17"})
    assert account.sources[1].placed_by == "joined_packets"


def test_what_shares_nothing_is_left_alone() -> None:
    """Times stay as the log has them, with no uncertainty, which means unknown."""
    other = source("other.sqlog", "qlog", "client")
    sink = InMemory()
    sink.take("packets", rows_of(CAPTURE, 0, EXCHANGE))
    sink.take("packets", rows_of(other, 0, [("up", 900 + n, n * MS) for n in range(5)], "ffff"))
    account = Account(sources=[CAPTURE, other])
    _place_sources(account, sink)
    packets = finished("packets", sink, account).collect().filter(pl.col("source") == other.name)
    assert account.sources[1].placement is None
    assert packets["uncertainty_ns"].null_count() == 5
    assert (
        packets["time_ns"].to_list()
        == rows_of(other, 0, [("up", 900 + n, n * MS) for n in range(5)])["time_ns"].to_list()
    )


def test_traces_with_starts_of_their_own_are_placed_one_by_one() -> None:
    """Two connections of one file, each counting from its own start."""
    sink = InMemory()
    second = [(way, number + 100, at + 500 * MS) for way, number, at in EXCHANGE]
    for who, offsets in ((CAPTURE, (0, 0)), (LOG, (3 * MS, 700 * MS))):
        sink.take("packets", rows_of(who, offsets[0], EXCHANGE, "aa"))
        sink.take("packets", rows_of(who, offsets[1], second, "bb"))
    account = Account(sources=[CAPTURE, LOG])
    _place_sources(account, sink)
    assert [each.connection for each in account.sources] == [None, "aa", "bb"]
    log = finished("packets", sink, account).collect().filter(pl.col("source") == LOG.name)
    assert (log["time_ns"] - log["captured_ns"]).abs().max() < 2 * MS  # type: ignore[operator]


def test_tables_whose_files_are_placed_alike_or_not_have_the_same_clock() -> None:
    """A table of one file, of two that are placed alike, and of these with one that is not placed."""
    early, late, lost = (source(name, "qlog", "client", "monotonic") for name in ("early", "late", "lost"))
    here = early.here("same_clock", 5)
    there = Placement(7 * MS, 0.0, 0, 9, 0)
    sources = [here, replace(late, placed_by="joined_packets", placement=there), lost]
    alike = [here, replace(late, placed_by="same_clock", placement=here.placement)]
    exchange = EXCHANGE[:2]
    for known, names in ((sources, ["late"]), (sources, ["early", "late", "lost"]), (alike, ["early", "late"])):
        sink = InMemory()
        for name in names:
            sink.take("packets", rows_of(replace(early, name=name), 0, exchange))
        rows = finished("packets", sink, Account(sources=known)).collect()
        for each in known:
            own = rows.filter(pl.col("source") == each.name)
            before = rows_of(replace(early, name=each.name), 0, exchange)
            moved = each.placement.offset_ns if each.placement else 0
            uncertain = each.placement.uncertainty_ns if each.placement else None
            assert set(own["uncertainty_ns"]) <= {uncertain}
            assert own["time_ns"].to_list() == [at + moved for at in before["time_ns"] if own.height]
