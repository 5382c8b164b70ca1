# SPDX-License-Identifier: Apache-2.0
"""Interface of exports: tables written in a format of other tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import polars as pl

Vantage = Literal["client", "server"]
Tables = Mapping[str, pl.LazyFrame]
"""Every table by name, on disk: rows are read when they are needed."""


@dataclass(frozen=True)
class Choice:
    """Choice of rows; None means all."""

    source: str | None = None
    connection: str | None = None
    vantage: Vantage | None = None

    def __str__(self) -> str:
        given = {"source": self.source, "connection": self.connection, "vantage": self.vantage}
        return ", ".join(f"{name} {value}" for name, value in given.items() if value is not None)


@dataclass
class Written:
    """Account of what was written, and of what the format or the tables had no place for."""

    files: dict[Path, int] = field(default_factory=dict)
    """Number of events or requests, by file."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Number of things of each kind that could not be written."""


class Export(Protocol):
    """One format."""

    @property
    def format(self) -> str:
        """The format's name."""

    @property
    def writes(self) -> str:
        """Description of what the export writes, in one sentence."""

    @property
    def into_folder(self) -> bool:
        """True if the export writes files into a folder instead of one file."""

    def write(self, tables: Tables, choice: Choice, out: Path) -> Written:
        """Write what is chosen.

        Raises SpecError if the choice names something that is not there, DecodeError if the tables hold nothing that
        the format can express, OSError for the disk.
        """
