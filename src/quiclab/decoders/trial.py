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
from quiclab.tables import TABLES

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
    for path, decoder in found:
        context = Context(end_of(path.relative_to(raw)), offset_ns)
        file = _decode(decoder, path, context)
        offset_ns = file.realtime_minus_monotonic_ns or offset_ns
        for name, frame in file.tables.items():
            parts[name].append(frame)
        source = str(path.relative_to(trial_dir))
        stats += [(source, each.name, each.severity, each.count, each.advice) for each in file.findings]
    names = [name for decoder in DECODERS for name in decoder.tables]
    tables = {name: pl.concat([TABLES[name].empty(), *parts[name]]) for name in names}
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
