# SPDX-License-Identifier: Apache-2.0
"""The share of a transfer in which its sender had nothing to send, by its own log (Kakhki 2017, Figure 13)."""

from __future__ import annotations

import polars as pl

from quiclab.evidence.metrics._api import Metric
from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.evidence.metrics.times import last_byte_ns

_STATE = "application_limited"


def _application_limited_pct(evidence: Evidence) -> float:
    """Per cent of the time from the client's first packet to the last byte."""
    states = evidence.table("cc_states").filter(
        pl.col("vantage") == evidence.sender, ~pl.col("estimate"), pl.col("time_ns").is_not_null()
    )
    if states.is_empty():
        raise Unknown(f"no log of the {evidence.sender} names the states of its congestion control")
    connections = states.select("source", "connection").n_unique()
    if connections > 1:
        raise Unknown(f"the {evidence.sender}'s log has {connections} connections in this trial")
    from_ns, until_ns = evidence.zero_ns, last_byte_ns(evidence)
    spans = states.sort("time_ns", maintain_order=True).select(
        "new_state",
        begin=pl.col("time_ns").clip(from_ns, until_ns),
        end=pl.col("time_ns").shift(-1).fill_null(until_ns).clip(from_ns, until_ns),
    )
    spent = spans.filter(new_state=_STATE).select((pl.col("end") - pl.col("begin")).sum()).item()
    return 100.0 * int(spent) / (until_ns - from_ns)


STATES = (
    Metric(
        "application_limited_pct",
        "time in which the sender had nothing to send",
        "%",
        "none",
        "Share of the time from the client's first packet to the last byte in which the log of the bodies' sender says "
        "that its congestion control was application-limited: the window had room, and the program gave it nothing "
        "(RFC 9002 section 7.8). Programs draw the line in their own ways, so compare arms of one program.",
        _application_limited_pct,
    ),
)
