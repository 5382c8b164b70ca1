# SPDX-License-Identifier: Apache-2.0
"""Interface of decoders: one log format, turned into tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import polars as pl

End = Literal["client", "server"]
Clock = Literal["monotonic", "realtime", "own_start"]
"""Clock of a file's times: CLOCK_MONOTONIC, CLOCK_REALTIME, or a start of its own that nothing in the file places."""
Severity = Literal["info", "notice", "data_loss", "error"]


@dataclass(frozen=True)
class Context:
    """Facts that a file does not tell about itself."""

    vantage: End | None = None
    """End at which the file was recorded."""
    realtime_minus_monotonic_ns: int | None = None
    """Offset from CLOCK_MONOTONIC to CLOCK_REALTIME of the file's machine."""
    key_logs: tuple[Path, ...] = ()
    """TLS key logs (NSS format) that may decrypt what a capture holds."""


Take = Callable[[str, pl.DataFrame], object]
"""Callback that takes the name of a table and some of its rows; an exception in it ends the decoding."""


@dataclass(frozen=True)
class Finding:
    """One kind of thing in a file that did not become a row, or that readers should know."""

    name: str
    severity: Severity
    count: int
    advice: str


@dataclass(frozen=True)
class Absent:
    """Something that a log cannot tell."""

    table: str
    column: str | None
    """Column that is null; None means the whole table."""
    reason: str


@dataclass(frozen=True)
class FileTables:
    """Result of decoding one file: tables that match `Table.decoder_schema`, and what is missing in them."""

    tables: dict[str, pl.DataFrame]
    """Tables that have rows, with only those rows that were not taken while the file was being read."""
    findings: tuple[Finding, ...]
    absent: tuple[Absent, ...] = ()
    dialect: str = ""
    clock: Clock = "own_start"
    resolution_ns: int = 1
    """Step of the file's times."""
    realtime_minus_monotonic_ns: int | None = None
    """Offset between the clocks, if the format records it."""


class Decoder(Protocol):
    """One log format. A decoder guesses neither a clock nor an id, and computes no metrics."""

    @property
    def format(self) -> str:
        """The format's name."""

    @property
    def versions(self) -> tuple[str, ...]:
        """Versions or dialects that are read."""

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables that the decoder fills."""

    @property
    def clock(self) -> str:
        """Clock that the format's times come from, in one sentence."""

    def sniff(self, head: bytes) -> bool:
        """True if a file that starts with `head` (at least 512 bytes, if it has them) is of this format."""

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """Decode one file. Raises DecodeError if it cannot be read at all.

        With `take`, rows go there in bounded portions while the file is being read, and `tables` holds the rest.
        """
