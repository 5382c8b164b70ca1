# SPDX-License-Identifier: Apache-2.0
"""Places where decoded rows wait until every clock is known: in memory, or in a folder of Parquet parts."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Protocol

import polars as pl

from quiclab.model.tables import SOURCE, TABLES


class Sink(Protocol):
    """A place that takes portions of tables and returns each table as one."""

    streams: bool
    """True if decoders should hand over rows while they read."""

    def take(self, name: str, rows: pl.DataFrame) -> None:
        """Keep some rows of a table, which are all of one file."""

    def table(self, name: str) -> pl.LazyFrame:
        """All rows of a table so far, in the order in which they came."""

    def rows(self, name: str) -> int:
        """Number of rows of a table."""

    def sources(self, name: str) -> frozenset[str]:
        """Names of the files that a table has rows of."""


class InMemory:
    """Sink in memory, for the logs of a trial."""

    streams = False

    def __init__(self) -> None:
        self._parts: defaultdict[str, list[pl.DataFrame]] = defaultdict(list)
        self._sources: defaultdict[str, set[str]] = defaultdict(set)

    def take(self, name: str, rows: pl.DataFrame) -> None:
        """Keep some rows of a table."""
        self._parts[name].append(rows)
        self._sources[name].add(rows[SOURCE.name][0])

    def table(self, name: str) -> pl.LazyFrame:
        """All rows of a table so far, in the order in which they came."""
        whole = pl.concat([TABLES[name].empty(), *self._parts[name]])
        self._parts[name] = [whole]  # the same table is asked for several times
        return whole.lazy()

    def rows(self, name: str) -> int:
        """Number of rows of a table."""
        return sum(part.height for part in self._parts[name])

    def sources(self, name: str) -> frozenset[str]:
        """Names of the files that a table has rows of."""
        return frozenset(self._sources[name])


class ParquetParts:
    """Sink on disk, for logs of any size: memory holds one portion at a time."""

    streams = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: defaultdict[str, int] = defaultdict(int)
        self._rows: defaultdict[str, int] = defaultdict(int)
        self._sources: defaultdict[str, set[str]] = defaultdict(set)

    def take(self, name: str, rows: pl.DataFrame) -> None:
        """Write some rows of a table to a part of its own."""
        folder = self._folder / name
        folder.mkdir(parents=True, exist_ok=True)
        rows.write_parquet(folder / f"{self._parts[name]:08}.parquet")
        self._parts[name] += 1
        self._rows[name] += rows.height
        self._sources[name].add(rows[SOURCE.name][0])

    def table(self, name: str) -> pl.LazyFrame:
        """All rows of a table so far, in the order in which they came."""
        if not self._parts[name]:
            return TABLES[name].empty().lazy()
        parts = [self._folder / name / f"{part:08}.parquet" for part in range(self._parts[name])]
        # A folder's name may have characters that are special in patterns.
        return pl.scan_parquet(parts, glob=False)

    def rows(self, name: str) -> int:
        """Number of rows of a table."""
        return self._rows[name]

    def sources(self, name: str) -> frozenset[str]:
        """Names of the files that a table has rows of."""
        return frozenset(self._sources[name])
