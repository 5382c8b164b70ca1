# SPDX-License-Identifier: Apache-2.0
"""The fate of every packet on the emulated link: the ground truth of a trial."""

from __future__ import annotations

import polars as pl

from quiclab.model.tables._api import LEFT, NEVER, Column, log_table

LINK_PACKETS = log_table(
    "link_packets",
    "One packet that reached a link, and one more for every duplicate that the link made; in the order of decision. "
    "Each link of a path has a file of its own (`source`).",
        Column("direction", pl.String, "", NEVER, "`up` from client to server, `down` from server to client."),
        Column("index", pl.UInt32, "", "outside the model", "Counts the packets of one direction from 0."),
        Column("arrival_ns", pl.Int64, "ns", NEVER, "Instant at which the packet reached the link.", instant=True),
        Column(
            "due_ns", pl.Int64, "ns", "dropped", "When the model lets its last bit reach the far end.", instant=True
        ),
        Column("lateness_ns", pl.Int32, "ns", "not written", "When it was really written, less `due_ns`."),
        Column("size_bytes", pl.UInt16, "bytes", NEVER, "Length of the IP packet."),
        Column("queue_bytes", pl.UInt32, "bytes", NEVER, "Bottleneck queue just before it, in service included."),
        Column("queue_packets", pl.UInt16, "packets", NEVER, "The same queue in packets."),
        Column("service_ns", pl.UInt32, "ns", NEVER, "Time to serialise it at the bottleneck; 0 where no rate is set."),
        LEFT,
        Column("flow", pl.UInt32, "", NEVER, "Hash of addresses, ports and protocol."),
        Column("source_burst", pl.UInt32, "", NEVER, "Number of its super-packet, the same on each link to a proxy."),
        Column(
            "action", pl.String, "", NEVER,
            "`delivered`, `dropped`, `outside_model` (neighbour discovery and the like; what a proxy "
            "fetched before the transfer), or `inside_at_end`.",
        ),
        Column("reason", pl.String, "", "not dropped", "Why: a name in link-config.md, Reasons for drops."),
        Column("duplicate", pl.Boolean, "", NEVER, "A copy that the link made."),
        Column("corrupted", pl.Boolean, "", NEVER, "The link flipped bits of it."),
        Column("reordered", pl.Boolean, "", NEVER, "The link let others overtake it on purpose."),
        Column("ecn_ce", pl.Boolean, "", NEVER, "The link marked it Congestion Experienced (RFC 3168)."),
        Column("oversized", pl.Boolean, "", NEVER, "Longer than the MTU."),
)  # fmt: skip
