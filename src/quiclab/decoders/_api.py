# SPDX-License-Identifier: Apache-2.0
"""What a decoder is: one log format, turned into tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import polars as pl

End = Literal["client", "server"]
Severity = Literal["info", "notice", "data_loss", "error"]


@dataclass(frozen=True)
class Context:
    """What a file does not say about itself."""

    end: End | None = None
    """Where it was recorded."""
    realtime_minus_monotonic_ns: int | None = None
    """Maps its CLOCK_REALTIME to CLOCK_MONOTONIC."""


@dataclass(frozen=True)
class Finding:
    """One kind of thing in a file that did not become a row, or that readers should know."""

    name: str
    severity: Severity
    count: int
    advice: str


@dataclass(frozen=True)
class FileTables:
    """What one file gives: tables that match quiclab.tables, and what is missing in them."""

    tables: dict[str, pl.DataFrame]
    findings: tuple[Finding, ...]
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

    def decode(self, path: Path, context: Context) -> FileTables:
        """Decode one file. Raises DecodeError if it cannot be read at all."""
