# SPDX-License-Identifier: Apache-2.0
"""The account of a transfer's time, made from the link's log and the captures."""

from __future__ import annotations

import polars as pl

from quiclab.tables._api import NEVER, Column, Table

ACCOUNT = Table(
    "account",
    "One stretch of the time from the client's first packet to its last byte, in the order of time: the stretches "
    "follow each other without a gap, so that their durations add up to `ttlb_ms`. Only of downloads of one object "
    "over one link; docs/explanation/account.md defines the parts.",
    (
        Column(
            "part", pl.String, "", NEVER,
            "`set_up`, `request`, `busy`, `idle_awaiting`, `idle_awaiting_after_loss`, `idle_unprompted` or "
            "`last_flight`.",
        ),
        Column("from_ns", pl.Int64, "ns", NEVER, "Its beginning, CLOCK_MONOTONIC.", instant=True),
        Column("until_ns", pl.Int64, "ns", NEVER, "Its end, which is the beginning of the next.", instant=True),
        Column(
            "packet_index", pl.UInt32, "", "set-up",
            "Packet towards the client that ends the request or an idle time, begins a busy one, or completes the "
            "response: `index` in link_packets, `direction` `down`.",
        ),
        Column("packets", pl.UInt32, "packets", "not busy", "Packets that the bottleneck served."),
        Column("size_bytes", pl.UInt64, "bytes", "not busy", "Bytes of these packets, IP headers included."),
        Column(
            "prompted_after_ns", pl.Int64, "ns", "not idle, or nothing had reached the server",
            "Time from the last packet that reached the server to the one with which the server ended the idle time.",
        ),
    ),
)  # fmt: skip
