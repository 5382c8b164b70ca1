# SPDX-License-Identifier: Apache-2.0
"""Pacing: the sender spreads its packets over time, by its own word or by its kernel's samples."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from statistics import median

import polars as pl

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting, settings_of_both_transports
from quiclab.why.mechanisms._trial import Trial

_AT_ONCE_NS = 200_000
"""Time between packets that leave at once."""
_NEAR_NS = 50_000
"""Distance of a wait's end from the packet that ends it, as a link's log rounds them."""


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.PACING)
    if not edges.any():
        return Claim(edges)
    return Claim(edges, (Fact("gaps", trial.waits(edges), ""), *_bursts(trial, edges)))


def _bursts(trial: Trial, edges: pl.Series) -> tuple[Fact, ...]:
    """Packets that the pacer lets go at once, and the time from one such burst to the next, by their medians over the
    bursts that end a wait: large bursts and long times are those of a coarse timer. None where no packet is known."""
    rows = trial.ahead.filter(pl.col("index").is_in(list(trial.own)))
    at_ns: list[int] = rows["arrival_ns"].sort().to_list()
    sizes, intervals_ns = [], []
    for _, end_ns in trial.times(edges):
        first = bisect_left(at_ns, end_ns - _NEAR_NS)
        before = _begin(at_ns, first - 1)
        if first == len(at_ns) or before is None or at_ns[first] > end_ns + _NEAR_NS:
            continue
        after = first + 1
        while after < len(at_ns) and at_ns[after] - at_ns[after - 1] <= _AT_ONCE_NS:
            after += 1
        sizes.append(after - first)
        intervals_ns.append(at_ns[first] - at_ns[before])
    if not sizes:
        return ()
    return (
        Fact("packets_at_once", float(median(sizes)), "packets"),
        Fact("from_burst_to_burst", median(intervals_ns) / 1e6, "ms"),
    )


def _begin(at_ns: Sequence[int], last: int) -> int | None:
    """Place of the first packet of the burst that one ends; None where there is none."""
    if last < 0:
        return None
    while last and at_ns[last] - at_ns[last - 1] <= _AT_ONCE_NS:
        last -= 1
    return last


PACING = Mechanism(
    "pacing",
    "pacing",
    Family.PROGRAMS,
    "The sender spreads its packets over the round trip so as not to fill queues. Where it paces more slowly than the "
    "path carries, the link runs idle between its packets.",
    "Waits of which the sender's log says that it paces, or in which TCP's kernel has bytes to send and leaves more "
    "than a third of its window free, of a socket that can pace: by BBR, by a limit of its rate, or by fq below it. "
    "Without a log of a QUIC sender: waits at its pacer's rate, or at even intervals between full packets.",
    Level.E0,
    "RFC 9002 section 7.7; neqo issues 3640 and 3760",
    _claim,
    (
        Rival("application", "the sender's log says that there is nothing to send"),
        Rival("slow_start", "an acknowledgment ends the wait, and the window is full"),
        Rival("nagle", "less than a full segment waits for the acknowledgment of the small one before it"),
        Rival("cork", "the socket cannot pace, and less than a full segment waits"),
    ),
    (
        *settings_of_both_transports(
            "pacing",
            value=False,
            gain="Packets leave as soon as the window allows.",
            also_changes=("bursts may overflow a short queue",),
        ),
        Setting(
            "sender",
            "initial_window",
            32,
            "The first round trip is paced over a larger window.",
            ("slow start begins higher",),
            (10, 16, 32),
        ),
    ),
    reasons=(Why.PACING,),
)
