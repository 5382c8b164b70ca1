# SPDX-License-Identifier: Apache-2.0
"""Mahimahi's traces of a link: one line for every opportunity to deliver a packet, in milliseconds."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import polars as pl

from quiclab.logs.decoders._api import Context, FileTables, Finding, Take
from quiclab.logs.decoders._text import lines_of
from quiclab.model.errors import DecodeError
from quiclab.model.tables import TABLES

OPPORTUNITY_BYTES = 1504
"""Bytes that one opportunity lets through: a packet of 1500, and the 4 that a TUN device puts before it."""
_LARGEST = 1 << 43
"""Bound of times in milliseconds that fit into 64 bits of nanoseconds."""
_PORTION = 1 << 16


class MahimahiTrace:
    """One direction of one link, which Mahimahi repeats from its end."""

    format = "mahimahi_trace"
    versions = ("mm-link",)
    tables = ("link_events",)
    clock = "Its own start, in whole milliseconds."

    def sniff(self, head: bytes) -> bool:
        """True if there is nothing but numbers, one a line, none smaller than the one before."""
        lines = head.split(b"\n")[:-1]
        numbers = [line.rstrip(b"\r") for line in lines]
        if len(numbers) < 2 or not all(number.isdigit() and len(number) < 14 for number in numbers):
            return False
        times = [int(number) for number in numbers]
        return all(before <= after for before, after in pairwise(times))

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """One row per opportunity. Raises DecodeError if no line is a number."""
        del context
        parts: list[pl.DataFrame] = []
        times: list[int] = []
        rows = bad = backwards = latest = 0

        def hand_on() -> None:
            part = _frame(times)
            times.clear()
            if take is None:
                parts.append(part)
            else:
                take("link_events", part)

        with lines_of(path) as lines:
            for line in lines:
                number = line.strip()
                if not (number.isascii() and number.isdigit() and len(number) < 14 and int(number) < _LARGEST):
                    bad += bool(number)
                    continue
                backwards += int(number) < latest
                latest = int(number)
                times.append(latest)
                rows += 1
                if len(times) == _PORTION:
                    hand_on()
        if not rows:
            raise DecodeError(f"cannot decode {path}: no line is a number", "a trace of Mahimahi has one a line")
        if times:
            hand_on()
        found = (
            Finding("malformed_line", "data_loss", bad, "a line that is no number of milliseconds"),
            Finding("backwards", "notice", backwards, "a time lies before that of the line above: Mahimahi refuses it"),
        )
        return FileTables(
            {"link_events": pl.concat(parts)} if parts else {},
            tuple(each for each in found if each.count),
            dialect="Mahimahi trace",
            clock="own_start",
            resolution_ns=1_000_000,
        )


def _frame(times: list[int]) -> pl.DataFrame:
    milliseconds = pl.Series("time_ns", times, dtype=pl.Int64)
    return (
        pl.DataFrame({"time_ns": milliseconds * 1_000_000})
        .select(
            "time_ns",
            direction=pl.lit(None, pl.String),
            event=pl.lit("opportunity"),
            packets=pl.lit(None, pl.UInt32),
            size_bytes=pl.lit(OPPORTUNITY_BYTES, pl.UInt64),
            delay_ns=pl.lit(None, pl.Int64),
        )
        .select(TABLES["link_events"].decoder_schema.names())
    )
