# SPDX-License-Identifier: Apache-2.0
"""NetLog, the log of Chromium's network stack."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from quiclab.logs.decoders import _core
from quiclab.logs.decoders._api import Context, FileTables, Take

_OTHER = {"up": "down", "down": "up", "client": "server", "server": "client"}
_OTHER_OWNER = {".client.": ".server.", ".server.": ".client."}


class NetLog:
    """Log of one browser, or of a server on Chromium's stack: QUIC and HTTP/2 sessions, and the requests that use them;
    truncated ones too."""

    format = "netlog"
    versions = ("1",)
    tables = (
        *("packets", "frames", "acks", "streams", "losses", "flow_control", "handshake", "parameters"),
        *("http_requests", "http_frames"),
    )
    clock = "CLOCK_MONOTONIC of the machine that ran the browser, in whole milliseconds (packets sent: microseconds)."

    def sniff(self, head: bytes) -> bool:
        """True if the constants come first, as Chromium writes them and outlines show them."""
        return head.lstrip()[:16].replace(b" ", b"").startswith(b'{"constants":{') and any(
            name in head for name in (b'"activeFieldTrialGroups"', b'"addressFamily"', b'"logEventTypes"')
        )

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """Decode all sessions and requests, in the order of the log; a sum is placed where what it sums up ends.

        What the log does not say of its end, the caller does: a client without a word from either.
        """
        end = _core.netlog_end(path) or context.vantage or "client"
        if end == "client":
            return _core.decode("netlog", path, context, take)
        file = _core.decode("netlog", path, context, take and (lambda name, rows: take(name, _mirrored(rows))))
        return replace(file, tables={name: _mirrored(rows) for name, rows in file.tables.items()})


def _mirrored(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows that were read as a client's, as those of a server: what it sent went down, and what it got came up."""
    names = {name: _other_way(name) for name in rows.columns}
    texts = [name for name in ("vantage", "direction") if name in rows.columns]
    swapped = [pl.col(name).replace(_OTHER) for name in texts]
    if {"name", "value"} <= set(rows.columns):
        swapped.append(pl.col("name").str.replace_many(_OTHER_OWNER))
    return rows.with_columns(swapped).rename(names).select(rows.columns)


def _other_way(column: str) -> str:
    way, _, rest = column.partition("_")
    return f"{_OTHER[way]}_{rest}" if way in ("up", "down") else column
