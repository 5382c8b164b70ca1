# SPDX-License-Identifier: Apache-2.0
"""Parquet files of a study: each appears whole or not at all."""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.store.disk import disk_errors, new_file

if TYPE_CHECKING:
    import polars

_MAGIC = b"PAR1"
"""Magic number at the beginning and at the end of a Parquet file (Apache Parquet, file format)."""


def write_parquet(frame: polars.DataFrame, path: Path, metadata: Mapping[str, str] | None = None) -> None:
    """Write a table to a file beside, then rename it: a file that was half written, by a kill or on a full disk, never
    counts."""
    told = tuple((metadata or {}).items())
    # Most tables of a trial have no rows, and all of a kind are the same file.
    content = _parquet(frame, told) if frame.height else _without_rows(tuple(frame.schema.items()), told)
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_file(path) as temporary:
            temporary.write_bytes(content)


def _parquet(frame: polars.DataFrame, metadata: tuple[tuple[str, str], ...]) -> bytes:
    content = io.BytesIO()
    frame.write_parquet(content, metadata=dict(metadata) or None)
    return content.getvalue()


@cache
def _without_rows(columns: tuple[tuple[str, polars.DataType], ...], metadata: tuple[tuple[str, str], ...]) -> bytes:
    import polars

    return _parquet(polars.DataFrame(schema=dict(columns)), metadata)


def is_whole(path: Path) -> bool:
    """True if a file is there that begins and ends as Parquet does."""
    try:
        with path.open("rb") as file:
            begin = file.read(len(_MAGIC))
            file.seek(-len(_MAGIC), io.SEEK_END)
            return begin == _MAGIC and file.read() == _MAGIC and file.tell() > 2 * len(_MAGIC)
    except OSError:
        return False
