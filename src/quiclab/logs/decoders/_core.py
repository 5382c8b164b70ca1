# SPDX-License-Identifier: Apache-2.0
"""The only importer of the native module: its tables as data frames, its errors as DecodeError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from quiclab import _core
from quiclab.logs.decoders._api import Absent, Context, End, FileTables, Finding, Take
from quiclab.logs.decoders._text import unread

_LARGE_BYTES = 1 << 24
"""Size from which a second thread gains more than it costs: at 6 MB it saves a tenth of the time for a fifth more
processor time, at 1 MB nothing for a half more."""


def decode(format_name: str, path: Path, context: Context, take: Take | None) -> FileTables:
    """Decode `path` as the format of that name; see `Decoder.decode`.

    As many threads may work on a large file as Polars has: one for each processor that this process may use, and a
    single one where `POLARS_MAX_THREADS` says so because trials are being measured.
    """

    def hand_on(table: _core.Table) -> None:
        assert take is not None
        take(table.name, pl.DataFrame(table))

    with _errors(path):
        decoded = _core.decode(
            format_name,
            path,
            context.vantage,
            context.realtime_minus_monotonic_ns,
            context.key_logs,
            hand_on if take else None,
            _threads(path),
        )
    return FileTables(
        tables={table.name: pl.DataFrame(table) for table in decoded.tables},
        findings=tuple(Finding(*finding) for finding in decoded.stats),
        absent=tuple(Absent(*each) for each in decoded.absent),
        dialect=decoded.dialect,
        clock=decoded.clock,
        resolution_ns=decoded.resolution_ns,
        realtime_minus_monotonic_ns=decoded.realtime_minus_monotonic_ns,
    )


def _threads(path: Path) -> int:
    return pl.thread_pool_size() if path.stat().st_size >= _LARGE_BYTES else 1


def head(path: Path, count: int) -> bytes:
    """The first bytes of a file, unpacked if it is compressed. Raises DecodeError."""
    with _errors(path):
        return _core.head(path, count)


def outline(path: Path) -> bytes:
    """The names of a JSON document's members, two levels deep, as JSON: those that tell a format first, wherever they
    stand. Of several records it is the first one's; empty for what is no JSON. Raises DecodeError."""
    with _errors(path):
        return _core.outline(path).encode()


def ciphertexts(path: Path) -> pl.DataFrame:
    """The encrypted datagrams of a capture: `number` in ip_packets and `digest`, as UInt64. Raises DecodeError."""
    with _errors(path):
        return pl.DataFrame(_core.ciphertexts(path))


def netlog_end(path: Path) -> End | None:
    """The end that a NetLog says it is from; None where it does not. Raises DecodeError."""
    with _errors(path):
        return _core.netlog_end(path)


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise unread(path, error) from error
