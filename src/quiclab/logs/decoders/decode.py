# SPDX-License-Identifier: Apache-2.0
"""Logs of any number and format to one set of tables with one clock."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import polars as pl

from quiclab.logs.decoders._api import Absent, Context, End, FileTables, Finding
from quiclab.logs.decoders.aligned import aligned
from quiclab.logs.decoders.ciphertexts import same_ciphertexts
from quiclab.logs.decoders.clocks import Placement
from quiclab.logs.decoders.joins import CAPTURES, in_captures, sightings, with_common_names
from quiclab.logs.decoders.log_files import UNPACK_FIRST, Found, LogFile
from quiclab.logs.decoders.placing import Source, place_all, shift
from quiclab.logs.decoders.sinks import Sink
from quiclab.logs.decoders.wall_clock import align_other_machines, by_realtime, taken_as_synchronised
from quiclab.model.errors import DecodeError, SpecError
from quiclab.model.tables import CAPTURED, CONNECTION, LEFT, MADE_LATER, SOURCE, TABLES
from quiclab.model.tables.drop_reasons import Stage, reasons_at

_CLOCKLESS = ("no_epoch", "no_clock_offset")
"""Findings about clocks that nothing in a file places."""
_MOST_COMPARED = 64
"""Most sources that are compared one by one, which needs no memory; more are looked up."""
_OFFSET_READ_NS = 1000
"""Error of an offset between two clocks at best, because they cannot be read at the same instant."""
_REALTIME_FORMATS = ("qlog", "har", "pcap", "ss", "mahimahi_log")
"""Formats whose times are mapped to the study's by the offset between its clocks."""


@dataclass
class Account:
    """Account of everything that was learned besides the rows."""

    sources: list[Source] = field(default_factory=list)
    findings: list[tuple[str, Finding]] = field(default_factory=list)
    absent: list[tuple[str, Absent]] = field(default_factory=list)
    captured: pl.DataFrame = field(default_factory=pl.DataFrame)
    """Packets of logs in captures, as `joins.in_captures` returns them."""

    def tables(self) -> dict[str, pl.DataFrame]:
        """The account as the tables `sources`, `decode_stats` and `absent`."""
        stats = [(name, each.name, each.severity, each.count, each.advice) for name, each in self.findings]
        absent = [(name, each.table, each.column, each.reason) for name, each in self.absent]
        return {
            "sources": pl.DataFrame([each.row() for each in self.sources], schema=TABLES["sources"].schema()),
            "decode_stats": pl.DataFrame(stats, schema=TABLES["decode_stats"].schema(), orient="row"),
            "absent": pl.DataFrame(absent, schema=TABLES["absent"].schema(), orient="row"),
        }


def decode_files(
    found: Found,
    sink: Sink,
    realtime_minus_monotonic_ns: int | None = None,
    offset_error_ns: int = 0,
    progress: Callable[[LogFile], None] = lambda _: None,
) -> Account:
    """Decode every log into `sink`; a file that cannot be read is counted, not raised.

    The offset between the clocks comes from a packet log, or else is the one given, known to within `offset_error_ns`.
    The order of the logs makes no difference. Raises SpecError for a log that was given as one end's and is the
    other's.
    """
    account = Account()
    account.findings += [
        (name, Finding(f"unread_compression:{how}", "data_loss", 1, UNPACK_FIRST)) for name, how in found.packed
    ]
    account.findings += [(name, Finding("unreadable", "error", 1, why)) for name, why in found.damaged]
    # A packet log comes first, because it says how the clocks of its machine relate. The others follow by name.
    for log in sorted(found.logs, key=lambda log: (log.decoder.format != "packet_log", log.name)):
        progress(log)
        context = Context(log.vantage, realtime_minus_monotonic_ns, found.key_logs)
        file, ends = _decode(log, context, sink)
        if log.decoder.format == "packet_log":
            realtime_minus_monotonic_ns = file.realtime_minus_monotonic_ns or realtime_minus_monotonic_ns
        account.findings += [(log.name, each) for each in file.findings]
        account.absent += [(log.name, each) for each in file.absent]
        account.sources.append(_source(log, file, end_by(log, ends), offset_error_ns))
    account.sources = align_other_machines(account.sources, realtime_minus_monotonic_ns)
    _place_sources(account, sink, {log.name: log.path for log in found.logs})
    account.findings += taken_as_synchronised(account.sources)
    # Where packets have placed a file, it does not matter what its clock lacks.
    placed = {each.name for each in account.sources if each.placed_by in ("joined_packets", "shared_realtime")}
    account.findings = [each for each in account.findings if each[0] not in placed or each[1].name not in _CLOCKLESS]
    return account


def _source(log: LogFile, file: FileTables, end: End | None, offset_error_ns: int) -> Source:
    source = Source(
        log.name,
        log.decoder.format,
        file.dialect,
        end,
        file.clock,
        file.resolution_ns,
        realtime_minus_monotonic_ns=file.realtime_minus_monotonic_ns,
    )
    if file.clock != "monotonic":
        return source
    # A clock that rounds is uncertain by half a step either way.
    if log.decoder.format in _REALTIME_FORMATS:
        return source.here("realtime_offset", file.resolution_ns // 2 + offset_error_ns + _OFFSET_READ_NS)
    return source.here("same_clock", file.resolution_ns // 2)


def _decode(log: LogFile, context: Context, sink: Sink) -> tuple[FileTables, set[End]]:
    """Decode one file into the sink; also return the ends that its rows belong to.

    Every row gets the columns that decoders do not fill.
    """
    ends: set[End] = set()

    def take(name: str, rows: pl.DataFrame) -> None:
        if rows.is_empty():
            return
        if "vantage" in rows.columns:
            ends.update(_ends(rows["vantage"]))
        source = pl.lit(log.name).alias(SOURCE.name)
        sink.take(name, rows.select(source if each is None else each for each in _columns(name)))

    try:
        file = log.decoder.decode(log.path, context, take if sink.streams else None)
    except DecodeError as error:
        told = error.message.replace(str(log.path), log.name)  # tables are the same wherever they are made
        return FileTables({}, (Finding("unreadable", "error", 1, told),)), ends
    for name, rows in file.tables.items():
        take(name, rows)
    return file, ends


def _ends(vantage: pl.Series) -> list[End]:
    """The ends that rows name; nearly always it is the same one in all of them."""
    if vantage.n_unique() > 1:
        return vantage.drop_nulls().unique().to_list()
    return [] if vantage[0] is None else [vantage[0]]


@cache
def _columns(name: str) -> tuple[pl.Expr | None, ...]:
    """Columns of a table, of what a decoder gives: null where they are made later, None for the source."""
    return tuple(
        None if column == SOURCE
        else pl.lit(None, column.dtype).alias(column.name) if column in MADE_LATER
        else pl.col(column.name)
        for column in TABLES[name].columns
    )  # fmt: skip


def _place_sources(account: Account, sink: Sink, paths: Mapping[str, Path] | None = None) -> None:
    """Place all sources; `paths` has the files that may be read once more, by their source's name."""
    captures = [each.name for each in account.sources if each.format in CAPTURES]
    packets = sink.table("packets")
    if len(account.sources) == 1 and packets.select(pl.struct("vantage", "connection").n_unique()).collect().item() < 2:
        packets = packets.clear()  # nothing to join: a large log need not be held for it
    seen = with_common_names(sightings(packets, captures))
    seen = pl.concat([seen, aligned(seen, packets, sink.table("ip_packets"), captures)])
    if paths and any(each.placement is None for each in account.sources if each.format in CAPTURES):
        seen = pl.concat([seen, same_ciphertexts(seen, packets, {name: paths[name] for name in captures})])
    account.sources = by_realtime(place_all([part for each in account.sources for part in _traces(each, seen)], seen))
    account.captured = in_captures(seen, captures)


def _traces(source: Source, seen: pl.DataFrame) -> list[Source]:
    """Split a source whose traces have starts of their own: it has as many clocks as traces."""
    if source.clock != "own_start" or source.placement:
        return [source]
    names = seen.filter(pl.col("source") == source.name)["connection"].unique(maintain_order=True).to_list()
    return [replace(source, connection=name) for name in names] if len(names) > 1 else [source]


def finished(name: str, sink: Sink, account: Account) -> pl.LazyFrame:
    """A table with all instants on the study's clock, their uncertainty, and the more exact instants of captures."""
    table = TABLES[name]
    rows = sink.table(name)
    if not sink.rows(name):
        return rows
    placed = _placements(account, sink.sources(name))
    traces = [each.name for each in account.sources if each.connection is not None]
    unit = pl.col("source")
    if traces and CONNECTION in table.columns:
        of_trace = pl.concat_str("source", pl.lit("\0"), "connection")
        unit = pl.when(unit.is_in(traces)).then(of_trace).otherwise(unit)
    own = [pl.col(each) for each in table.instants if each != CAPTURED.name]
    rows = rows.with_columns(*_moved(own, unit, placed), uncertainty_ns=_looked_up(unit, placed, "uncertainty_ns"))
    if name == "link_packets":
        return with_departures(rows)
    return _with_captures(rows, sink, account) if name == "packets" else rows


def _placements(account: Account, names: Collection[str]) -> dict[str, Placement | None]:
    """Placements of the sources of these names, by unit; None where one is not placed, or not all of its rows are."""
    placed: dict[str, Placement | None] = dict.fromkeys(names)
    return placed | {_unit(each): each.placement for each in account.sources if each.name in names}


def _unit(source: Source) -> str:
    return source.name if source.connection is None else f"{source.name}\0{source.connection}"


def _moved(instants: Sequence[pl.Expr], unit: pl.Expr, placed: Mapping[str, Placement | None]) -> list[pl.Expr]:
    """Instants of the source that `unit` names, on the study's clock; unchanged where the source is not placed."""
    if not any(placement is not None and (placement.offset_ns or placement.drift) for placement in placed.values()):
        return []
    offset, drift, zero = (_looked_up(unit, placed, what) for what in ("offset_ns", "drift", "zero_ns"))
    return [pl.coalesce(shift(instant, offset, drift, zero), instant) for instant in instants]


def _looked_up(unit: pl.Expr, placed: Mapping[str, Placement | None], what: str) -> pl.Expr:
    """A field of the placement of the source that `unit` names, which is one of `placed`."""
    dtype = pl.Float64() if what == "drift" else pl.Int64()
    values = {name: None if placement is None else getattr(placement, what) for name, placement in placed.items()}
    if len(set(values.values())) == 1:  # mostly: no row needs to be looked at
        return pl.lit(next(iter(values.values())), dtype)
    if len(values) > _MOST_COMPARED:
        units, told = pl.Series(list(values), dtype=pl.String), pl.Series(list(values.values()), dtype=dtype)
        return unit.replace_strict(units, told, default=None, return_dtype=dtype)
    # Comparisons are done portion by portion; a replacement would hold the whole table.
    found = [pl.when(unit == name).then(pl.lit(value, dtype)) for name, value in values.items() if value is not None]
    return pl.coalesce(*found, pl.lit(None, dtype))


def _with_captures(packets: pl.LazyFrame, sink: Sink, account: Account) -> pl.LazyFrame:
    """Rows of logs with the instant of the capture that shows the packet, and every row with the link's index."""
    if account.captured.is_empty() and not sink.rows("ip_packets"):
        return packets
    order = packets.collect_schema().names()
    index = (
        sink.table("ip_packets")
        .filter(pl.col("packet_index").is_not_null())
        .select(capture="source", shown="number", index="packet_index")
    )
    seen_ns = pl.col("captured_ns").alias("seen_ns")
    captures = [] if account.captured.is_empty() else account.captured["capture"].unique().to_list()
    moved = _moved([seen_ns], pl.col("capture"), _placements(account, captures)) or [seen_ns]
    shown = account.captured.lazy().with_columns(moved).drop("captured_ns").rename({"ip_packet": "shown"})
    key = ["source", "connection", "event", "packet_type", "packet_number"]
    return (
        packets.join(shown, on=key, how="left", maintain_order="left")
        .with_columns(capture=pl.coalesce("capture", "source"), shown=pl.coalesce("shown", "ip_packet"))
        .join(index, on=["capture", "shown"], how="left", maintain_order="left")
        .with_columns(captured_ns="seen_ns", packet_index="index")
        .select(order)
    )


# Decide which end a log belongs to: by its own word, or else by the command line or its name.
def end_by(log: LogFile, told: Collection[End]) -> End | None:
    """The end of a log whose rows name the ends `told`; None if they name both, so that there is no single end.

    The file's name is a guess, which the log's own word overrules. Raises SpecError if the command line contradicts it.
    """
    if log.vantage_given and any(end != log.vantage for end in told):
        others = " and the ".join(sorted({f"{end}'s" for end in told}))
        raise SpecError(
            f"{log.name} was given with --{log.vantage}, but says itself that it is the {others}",
            f"give it without --{log.vantage}: what it says counts",
        )
    if len(told) == 1:
        return next(iter(told))
    return None if told else log.vantage


# Times at which packets of a packet log left the bottleneck, from their arrival and how long sending them took.
_BEHIND = reasons_at(Stage.BEHIND, Stage.EITHER)
"""Reasons for which a packet can be dropped after the bottleneck has sent it; `service_ns` says whether it had."""


def with_departures(packets: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows of `link_packets`, in their order, with `left_ns`.

    A transmitter begins with a packet when it is there and the one before has gone: left = max(arrival, left of the one
    before) + service. Summed up: the services so far, and the latest beginning of a busy period that they follow.
    """
    of_queue = ("source", "direction")
    served = (pl.col("service_ns") > 0) & (
        (pl.col("action") == "inside_at_end") | ((pl.col("action") == "dropped") & pl.col("reason").is_in(_BEHIND))
    )
    sent = (pl.col("action") == "delivered") | served
    service_ns = pl.when(sent & ~pl.col("duplicate")).then(pl.col("service_ns").cast(pl.Int64)).otherwise(0)
    so_far_ns = service_ns.cum_sum()
    begun_ns = pl.when(sent).then(pl.col("arrival_ns") - so_far_ns + service_ns)
    left_ns = pl.when(sent).then(so_far_ns + begun_ns.cum_max())
    order = pl.struct("arrival_ns", "index", "duplicate")
    return packets.with_columns(left_ns.over(of_queue, order_by=order).alias(LEFT.name))
