# SPDX-License-Identifier: Apache-2.0
"""Loss of an account by captures of headers: how much of HTTP/2's credit is used.

Sizes, times, sequence numbers and small packets are whole in them, so that all else of an account over TCP is there; of
QUIC the endpoints' logs tell the rest. But what is used of a window of HTTP/2 stands in encrypted frames. To the kernel
a server that waits for such credit looks like one whose program has nothing to send.
"""

from __future__ import annotations

import polars as pl

from quiclab.evidence.metrics import Evidence

CUT = ("cut_packet", "http2_gap", "gap_in_capture")
"""Findings about a capture whose packets were cut: of QUIC, and of TLS over TCP."""


def hides_credit(evidence: Evidence) -> bool:
    """True if nothing shows how much of HTTP/2's credit the sender had used."""
    rows = evidence.table("decode_stats").filter(pl.col("name").is_in(CUT))
    return not evidence.quic and rows.height > 0
