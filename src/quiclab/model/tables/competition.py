# SPDX-License-Identifier: Apache-2.0
"""Several flows at one link: what each got, over time and in total. Made from other tables."""

from __future__ import annotations

import polars as pl

from quiclab.model.tables._api import NEVER, Column, Table

_FLOW = Column("flow", pl.String, "", NEVER, "`measured`, or the label of another flow: `h2-1`, `udp-1`.")

FLOW_THROUGHPUT = Table(
    "flow_throughput",
    "What arrived of one flow at the client's end of the link in one step of 100 ms: a row for every step of every "
    "flow, from the beginning of the competition to its end.",
    (
        _FLOW,
        Column("time_ms", pl.Float64, "ms", NEVER, "End of the step, counted from the start of the competition."),
        Column("bytes", pl.UInt64, "bytes", NEVER, "IP packets from the flow's server."),
    ),
)

_COMMON = "while all downloads ran"
FLOWS = Table(
    "flows",
    "One flow of a competition. Downloads are the measured flow and its competitors; background "
    "traffic is not a download.",
    (
        _FLOW,
        Column("arm", pl.String, "", "background traffic", "The arm whose programs the flow has."),
        Column("background", pl.String, "", "a download", "`udp`, `on_off` or `short_flows`."),
        Column("protocol", pl.String, "", NEVER, "`h2` or `h3`; for background traffic `tcp` or `udp`."),
        Column(
            "started_ms", pl.Float64, "ms", NEVER,
            "Time of its client's request, counted from the start of the competition.",
        ),
        Column(
            "throughput_bit_per_s", pl.Float64, "bit/s", "no time in common",
            f"IP packets from its server that arrived at the client's end {_COMMON}.",
        ),
        Column("share_pct", pl.Float64, "%", "background traffic", "Its share of what all downloads got in that time."),
        Column(
            "goodput_bit_per_s", pl.Float64, "bit/s", "neither TCP nor a QUIC connection that can be read",
            f"Payload of TCP, or STREAM data of QUIC's request streams, that arrived for the first time {_COMMON}.",
        ),
        Column(
            "packets_down", pl.UInt64, "packets", NEVER,
            "Packets that its server sent into the link, over the whole competition.",
        ),
        Column(
            "lost_packets_down", pl.UInt64, "packets", NEVER,
            "Number of these that the link dropped, for any reason.",
        ),
        Column("loss_down_pct", pl.Float64, "%", "nothing was sent", "Share of these that the link dropped."),
        Column(
            "retransmitted_bytes", pl.Float64, "bytes", "background traffic, or QUIC that cannot be read",
            "The metric of that name, of this flow.",
        ),
        Column(
            "rtt_mean_ms", pl.Float64, "ms", "no sender's log or capture tells it",
            f"Mean of the samples of the round-trip time at its server {_COMMON}.",
        ),
    ),
)  # fmt: skip
