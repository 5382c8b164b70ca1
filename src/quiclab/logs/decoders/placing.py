# SPDX-License-Identifier: Apache-2.0
"""One clock for all sources: some have the study's times already, and the others are mapped to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import polars as pl

from quiclab.logs.decoders._api import Clock, End
from quiclab.logs.decoders.clocks import Placement, fit_clock
from quiclab.logs.decoders.joins import CAPTURES, KEY

PlacedBy = Literal["same_clock", "realtime_offset", "joined_packets", "shared_realtime", "reference"]


@dataclass(frozen=True)
class Source:
    """One clock: a file's, or that of one trace of a file whose traces count from starts of their own."""

    name: str
    format: str
    dialect: str
    vantage: End | None
    clock: Clock
    resolution_ns: int
    connection: str | None = None
    placed_by: PlacedBy | None = None
    placement: Placement | None = None
    realtime_minus_monotonic_ns: int | None = None
    """Offset between the clocks of the source's machine, if the source tells it."""

    def row(self) -> dict[str, object]:
        """A row of the table `sources`."""
        placement = self.placement
        joined = placement if self.placed_by == "joined_packets" else None
        return {
            "source": self.name,
            "format": self.format,
            "dialect": self.dialect,
            "vantage": self.vantage,
            "connection": self.connection,
            "clock": self.clock,
            "resolution_ns": self.resolution_ns,
            "placed_by": self.placed_by,
            "offset_ns": placement.offset_ns if placement else None,
            "drift_ppm": joined.drift_ppm if joined else None,
            "uncertainty_ns": placement.uncertainty_ns if placement else None,
            "joined_packets": joined.joined_packets if joined else None,
        }

    def here(self, placed_by: PlacedBy, uncertainty_ns: int) -> Source:
        """This source with its times taken as the study's."""
        return replace(self, placed_by=placed_by, placement=Placement(0, 0.0, 0, uncertainty_ns, 0))


def place_all(sources: Sequence[Source], seen: pl.DataFrame) -> list[Source]:
    """Place every source that can be placed; `seen` has `joins.sightings` with `joins.named` connections.

    The sources that are placed already are the start. If there is none, the source with the most packets, a capture if
    there is one, serves as the study's clock. Each round then places the source that shares the most packets with those
    placed; names decide ties, so that the order of the sources does not.
    """
    done = [source for source in sources if source.placement]
    waiting = [source for source in sources if not source.placement]
    if not waiting:
        return done
    own = {_id(source): _rows_of(source, seen) for source in sources}
    if not done:
        root = max(
            waiting,
            key=lambda each: (each.format in CAPTURES, each.clock == "realtime", own[_id(each)].height, _id(each)),
        )
        waiting.remove(root)
        done.append(root.here("reference", root.resolution_ns // 2))
    # Most files of a trial see no packet.
    known = [_shifted(source, own[_id(source)]) for source in done if not own[_id(source)].is_empty()]
    while waiting:
        others = pl.concat(known or [_shifted(done[0], seen.clear())])
        joined = {source: _joined(own[_id(source)], others) for source in waiting}
        best = max(waiting, key=lambda source: (joined[source].height, _id(source)))
        waiting.remove(best)
        done.append(_placed(best, joined[best]))
        known.append(_shifted(done[-1], own[_id(best)]))
    order = {(source.name, source.connection): at for at, source in enumerate(sources)}
    return sorted(done, key=lambda source: order[source.name, source.connection])


def _id(source: Source) -> tuple[str, str]:
    return source.name, source.connection or ""


def _placed(source: Source, joined: pl.DataFrame) -> Source:
    placement = fit_clock(
        joined["time_ns"].to_numpy(),
        joined["other_ns"].to_numpy(),
        (joined["rank"] < joined["other_rank"]).to_numpy(),
        source.resolution_ns + (int(joined["other_step_ns"].max()) if joined.height else 0),  # type: ignore[arg-type]
    )
    return replace(source, placed_by="joined_packets", placement=placement) if placement else source


def _rows_of(source: Source, seen: pl.DataFrame) -> pl.DataFrame:
    own = seen.filter(pl.col("source") == source.name)
    return own if source.connection is None else own.filter(pl.col("connection") == source.connection)


def _shifted(source: Source, own: pl.DataFrame) -> pl.DataFrame:
    """A placed source's own sightings on the study's clock; none of a source that could not be placed."""
    placement = source.placement or Placement(0, 0.0, 0, 0, 0)
    return (own if source.placement else own.clear()).select(
        *KEY,
        other_rank="rank",
        other_ns=shift(pl.col("time_ns"), placement.offset_ns, placement.drift, placement.zero_ns),
        other_step_ns=pl.lit(placement.uncertainty_ns, pl.Int64),
    )


def _joined(own: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Pairs of sightings of one packet at different places on its way."""
    return own.join(known, on=KEY).filter(pl.col("rank") != pl.col("other_rank"))


def shift(times: pl.Expr, offset_ns: pl.Expr | int, drift: pl.Expr | float, zero_ns: pl.Expr | int) -> pl.Expr:
    """Instants of a source as instants of the study; see `clocks.Placement`."""
    return times + offset_ns + ((times - zero_ns).cast(pl.Float64) * drift).round().cast(pl.Int64)
