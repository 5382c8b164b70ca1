# SPDX-License-Identifier: Apache-2.0
"""Edges of the critical path: stretches of time with the two labels that say what passed, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from quiclab.evidence.metrics import Unknown
from quiclab.model.activity import What
from quiclab.model.cause import Why

PROMPT_NS = 1_000_000
"""Longest time from a packet's arrival at an endpoint to a packet that it sent because of it.

A choice, which docs/explanation/account.md holds against what was measured.
"""

_WHOLE = (Why.ANSWER, Why.ORIGIN)
"""Reasons that have all that passes between two instants."""


@dataclass(frozen=True)
class Reason:
    """Reason why a sender sent no earlier, the table that shows it, and the event that last tightened the limit."""

    why: Why
    evidence: str
    event_ns: int | None = None
    event_packet: int | None = None
    """The lost packet: `index` in link_packets, in the direction of the bodies."""


@dataclass(frozen=True)
class Edge:
    """A stretch of time on the critical path."""

    what: What
    from_ns: int
    until_ns: int
    packet_index: int | None = None
    """The packet that is served, on its way, or sent at the end of the stretch: `index` in link_packets."""
    direction: str | None = None
    """Direction of the packet."""
    packets: int | None = None
    """Packets that the bottleneck served."""
    size_bytes: int | None = None
    """Bytes of these that belong to the label, IP headers included."""
    reason: Reason = Reason(Why.UNEXPLAINED, "")
    prompted_after_ns: int | None = None
    """Time from the last arrival at the sender to the packet that ended an idle time."""
    link: str | None = None
    """The link's log that has the packet: `source` in link_packets."""
    object: str | None = None
    """The file of a video that is waited for; None of what was before, and of other transfers."""
    origin_why: Why | None = None
    """Behind a proxy: why its origin had not sent earlier; None where no record shows it."""

    @property
    def length_ns(self) -> int:
        """Duration of the edge."""
        return self.until_ns - self.from_ns

    def clipped(self, floor_ns: int) -> Edge:
        """The part of it from `floor_ns` on."""
        return self if self.from_ns >= floor_ns else replace(self, from_ns=min(floor_ns, self.until_ns))


def chained(edges: Iterable[Edge], from_ns: int, until_ns: int) -> list[Edge]:
    """Edges with a length, in order. Raises Unknown where they leave a gap, overlap, or miss an end."""
    found = list(edges)
    if any(edge.length_ns < 0 for edge in found):
        raise Unknown("the captures, the link's log and the times of this trial contradict each other")
    whole = [_laboratory_edge(edge) for edge in found if edge.length_ns]
    ends = [from_ns, *(edge.until_ns for edge in whole)]
    if any(end != edge.from_ns for end, edge in zip(ends, whole, strict=False)) or ends[-1] != until_ns:
        raise Unknown("the account of this trial leaves a gap: its records contradict each other")
    return whole


def _laboratory_edge(edge: Edge) -> Edge:
    """Give a stretch of lateness to the laboratory, except within a reason that keeps all of its stretches."""
    is_wait = edge.what is What.LATE and edge.reason.why not in _WHOLE
    return replace(edge, reason=Reason(Why.LABORATORY, "link_packets")) if is_wait else edge


def gaps(edges: Iterable[Edge]) -> list[int]:
    """Distances between the end of each edge and the beginning of the next: all 0 in an account."""
    return [after.from_ns - before.until_ns for before, after in pairwise(edges)]
