# SPDX-License-Identifier: Apache-2.0
"""The queue of the sender's link: whose packets filled it when it dropped one, and how long it was."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache

import polars as pl

from quiclab.why.mechanisms._trial import Trial

_MOST_OTHERS = 0.5
"""Share of a queue from which on it counts as filled by others."""


def others_share(trial: Trial, packet: int) -> float | None:
    """Share of other flows' packets among those that were in the queue when one came to it; None where it was empty."""
    rows = trial.ahead
    index: list[int] = rows["index"].to_list()
    at = index.index(packet) if packet in trial.fate else len(index)
    if at == len(index):
        return None
    arrival_ns = rows["arrival_ns"][at]
    before = rows.slice(max(0, at - 4096), min(at, 4096)).filter(
        pl.col("action") == "delivered", pl.col("left_ns") > arrival_ns
    )
    sizes = before.select("index", "size_bytes").rows()
    total = sum(size for _, size in sizes)
    return sum(size for number, size in sizes if number not in trial.own) / total if total else None


@lru_cache(maxsize=1)
def filled_by_others(trial: Trial) -> frozenset[int]:
    """Packets of events that were dropped while mostly others' packets filled the queue."""
    events = set(trial.account["event_packet"].drop_nulls().unique().to_list())
    if trial.ahead.filter(~pl.col("index").is_in(list(trial.own))).is_empty():
        return frozenset()
    shares = {packet: others_share(trial, packet) for packet in events if trial.fate.get(packet)}
    return frozenset(packet for packet, share in shares.items() if share is not None and share >= _MOST_OTHERS)


def standing_ms(trial: Trial, from_ns: int, until_ns: int) -> float:
    """The longest wait in ms in the queue of the sender's link among packets that came to it within a time."""
    rows = trial.ahead
    arrivals: list[int] = rows["arrival_ns"].to_list()
    first, end = bisect_left(arrivals, from_ns), bisect_left(arrivals, until_ns)
    waits = rows.slice(first, end - first).select(pl.col("left_ns") - pl.col("arrival_ns") - pl.col("service_ns"))
    longest = waits.to_series().max() if waits.height else None
    return max(0.0, float(longest) / 1e6) if isinstance(longest, int) else 0.0
