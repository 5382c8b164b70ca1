# SPDX-License-Identifier: Apache-2.0
"""Evidence for why the origin behind a proxy had not sent earlier: the samples of its kernel's TCP."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from quiclab.accounting.edges import PROMPT_NS
from quiclab.accounting.kernel import Kernel, kernel
from quiclab.accounting.walk import Leg, Path
from quiclab.accounting.why import Why
from quiclab.metrics import Evidence

HEADERS_BYTES = 100
"""Longest TCP acknowledgment over IPv6, with timestamps and three blocks of SACK: what is longer carries data."""
_SAMPLES = "raw/origin.tcpinfo"
_MOST = 0.9
"""Share of the segments of all connections that one must have sent to be that of the transfer."""


@dataclass(frozen=True)
class OriginSender:
    """An origin that sends over TCP."""

    kernel: Kernel
    hidden_credit: bool
    """Whether it may wait for credit of HTTP/2, which nothing shows."""

    def why(self, path: Path, leg: Leg) -> Why | None:
        """Why what it sent at a leg's end came no earlier; None where no sample tells."""
        came = path.up.last_came(leg.sent_ns)
        if came is not None and path.up.size[came] > HEADERS_BYTES:
            return Why.REQUEST
        from_ns = min((edge.from_ns for edge in leg.edges), default=leg.sent_ns)
        limited = self.kernel.limited(from_ns, leg.sent_ns)
        if limited is not None:
            return limited
        had_data = self.kernel.had_data(from_ns, leg.sent_ns)
        if had_data is None:
            return None
        came_ns = None if came is None else path.up.written[came]
        prompted = came_ns is not None and leg.sent_ns - came_ns <= PROMPT_NS
        calm = all(sample.ca_state == "open" for sample in self.kernel.near(from_ns, leg.sent_ns))
        if calm and self.kernel.free(from_ns, leg.sent_ns):  # in recovery it may be a segment that is sent again
            return Why.PACING
        if had_data:  # without an acknowledgment it was a timer, of losses or of pacing
            return self.kernel.history.reason(leg.sent_ns).why if prompted else None
        return Why.AWAITING_ACKS if prompted and self.hidden_credit else Why.APPLICATION


def origin_sender(evidence: Evidence) -> OriginSender | None:
    """The origin of a trial's proxy by its samples; None without any, or where several connections share the bodies."""
    rows = evidence.table("tcp_info").filter(pl.col("source") == _SAMPLES)
    sent = rows.group_by("connection").agg(pl.col("data_segs_out").max())["data_segs_out"]
    segments: list[int] = sent.drop_nulls().to_list()
    if evidence.upload or not segments or max(segments) < _MOST * sum(segments):
        return None
    tables = {"tcp_info": rows.with_columns(vantage=pl.lit("server"))}
    trial = evidence.trial
    return OriginSender(kernel(Evidence(tables, trial)), trial["proxy"]["origin_protocol"] != "h1")
