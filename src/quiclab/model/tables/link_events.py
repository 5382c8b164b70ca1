# SPDX-License-Identifier: Apache-2.0
"""Tables about links that are not quiclab's own."""

from __future__ import annotations

import polars as pl

from quiclab.model.tables._api import NEVER, Column, log_table
from quiclab.model.tables._common import TIME

LINK_EVENTS = log_table(
    "link_events",
    "One event of a link that Mahimahi emulates; for quiclab's own link the table link_packets has more.",
    TIME,
    Column("direction", pl.String, "", "the log does not say", "`up` from client to server, or `down`."),
    Column(
        "event", pl.String, "", NEVER,
        "`opportunity` (so many bytes may leave), `arrival`, `departure` or `drop` of packets.",
    ),
    Column("packets", pl.UInt32, "packets", "an opportunity", "How many packets it is about."),
    Column("size_bytes", pl.UInt64, "bytes", NEVER, "Length of the packets, or what the opportunity allows."),
    Column("delay_ns", pl.Int64, "ns", "no departure", "Time from arrival to departure."),
)  # fmt: skip
