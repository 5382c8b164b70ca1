# SPDX-License-Identifier: Apache-2.0
"""Evidence for why the origin behind a proxy had not sent earlier: the samples of its kernel's TCP."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.model.cause import Why
from quiclab.why.account.critical_path import Leg, Path
from quiclab.why.account.edges import PROMPT_NS
from quiclab.why.account.forward_path import Way
from quiclab.why.account.kernel import Kernel, kernel

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
    """True if it may wait for credit of HTTP/2, which nothing shows."""

    def why(self, path: Path, leg: Leg) -> Why | None:
        """Reason why a packet that it sent at a leg's end came no earlier; None where no sample tells."""
        came = path.up.last_came(leg.sent_ns)
        if came is not None and path.up.size[came] > HEADERS_BYTES:
            return Why.REQUEST
        if answers_to(path, leg.position, self) is not None:
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
            return Why.PACING if self.kernel.paces else Why.KEPT_IN_KERNEL
        if had_data:  # without an acknowledgment it was a timer, of losses or of pacing
            return self.kernel.history.reason(leg.sent_ns).why if prompted else None
        return Why.AWAITING_ACKS if prompted and self.hidden_credit else Why.APPLICATION


def last_with_data(way: Way, by_ns: int) -> int | None:
    """Position of the last packet with data that had come to the end of a way by an instant; None without one."""
    came = (way.came[number] for number in reversed(range(way.number_by(by_ns))))
    return next((at for at in came if way.size[at] > HEADERS_BYTES), None)


def answers_to(path: Path, position: int, own: OriginSender | None) -> int | None:
    """Position up of the request for which an origin thought before it sent the packet at a position down, while others
    came; None where that is no answer's first packet, or the kernel had kept it until the last of them came."""
    sent_ns, down = path.down.arrival[position], path.down
    asked, came = last_with_data(path.up, sent_ns), path.up.last_came(sent_ns)
    if asked is None or asked == came or came is None or down.size[position] <= HEADERS_BYTES:
        return None
    asked_ns, came_ns = path.up.written[asked] or 0, path.up.written[came] or 0
    since = range(bisect_left(down.arrival, asked_ns), position)
    if any(down.size[at] > HEADERS_BYTES for at in since):
        return None
    kept = own is not None and sent_ns - came_ns <= PROMPT_NS and own.kernel.kept(asked_ns, came_ns)
    return None if kept else asked


def origin_sender(evidence: Evidence) -> OriginSender | None:
    """The origin of a trial's proxy by its samples; None without any, or where several connections share the bodies."""
    rows = evidence.table("tcp_info").filter(pl.col("source") == _SAMPLES)
    sent = rows.group_by("connection").agg(pl.col("data_segs_out").max())["data_segs_out"]
    segments: list[int] = sent.drop_nulls().to_list()
    if evidence.upload or not segments or max(segments) < _MOST * sum(segments):
        return None
    tables = {"tcp_info": rows.with_columns(vantage=pl.lit("server"))}
    trial = evidence.trial
    return OriginSender(kernel(Evidence(tables, trial)), trial.proxy is None or trial.proxy.origin_protocol != "h1")
