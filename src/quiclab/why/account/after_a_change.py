# SPDX-License-Identifier: Apache-2.0
"""Reasons why a response waits whose client changes its address in the middle of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.amplification import Amplification
from quiclab.why.account.captured_window import CapturedWindow
from quiclab.why.account.critical_path import Cause, Path
from quiclab.why.account.edges import Edge, Reason
from quiclab.why.account.objects import Objects
from quiclab.why.account.second_network import changed, moved
from quiclab.why.account.sender_cause import Judge, judge

_SERVED = (Why.LINK_BUSY, Why.LAST_FLIGHT)


@dataclass(frozen=True)
class Judges:
    """Judges of a sender with a connection for each of the client's addresses."""

    before: Judge
    after: Judge
    moved: Collection[int]
    """Positions down of packets for the second address."""
    changed_ns: int

    @property
    def captured(self) -> CapturedWindow:
        """The window of the first connection's sender by its capture."""
        return self.before.captured

    def reason(self, position: int, idle_from_ns: int) -> Reason:
        """Reason why the packet at a position down was not sent while the bottleneck was idle since `idle_from_ns`."""
        return self._judge_of(position).reason(position, idle_from_ns)

    def probes(self, position: int) -> bool:
        """True if a packet without data left, unprompted, because a timer of the sender's log had ended."""
        return self._judge_of(position).probes(position)

    def cause(self, position: int, reason: Reason, data: int) -> Cause:
        """Cause that a packet's sending goes back to, given why the packet at position `data` came no earlier."""
        return self._judge_of(position).cause(position, reason, data)

    def before_arrival(self, came_ns: int, reason: Reason, position: int) -> Reason:
        """Reason why the sender had waited for the packet that came at an instant before it sent the one at a
        position."""
        return (self.after if came_ns >= self.changed_ns else self.before).before_arrival(came_ns, reason, position)

    def _judge_of(self, position: int) -> Judge:
        return self.after if position in self.moved else self.before


def judges(
    evidence: Evidence, path: Path, completing: int, of: Objects, amplification: Amplification
) -> Judge | Judges:
    """Gather what is known of the server: over TCP, of each connection by itself where the client changes its address.

    A QUIC connection goes on, and its log with it.
    """
    changed_ns, change = changed(evidence), evidence.trial.address_change
    if changed_ns is None or change is None or evidence.quic:
        return judge(evidence, path, completing, of, amplification)
    to_new = moved(evidence, path.down)

    def at(address: str | None, *, new: bool) -> Judge:
        found = judge(_evidence_of_address(evidence, address), path, completing, of, amplification)
        sent = (path.content(path.down, p) for p in range(completing + 1) if (p in to_new) is new)
        return replace(found, last=max((each.reached.bodies for each in sent if each and each.reached), default=0))

    return Judges(at(change.old_address, new=False), at(change.new_address, new=True), to_new, changed_ns)


def _evidence_of_address(evidence: Evidence, address: str | None) -> Evidence:
    """A trial without the rows of connections from other addresses of the client."""
    own = pl.col("connection").str.starts_with(f"{address}:") | pl.col("connection").str.starts_with(f"[{address}]:")
    tables = {
        name: table.filter(own.fill_null(value=True)) if "connection" in table.columns else table
        for name, table in evidence.tables.items()
    }
    return Evidence(tables, evidence.trial)


def name_change_edges(evidence: Evidence, path: Path, judge: Judge | Judges, edges: Iterable[Edge]) -> Iterator[Edge]:
    """Edges of a response; where nothing was served between the change and the body's first packet to the new address,
    the change is why."""
    changed_ns = changed(evidence)
    if changed_ns is None:
        yield from edges
        return
    resumed_ns = _resumed(evidence, path, judge)
    reason = Reason(Why.CHANGE_OF_ADDRESS, "ip_packets", changed_ns)
    for edge in edges:
        if edge.reason.why in _SERVED or edge.until_ns <= changed_ns or edge.from_ns >= resumed_ns:
            yield edge
            continue
        first, last = max(edge.from_ns, changed_ns), min(edge.until_ns, resumed_ns)
        parts = ((edge.from_ns, first, edge.reason), (first, last, reason), (last, edge.until_ns, edge.reason))
        yield from (replace(edge, from_ns=start, until_ns=end, reason=why) for start, end, why in parts)


def _resumed(evidence: Evidence, path: Path, judge: Judge | Judges) -> int:
    """Instant at which the first link began to serve the first packet of the body to the new address.

    On a connection of its own the body comes with the answer to the second request.
    """
    down = path.down
    answers_ns = judge.after.answers_ns or 0 if isinstance(judge, Judges) else 0
    for position in sorted(moved(evidence, down)):
        content = path.content(down, position)
        if down.arrival[position] < answers_ns:
            continue
        if content and content.what in (What.PAYLOAD, What.RETRANSMISSION) and down.is_served(position):
            number, at = down.course[position][0]
            return down.hops[number].begin(at)
    return 1 << 62
