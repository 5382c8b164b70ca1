# SPDX-License-Identifier: Apache-2.0
"""All logs of one trial, decoded together: one clock, one set of tables."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from quiclab.decoders._api import Context, Decoder, End, FileTables, Finding
from quiclab.decoders._registry import DECODERS
from quiclab.errors import DecodeError
from quiclab.tables import SOURCE, TABLES, UNCERTAINTY

_HEAD_BYTES = 4096


@dataclass(frozen=True)
class Decoded:
    """The tables of one trial by name, every one that decoders fill, if only without rows."""

    tables: dict[str, pl.DataFrame]
    stats: pl.DataFrame
    """The table `decode_stats`."""


def decode_trial(trial_dir: Path) -> Decoded:
    """Decode every log under `trial_dir/raw`; a file that cannot be read is counted, not raised.

    The offset between the clocks comes from the packet log, else from `trial.json`. Files of no known format are
    left alone.
    """
    raw = trial_dir / "raw"
    found = [(path, decoder) for path in sorted(raw.rglob("*")) if path.is_file() and (decoder := decoder_of(path))]
    # The packet log comes first: it says how the clocks relate.
    found.sort(key=lambda item: item[1].format != "packet_log")
    offset_ns = _offset_of(trial_dir)
    parts: defaultdict[str, list[pl.DataFrame]] = defaultdict(list)
    stats: list[tuple[str, str, str, int, str]] = []
    absent: list[tuple[str, str, str | None, str]] = []
    sources: list[dict[str, object]] = []
    for path, decoder in found:
        vantage = end_of(path.relative_to(raw))
        context = Context(vantage, offset_ns)
        file = _decode(decoder, path, context)
        offset_ns = file.realtime_minus_monotonic_ns or offset_ns
        source = str(path.relative_to(trial_dir))
        # Half a step either way is what a clock that rounds cannot tell.
        uncertainty_ns = None if file.clock != "monotonic" else file.resolution_ns // 2
        for name, frame in file.tables.items():
            own = (pl.lit(source).alias("source"), pl.lit(uncertainty_ns, pl.Int64).alias("uncertainty_ns"))
            parts[name].append(frame.with_columns(own).select(TABLES[name].schema().names()))
        sources.append(
            {
                "source": source,
                "format": decoder.format,
                "dialect": file.dialect,
                "vantage": vantage,
                "clock": file.clock,
                "resolution_ns": file.resolution_ns,
                "placed_by": None if uncertainty_ns is None else "same_clock",
                "offset_ns": None if uncertainty_ns is None else 0,
                "uncertainty_ns": uncertainty_ns,
            }
        )
        absent += [(source, each.table, each.column, each.reason) for each in file.absent]
        stats += [(source, each.name, each.severity, each.count, each.advice) for each in file.findings]
    tables = {
        name: pl.concat([table.empty(), *parts[name]])
        for name, table in TABLES.items()
        if SOURCE in table.columns and UNCERTAINTY in table.columns
    }
    tables["sources"] = pl.DataFrame(sources, schema=TABLES["sources"].schema())
    tables["absent"] = pl.DataFrame(absent, schema=TABLES["absent"].schema(), orient="row")
    return Decoded(tables, pl.DataFrame(stats, schema=TABLES["decode_stats"].schema(), orient="row"))


def decoder_of(path: Path) -> Decoder | None:
    """The decoder that recognises the head of a file; None if none does."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    return next((decoder for decoder in DECODERS if decoder.sniff(head)), None)


def end_of(path: Path) -> End | None:
    """Which end's file this is, by the first part of its path that says so (`client.pcapng`, `server-qlog/…`)."""
    for part in path.parts:
        for end in ("client", "server"):
            if part.startswith(end):
                return end
    return None


def _decode(decoder: Decoder, path: Path, context: Context) -> FileTables:
    try:
        return decoder.decode(path, context)
    except DecodeError as error:
        return FileTables({}, (Finding("unreadable", "error", 1, error.message),))


def _offset_of(trial_dir: Path) -> int | None:
    try:
        clock = json.loads((trial_dir / "trial.json").read_text())["clock"]
        return int(clock["realtime_minus_monotonic_start_ns"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
