# SPDX-License-Identifier: Apache-2.0
"""The only importer of the native module: its tables as data frames, its errors as DecodeError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from quiclab import _core
from quiclab.decoders._api import Context, FileTables, Finding
from quiclab.errors import DecodeError


def packet_log(path: Path, _context: Context) -> FileTables:
    """Decode a packet log of the link."""
    with _errors(path):
        return _tables(_core.decode_packet_log(path))


def pcapng(path: Path, context: Context) -> FileTables:
    """Decode a capture."""
    with _errors(path):
        return _tables(_core.decode_pcapng(path, context.end))


def qlog(path: Path, context: Context) -> FileTables:
    """Decode a qlog."""
    with _errors(path):
        return _tables(_core.decode_qlog(path, context.realtime_minus_monotonic_ns))


def _tables(decoded: _core.Decoded) -> FileTables:
    return FileTables(
        tables={table.name: pl.DataFrame(table) for table in decoded.tables},
        findings=tuple(Finding(*finding) for finding in decoded.stats),
        realtime_minus_monotonic_ns=decoded.realtime_minus_monotonic_ns,
    )


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise DecodeError(f"cannot decode {path}: {error}", "the file is damaged, or of another format") from error
