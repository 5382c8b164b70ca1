# SPDX-License-Identifier: Apache-2.0
"""Times at a connection's two ends: the TLS handshake by itself, and the client's closing."""

from __future__ import annotations

import polars as pl

from quiclab.evidence.metrics import quic
from quiclab.evidence.metrics._api import Metric, Noted
from quiclab.evidence.metrics.evidence import CAPTURES, Evidence, Unknown

_FIN_OR_RST = 1 | 4
"""Bits of TCP's flags (RFC 9293 section 3.1)."""
_BOTH = ["down", "up"]


def tls_handshake_ms(evidence: Evidence) -> float:
    """Time from the first connection's ClientHello to the later of its two Finished messages, at the client's end."""
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES), pl.col("vantage") == "client")
    steps = evidence.table("handshake").filter(
        pl.col("source").is_in(captures["source"].to_list()),
        pl.col("transport") == ("quic" if evidence.quic else "tcp"),
        pl.col("step").is_in(["client_hello", "finished"]),
    )
    hello = steps.filter(pl.col("step") == "client_hello").sort("time_ns").head(1)
    if hello.is_empty():
        raise Unknown("the client's capture shows no ClientHello")
    finished = steps.filter(pl.col("step") == "finished", pl.col("connection") == hello["connection"][0])
    first = finished.group_by("direction").agg(pl.col("time_ns").min())
    if sorted(first["direction"].drop_nulls().to_list()) != _BOTH:
        raise Unknown("the first connection's Finished messages are not both seen: the capture was not decrypted, or "
                      "the handshake did not come to its end")  # fmt: skip
    return float(int(first["time_ns"].max()) - int(hello["time_ns"][0])) / 1e6  # type: ignore[arg-type]


def total_request_time_ms(evidence: Evidence) -> float | Noted:
    """Time until the client closed the last of its connections, by packets where they show it."""
    seen_ns = closed_ns(evidence)
    if seen_ns is not None:
        return evidence.since_zero_ms(seen_ns)
    told_ns = evidence.trial.client_close_ns
    if told_ns is None:
        raise Unknown("no packet shows that the client closed, and the client did not say when")
    return Noted(evidence.since_zero_ms(int(told_ns)), "by the client's own word: no packet shows that it closed")


def closed_ns(evidence: Evidence) -> int | None:
    """Return when the client closed the last of its connections; None where no packet shows it."""
    return _quic_closed_ns(evidence) if evidence.quic else _tcp_closed_ns(evidence)


def _tcp_closed_ns(evidence: Evidence) -> int | None:
    sent = evidence.packets("client", "up").filter(pl.col("tcp_flags") & _FIN_OR_RST > 0)
    first = sent.group_by("src_port", "dst").agg(pl.col("time_ns").min())
    return None if first.is_empty() else int(first["time_ns"].max())  # type: ignore[arg-type]


def _quic_closed_ns(evidence: Evidence) -> int | None:
    try:
        frames = quic.quic_packets(evidence, "client", "sent", "frames")
    except Unknown:
        return None
    first = (
        frames.filter(pl.col("frame_type") == "connection_close").group_by("connection").agg(pl.col("time_ns").min())
    )
    return None if first.is_empty() else int(first["time_ns"].max())  # type: ignore[arg-type]


CONNECTION_TIMES = (
    Metric(
        "tls_handshake_ms",
        "time of the TLS handshake",
        "ms",
        "lower",
        "TLS by itself, of the client's first connection: departure of its ClientHello to the later of the two "
        "Finished messages at the client's end, by its decrypted capture (Qin et al. 2023). Over QUIC nothing of the "
        "handshake lies before it; over TCP the SYN's round trip does.",
        tls_handshake_ms,
    ),
    Metric(
        "total_request_time_ms",
        "total request time",
        "ms",
        "lower",
        "First packet of the client to its closing (Liu et al. 2024): TCP's first FIN or RST, QUIC's CONNECTION_CLOSE, "
        "of several connections the last. A client that closes without a packet is taken at its word.",
        total_request_time_ms,
    ),
)
