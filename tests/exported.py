# SPDX-License-Identifier: Apache-2.0
"""Logs to tables to files of other tools, as `quiclab export` does it, for tests that look at either."""

from __future__ import annotations

import lzma
import tarfile
from pathlib import Path

import polars as pl

from quiclab.logs.decoders import ParquetParts, decode_files, find, finished
from quiclab.model.tables import TABLES

CAPTURES = Path(__file__).parent / "unit" / "logs" / "exports" / "captures"
QLOGS = sorted((Path(__file__).parent / "decoders" / "qlog").glob("*.gz"))
THREE_QLOGS = [path for path in QLOGS if "-100kb" in path.name]
"""Of two connections: both ends of one, the client of another."""
STACKS = ("quic-go", "ngtcp2", "quiche", "quinn")


def unpack(name: str, folder: Path) -> Path:
    """The capture and the key log of one trial; a NetLog where `name` is that."""
    if name == "netlog":
        path = folder / "client-netlog.json"
        path.write_bytes(lzma.decompress((CAPTURES / "chromium-netlog.json.xz").read_bytes()))
        return path
    with tarfile.open(CAPTURES / f"{name}.tar.xz") as archive:
        # Python 3.11.2, Debian 12's own, has no filters yet; the archive is ours.
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return folder


def decode_to(folder: Path, *logs: Path) -> Path:
    """A folder of tables, of files or of folders."""
    files = [each for log in logs for each in (sorted(log.iterdir()) if log.is_dir() else [log])]
    sink = ParquetParts(folder / ".parts")
    account = decode_files(find((path, path.name) for path in files), sink)
    for name, table in TABLES.items():
        if table.from_logs and sink.rows(name):
            finished(name, sink, account).sink_parquet(folder / f"{name}.parquet")
    for name, rows in account.tables().items():
        rows.write_parquet(folder / f"{name}.parquet")
    return folder


def rows(folder: Path, name: str) -> pl.DataFrame:
    """A table of a folder; one without a file has no rows."""
    path = folder / f"{name}.parquet"
    return pl.read_parquet(path) if path.exists() else TABLES[name].empty()
