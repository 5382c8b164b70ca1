# SPDX-License-Identifier: Apache-2.0
"""What a decoder is: one log format, turned into tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import polars as pl

End = Literal["client", "server"]
Clock = Literal["monotonic", "realtime", "own_start"]
"""What a file's times count by: CLOCK_MONOTONIC, CLOCK_REALTIME, or a start of its own that nothing in it places."""
Severity = Literal["info", "notice", "data_loss", "error"]


@dataclass(frozen=True)
class Context:
    """What a file does not say about itself."""

    vantage: End | None = None
    """Where it was recorded."""
    realtime_minus_monotonic_ns: int | None = None
    """Maps its CLOCK_REALTIME to CLOCK_MONOTONIC."""
    key_logs: tuple[Path, ...] = ()
    """TLS key logs (NSS format) that may open what a capture holds."""


Take = Callable[[str, pl.DataFrame], object]
"""Takes the name of a table and some of its rows; what it raises ends the decoding."""


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
    """None for the whole table."""
    reason: str


@dataclass(frozen=True)
class FileTables:
    """What one file gives: tables that match `Table.decoder_schema`, and what is missing in them."""

    tables: dict[str, pl.DataFrame]
    """Only those that have rows, and only rows that were not taken while the file was being read."""
    findings: tuple[Finding, ...]
    absent: tuple[Absent, ...] = ()
    dialect: str = ""
    clock: Clock = "own_start"
    resolution_ns: int = 1
    """The step of its times."""
    realtime_minus_monotonic_ns: int | None = None
    """The offset between the clocks, if the format records it."""


class Decoder(Protocol):
    """One log format. A decoder guesses neither a clock nor an id, and computes no metrics."""

    @property
    def format(self) -> str:
        """The format's name."""

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions or dialects that are read."""

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables it fills."""

    @property
    def clock(self) -> str:
        """Which clock its times come from, in one sentence."""

    def sniff(self, head: bytes) -> bool:
        """Whether a file that starts with `head` (at least 512 bytes, if it has them) is of this format."""

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """Decode one file. Raises DecodeError if it cannot be read at all.

        With `take`, rows go there in bounded portions while the file is being read, and `tables` holds the rest.
        """
