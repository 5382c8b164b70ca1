# SPDX-License-Identifier: Apache-2.0
"""Packets that came over the whole path and were then thrown away where they arrived."""

from __future__ import annotations

import polars as pl

from quiclab.evidence.metrics._api import Metric, Noted
from quiclab.evidence.metrics.evidence import End, Evidence, Unknown

_FULL = ("rejected", "dos_prevention")
"""Reasons of the qlog drafts for dropping a packet that mean a limit of the program's own, such as quic-go's queue."""
_LOGS = ("qlog",)


def _refused_packets(evidence: Evidence, end: End) -> float | Noted:
    """Packets refused at one end, by the kernel's counter and the program's own log."""
    if not evidence.quic:
        raise Unknown("over TCP the receive window keeps the sender from sending more than there is room for")
    counters = evidence.trial.host.counters.get(end)
    if counters is None:
        raise Unknown(f"nobody looked at the counters of the {end}'s network namespace")
    by_kernel = int(counters.get("UdpRcvbufErrors", 0))
    sources = evidence.table("sources").filter(pl.col("vantage") == end, pl.col("format").is_in(_LOGS))
    if sources.is_empty():
        return Noted(by_kernel, f"by the kernel alone: the {end} left no qlog")
    refused = evidence.table("packets").filter(
        pl.col("source").is_in(sources["source"].to_list()),
        pl.col("event") == "dropped",
        pl.col("trigger").is_in(_FULL),
    )
    return float(by_kernel + refused.height)


def _metric(end: End) -> Metric:
    return Metric(
        f"{end}_refused_packets",
        f"packets refused at the {end}",
        "packets",
        "lower",
        f"QUIC packets that came to the {end} and that nobody there took: dropped by the kernel because the receive "
        "buffer of the UDP socket was full (`UdpRcvbufErrors`, RFC 4113), or, by its qlog, by the program because its "
        "own queue was (`rejected`, `dos_prevention`). No path lost them; the sender takes them for congestion.",
        lambda evidence: _refused_packets(evidence, end),
    )


REFUSED = (_metric("client"), _metric("server"))
