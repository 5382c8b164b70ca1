# SPDX-License-Identifier: Apache-2.0
"""Drops of links in both directions while a sender waited for a timer."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import lru_cache

import polars as pl

from quiclab.evidence.metrics.evidence import Direction
from quiclab.why.mechanisms._course import at_sender, course
from quiclab.why.mechanisms._trial import Trial


@dataclass(frozen=True)
class _Packets:
    """Packets of one end as they came to its link, in the order of time."""

    at_ns: list[int]
    dropped: list[bool]

    def between(self, from_ns: int, until_ns: int) -> list[bool]:
        """True for each packet that came to the link within a time and was dropped."""
        return self.dropped[bisect_left(self.at_ns, from_ns) : bisect_right(self.at_ns, until_ns)]

    def last(self, time_ns: int) -> bool | None:
        """True if the last packet by an instant was dropped; None without one."""
        at = bisect_right(self.at_ns, time_ns)
        return self.dropped[at - 1] if at else None


def silenced(trial: Trial, from_ns: int, until_ns: int) -> bool:
    """True if what the sender had sent last arrived, and every answer to it was dropped until an instant."""
    ahead, back = _both(trial)
    answers = back.between(from_ns, until_ns - trial.round_trip_ns // 2)
    return ahead.last(from_ns) is False and bool(answers) and all(answers)


def unharmed(trial: Trial, from_ns: int, until_ns: int) -> bool:
    """True if links dropped nothing of either direction within a time, nor a round trip with its queue before."""
    ahead, back = _both(trial)
    since_ns = from_ns - trial.round_trip_ns - trial.longest_queue_ns
    return not (any(ahead.between(since_ns, until_ns)) or any(back.between(since_ns, until_ns)))


@lru_cache(maxsize=1)
def _both(trial: Trial) -> tuple[_Packets, _Packets]:
    return _packets_of(trial, trial.way), _packets_of(trial, trial.back)


def _packets_of(trial: Trial, direction: Direction) -> _Packets:
    rows = at_sender(trial.evidence, direction)
    lost = course(trial.evidence, direction).filter(pl.col("reason") != "")["index"]
    return _Packets(rows["arrival_ns"].to_list(), rows["index"].is_in(lost.to_list()).to_list())
