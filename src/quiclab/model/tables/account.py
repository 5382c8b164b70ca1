# SPDX-License-Identifier: Apache-2.0
"""The account of a transfer's time, made from the link's log, the captures and the endpoints' logs."""

from __future__ import annotations

import polars as pl

from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.model.tables._api import NEVER, Column, Table

_ONLY = "Of pages, downloads and uploads of objects, and videos; docs/explanation/account.md defines the labels."
_OF = Column(
    "of", pl.String, "", NEVER,
    "What the account is of: `ttlb`, the transfer; `page`, its load; of a video `start_up`, and `stall 1`, `stall 2` "
    "and so on.",
)  # fmt: skip
_WHAT = Column(
    "what", pl.String, "", NEVER, f"Activity that passes the time: {', '.join(f'`{each}`' for each in What)}.",
)  # fmt: skip
_WHYS = [f"`{each}`" for each in Why if each is not Why.SET_UP]
"""Reasons that a row can have; the handshake round trips are summed up only where two arms are compared."""
_WHY = Column("why", pl.String, "", NEVER, f"Reason why the sender had not sent earlier: {', '.join(_WHYS)}.")
_EVIDENCE = Column("evidence", pl.String, "", NEVER, "The table that decided `why`.")
_MECHANISM = Column(
    "mechanism", pl.String, "", "no mechanism accounts for it",
    "The mechanism whose time it is: docs/reference/causes.md describes each.",
)  # fmt: skip

ACCOUNT = Table(
    "account",
    "One edge of the critical path of a transfer, in the order of time: the edges follow each other without a gap from "
    "the client's first packet to its last byte, so that their durations add up to `ttlb_ms`; of an upload all but "
    "`answer` add up to `upload_ms`. Of a page they go from navigation start to the load event, and add up to "
    "`plt_ms`. Of a video there is one account of its start-up, which adds up to `startup_ms`, "
    "and one of each stall of the network, which add up to `stall_ms`. " + _ONLY,
    (
        _OF,
        _WHAT,
        _WHY,
        Column("from_ns", pl.Int64, "ns", NEVER, "Its beginning, CLOCK_MONOTONIC.", instant=True),
        Column("until_ns", pl.Int64, "ns", NEVER, "Its end, which is the beginning of the next.", instant=True),
        Column("direction", pl.String, "", "no packet", "Direction of the packet: `up` or `down`."),
        Column(
            "packet_index", pl.UInt32, "", "no packet",
            "The packet that is on its way, that is served first, or that is sent at the end: `index` in link_packets.",
        ),
        Column("link", pl.String, "", "no packet", "Log of the link with that packet: `source` in link_packets."),
        Column("packets", pl.UInt32, "packets", "no service", "Packets that the link served."),
        Column(
            "size_bytes", pl.UInt64, "bytes", "no service",
            "Bytes of these packets that belong to `what`; those of `payload` or `other_object` and its `headers` add "
            "up to their size.",
        ),
        Column(
            "prompted_after_ns", pl.Int64, "ns", "the bottleneck is busy, or nothing had reached the sender",
            "Time from the last packet that reached the sender to the one with which it ended the idle time.",
        ),
        _EVIDENCE,
        Column(
            "event_ns", pl.Int64, "ns", "none of these, or the log has no event",
            "Instant of the event that last tightened the window (the loss, or the end of slow start), or of the "
            "change of address.", instant=True,
        ),
        Column(
            "event_packet", pl.UInt32, "", "no loss, or not found in the link's log",
            "The packet that was lost then: `index` in link_packets, in the direction of the bodies, of the sender's "
            "link.",
        ),
        _MECHANISM,
        Column(
            "object", pl.String, "", "no page or video, or nothing of it was asked for yet",
            "What was waited for, or asked for: the URL of an object of a page, or of several over several "
            "connections; the file of a video, which is its manifest, a segment of one quality, or all.",
        ),
        Column(
            "origin_why", pl.String, "", "not behind a proxy, or no sample of the origin's TCP shows it",
            "Behind a proxy: why the origin had not sent earlier, a label of `why`.",
        ),
    ),
)  # fmt: skip

ACCOUNT_TOTALS = Table(
    "account_totals",
    "The sum of all edges of one account with the same labels, evidence and mechanism. " + _ONLY,
    (
        _OF,
        _WHY,
        _WHAT,
        _EVIDENCE,
        _MECHANISM,
        Column("total_ns", pl.Int64, "ns", NEVER, "Their duration."),
        Column("edges", pl.UInt32, "", NEVER, "Their number."),
        Column("size_bytes", pl.UInt64, "bytes", NEVER, "Bytes that the bottleneck served in them."),
    ),
)

MECHANISM_FACTS = Table(
    "mechanism_facts",
    "One number that a trial shows of a mechanism with time in its account, or what speaks against one.",
    (
        Column("mechanism", pl.String, "", NEVER, "The mechanism (docs/reference/causes.md); `trial`: of the whole."),
        Column("fact", pl.String, "", NEVER, "`time`, `waits`, a number of the mechanism's own, or `against`."),
        Column("value", pl.Float64, "", "`against`", "The number, in `unit`."),
        Column("unit", pl.String, "", NEVER, "Unit of `value`; empty of counts."),
        Column("told", pl.String, "", NEVER, "Of `against`: the sentence; else empty."),
    ),
)

PREDICTED_EFFECTS = Table(
    "predicted_effects",
    "Time by which one transfer would be shorter without a mechanism, by its own records: its graph evaluated again "
    "without what the mechanism keeps back (docs/explanation/prediction.md). Of downloads and uploads over one "
    "connection without a proxy, and of mechanisms whose waits follow from limits, timers and programs alone.",
    (
        _OF,
        Column("mechanism", pl.String, "", NEVER, "The mechanism that is not there."),
        Column(
            "also_without", pl.String, "", "only `mechanism` is not there",
            "A second mechanism that is not there: the limit that would hold next.",
        ),
        Column("least_ns", pl.Int64, "ns", NEVER, "Least time by which the transfer would be shorter."),
        Column("most_ns", pl.Int64, "ns", NEVER, "Most time by which it would be."),
        Column(
            "next_why", pl.String, "", "none would, or two are not there",
            "Limit that would hold next, a label of `why` in account.",
        ),
        Column("next_ns", pl.Int64, "ns", NEVER, "Time by which that would keep the sender back for longer; else 0."),
    ),
)  # fmt: skip
