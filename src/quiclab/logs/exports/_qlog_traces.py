# SPDX-License-Identifier: Apache-2.0
"""Traces in tables: one connection as one source saw it, with the clock of its times."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from quiclab.logs.exports._api import Choice, Tables
from quiclab.logs.exports._choosing import chosen
from quiclab.logs.exports._qlog_events import TABLES_WRITTEN
from quiclab.model.errors import DecodeError

_KEY = ("source", "connection", "vantage")
_OF_QUIC = {
    "packets": pl.col("transport") == "quic",
    "transport_metrics": pl.col("transport") == "quic",
    "frames": pl.lit(value=True),
    "http_frames": pl.col("http_version") == "HTTP/3",
}
"""Tables that show a QUIC connection, each with a condition for the rows that do."""


@dataclass(frozen=True)
class Clock:
    """Facts about a source's times."""

    placed: bool = False
    """Whether the times are on the clock that the sources share."""
    realtime: bool = False
    """Whether the times are dates."""
    uncertainty_ns: int | None = None
    """Uncertainty of the times; None where the clock is not placed."""
    resolution_ns: int = 1
    """Step of the times."""
    dialect: str = "tables"
    """Kind of the source, as words."""


@dataclass(frozen=True)
class Trace:
    """Rows that become one qlog."""

    source: str
    connection: str
    vantage: str | None
    zero_ns: int
    """Instant that counts as 0, before which nothing is: the same for all traces whose clock is placed."""
    clock: Clock

    def rows(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """Rows of a table that belong to the trace."""
        return table.filter(
            pl.col("source") == self.source,
            pl.col("connection") == self.connection,
            pl.col("vantage").eq_missing(pl.lit(self.vantage, pl.String)),
        )


def traces(tables: Tables, choice: Choice) -> list[Trace]:
    """All chosen traces. Raises SpecError for a choice that fits none, DecodeError if there is none to choose from."""
    found = _found(tables)
    if not found.height:
        raise DecodeError(
            f"there is no QUIC connection to write{_what_there_is(tables)}", "see `quiclab export --help`"
        )
    wanted = chosen(found.lazy(), choice).collect()
    clocks = _clocks(tables)
    known = wanted.filter(pl.col("source").is_in([name for name, clock in clocks.items() if clock.placed]))
    shared_zero_ns: int = known["first_ns"].min()  # type: ignore[assignment]
    result = []
    for row in wanted.iter_rows(named=True):
        clock = clocks.get(row["source"], Clock())
        zero_ns = shared_zero_ns if clock.placed else row["first_ns"]
        result.append(Trace(**{name: row[name] for name in _KEY}, zero_ns=zero_ns, clock=clock))
    return result


def _found(tables: Tables) -> pl.DataFrame:
    """Every trace, with the first instant of all that is written of it; in the order of names."""
    shown = [tables[name].filter(of_quic).select(_KEY).unique() for name, of_quic in _OF_QUIC.items()]
    instants = [tables[name].group_by(_KEY).agg(first_ns=pl.col("time_ns").min()) for name in TABLES_WRITTEN]
    first = pl.concat(instants).group_by(_KEY).agg(pl.col("first_ns").min())
    together = pl.concat(shown).unique().join(first, on=_KEY, nulls_equal=True)
    return together.sort("connection", "vantage", "source").collect(engine="streaming")


def _what_there_is(tables: Tables) -> str:
    tcp = tables["packets"].filter(pl.col("transport") == "tcp").select(pl.col("connection").unique()).collect()
    if tcp.height:
        some = ", ".join(tcp["connection"].sort().head(3))
        return f", only TCP: {some}{' and more' if tcp.height > 3 else ''}"
    sources = tables["sources"].select("source", "format").unique().sort("source").head(3).collect()
    some = ", ".join(f"{name} ({kind})" for name, kind in sources.iter_rows())
    return f" in {some}" if some else ""


def _clocks(tables: Tables) -> dict[str, Clock]:
    """Clock of each source; a source with a clock for each connection is placed if all of them are."""
    rows = tables["sources"].collect()
    # Where a log with dates serves as the study's clock, all sources that were joined to it have dates.
    by_date = rows.filter(pl.col("placed_by") == "reference", pl.col("clock") == "realtime").height > 0
    clocks = {}
    for (name,), own in rows.group_by("source", maintain_order=True):
        placed = own["placed_by"].null_count() == 0
        realtime = by_date if placed else own["clock"][0] == "realtime"
        uncertainty_ns = max(own["uncertainty_ns"], default=None) if placed else None
        words = f"{own['format'][0]} {own['dialect'][0]}".strip()
        clocks[str(name)] = Clock(placed, realtime, uncertainty_ns, own["resolution_ns"][0], words)
    return clocks
