# SPDX-License-Identifier: Apache-2.0
"""Management of a queue, as frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from quiclab.model.bounds import Bounds, Interval, Quantum
from quiclab.model.units import ByteCount, Duration


@dataclass(frozen=True)
class CoDel:
    """Controlled delay (RFC 8289): packets are dropped, or marked, while every packet of an interval waited longer than
    the target."""

    target: Duration = Duration(5_000_000)
    """Standing queue, in time, that is accepted."""
    interval: Interval = Duration(100_000_000)
    """Time for which the queue may exceed the target; of the order of a round trip."""
    ecn: bool = False
    """Packets of senders that understand ECN are marked "congestion experienced" where others are dropped."""

    def __str__(self) -> str:
        return f"queue under CoDel, {_course(self)}"


@dataclass(frozen=True)
class FqCoDel:
    """Flows take turns, each with a queue of its own under CoDel; a new flow goes first (RFC 8290)."""

    target: Duration = CoDel.target
    """Standing queue, in time, that is accepted, as in `codel`."""
    interval: Interval = CoDel.interval
    """Time for which a queue may exceed the target, as in `codel`."""
    ecn: bool = False
    """Packets of senders that understand ECN are marked where others are dropped, as in `codel`."""
    quantum: Quantum = ByteCount(1514)
    """Bytes that a flow may send in a turn."""
    flows: Annotated[int, Bounds(1, 65536)] = 1024
    """Number of queues: a hash of addresses, ports and protocol decides which one a packet joins."""

    def __str__(self) -> str:
        return f"queue under FQ-CoDel, {_course(self)}"


def _course(aqm: CoDel | FqCoDel) -> str:
    return f"target {aqm.target}, interval {aqm.interval}, {'marks' if aqm.ecn else 'drops'}"


@dataclass(frozen=True)
class Step:
    """Marking by a threshold, as for L4S (RFC 9331): every ECT(1) packet that waited longer is marked; none of them is
    dropped."""

    threshold: Duration = Duration(1_000_000)
    """Longest time in the queue without a mark."""

    def __str__(self) -> str:
        return f"ECT(1) marked after {self.threshold} in the queue"


@dataclass(frozen=True)
class Pie:
    """Proportional integral controller enhanced (RFC 8033), as DOCSIS modems have it: packets are dropped, or marked,
    as they come, with a probability that follows the wait in the queue and its change."""

    target: Duration = Duration(15_000_000)
    """Wait in the queue that is aimed at."""
    update: Interval = Duration(15_000_000)
    """Time between two calculations of the probability."""
    burst: Duration = Duration(150_000_000)
    """Time for which a burst passes after the queue was short."""
    ecn: bool = False
    """Packets of senders that understand ECN are marked where others are dropped, while the probability is below
    10 %."""

    def __str__(self) -> str:
        return f"queue under PIE, target {self.target}, {'marks' if self.ecn else 'drops'}"


@dataclass(frozen=True)
class DualPi2:
    """Two coupled queues (RFC 9332): one for L4S (ECT(1) and CE), which goes first and is marked early, and one for all
    others, in which packets that are ECT(0) are marked and others dropped."""

    target: Duration = Duration(15_000_000)
    """Wait that is aimed at in the queue for all others."""
    update: Interval = Duration(16_000_000)
    """Time between two calculations of the probability."""
    threshold: Duration = Duration(1_000_000)
    """Wait above which every packet of L4S is marked."""

    def __str__(self) -> str:
        return f"two queues under DualPI2, target {self.target}, L4S marked after {self.threshold}"


Aqm = CoDel | FqCoDel | Pie | DualPi2 | Step
