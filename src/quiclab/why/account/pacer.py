# SPDX-License-Identifier: Apache-2.0
"""Check of a QUIC sender that let time pass of its own accord: did it send at the rate of its pacer, by its own log?

A pacer lets a sender have N × congestion_window / smoothed_rtt, with an N of 1.25 as RFC 9002 section 7.7 has it. A
sender that leaves the window open and sends at this very rate is held back by its pacer: were its program slower, its
rate would be lower, and a program without a pacer would have no reason to follow its window.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.critical_path import Path
from quiclab.why.account.edges import Edge, Reason
from quiclab.why.account.series import Steps, steps

_GAIN = 1.25
_NEAR = 0.1
"""Tolerance around that rate. Pacers let a packet go a timer's step late, and make up for it later."""
_FEWEST = 8
"""Packets below which nothing is said of a rate: the first of them may be the burst that a pacer allows."""
_AT_SENDER = (What.SERVER, What.CLIENT)
_PACED = Reason(Why.PACING, "transport_metrics")


def told_by_rate(evidence: Evidence, path: Path, edges: Iterable[Edge]) -> list[Edge]:
    """The edges, those of `pacing_or_program` as `pacing` where the sender's log shows that it sent at its pacer's
    rate."""
    own = pl.col("vantage") == evidence.sender, ~pl.col("estimate"), pl.col("transport") == "quic"
    rows = evidence.table("transport_metrics").filter(*own)
    window, trip_ms = steps(rows, "cwnd_bytes"), steps(rows, "smoothed_rtt_ms")
    found = list(edges)
    for run in _runs(found, trip_ms):
        if _at_the_rate(path, found[run[0]].until_ns, found[run[-1]].until_ns, window, trip_ms):
            for at in run:
                found[at] = replace(found[at], reason=_PACED)
    return found


def _runs(edges: Sequence[Edge], trip_ms: Steps[int]) -> list[list[int]]:
    """Places of undecided waits at the sender, in rows in which nothing else holds it back between them: another wait
    ends a row, as does a link that is busy for a round trip."""
    found: list[list[int]] = [[]]
    for at, edge in enumerate(edges):
        trip = trip_ms.by(edge.until_ns)
        if edge.reason.why is Why.PACING_OR_PROGRAM and edge.what in _AT_SENDER:
            found[-1].append(at)
        elif edge.reason.why is not Why.LINK_BUSY or trip is None or edge.length_ns >= trip * 1e6:
            found.append([])
    return [run for run in found if run]


def _at_the_rate(path: Path, from_ns: int, until_ns: int, window: Steps[int], trip_ms: Steps[int]) -> bool:
    """True if a pacer at RFC 9002 §7.7's rate needs the whole interval for what was sent in it."""
    ahead = path.ahead
    allowed_ns, packets = 0.0, 0
    for position in range(bisect_left(ahead.arrival, from_ns), bisect_left(ahead.arrival, until_ns)):
        content = path.content(ahead, position)
        if content is not None and content.what is What.ACKNOWLEDGMENTS:
            continue
        bytes_, trip = window.by(ahead.arrival[position]), trip_ms.by(ahead.arrival[position])
        if not bytes_ or trip is None:
            return False
        allowed_ns += ahead.size[position] * trip * 1e6 / (_GAIN * bytes_)
        packets += 1
    return packets >= _FEWEST and abs(until_ns - from_ns - allowed_ns) <= _NEAR * allowed_ns
