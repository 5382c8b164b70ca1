# SPDX-License-Identifier: Apache-2.0
"""Tables made from other tables, and the decoders' own account."""

from __future__ import annotations

import polars as pl

from quiclab.tables._api import NEVER, Column, Table

DECODE_STATS = Table(
    "decode_stats",
    "One kind of finding in one file: everything that did not become a row, and what readers of the rows should know.",
    (
        Column("source", pl.String, "", NEVER, "The file, relative to the trial."),
        Column("name", pl.String, "", NEVER, "The kind of finding."),
        Column("severity", pl.String, "", NEVER, "`info`, `notice`, `data_loss` (rows are missing) or `error`."),
        Column("count", pl.UInt64, "", NEVER, "How often it was met."),
        Column("advice", pl.String, "", NEVER, "What the reader can do, or should know."),
    ),
)

BYTES_ACKNOWLEDGED = Table(
    "bytes_acknowledged",
    "One acknowledgment that the client sends, as in Figure 7 of Yu and Benson 2021.",
    (
        Column("x_ms", pl.Float64, "ms", NEVER, "Since the client's first packet."),
        Column(
            "bytes", pl.UInt64, "bytes", NEVER,
            "Distinct payload bytes of the server acknowledged so far. TCP: cumulative and SACK, TLS records and "
            "HTTP/2 frames included. QUIC: STREAM data of the request streams in acknowledged packets, each "
            "offset once.",
        ),
    ),
)  # fmt: skip
