# SPDX-License-Identifier: Apache-2.0
"""The account of a response: what the bottleneck served, and for each idle time the way back within it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from quiclab.evidence.metrics.evidence import End
from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.after_a_change import Judges
from quiclab.why.account.critical_path import Before, Cause, Leg, Path, back, link_before
from quiclab.why.account.edges import PROMPT_NS, Edge, Reason
from quiclab.why.account.sender_cause import Judge
from quiclab.why.account.stretches import Busy, Idle, Onward, Start, stretches

_BUSY = Reason(Why.LINK_BUSY, "link_packets")
_ANY_ACK = (Why.SLOW_START, Why.WINDOW_AFTER_LOSS, Why.WINDOW_AFTER_EXIT, Why.WINDOW, Why.SEND_BUFFER)
"""Waits that any acknowledgment ends, however little it acknowledges. A receiver owes one at the second packet (RFC
5681 section 4.2, RFC 9000 section 13.2.2): from there on it holds it back."""
_LAST = Reason(Why.LAST_FLIGHT, "link_packets")


def response_edges(path: Path, judge: Judge | Judges, first: int, completing: int) -> tuple[list[Edge], Start]:
    """Edges from the begin of the response's service to the arrival of the completing packet, in order, and the begin.

    The response, or what is uploaded, is what was sent from the packet at position `first` on.
    """
    edges: list[Edge] = []
    for each in stretches(path, path.ahead, first, completing):
        match each:
            case Onward(latest):
                edges += [replace(edge, reason=_LAST, packets=None, size_bytes=None) for edge in latest]
            case Busy(latest):
                edges += [replace(edge, reason=_BUSY) for edge in latest]
            case Idle():
                edges += _idle(path, judge, each, completing)
            case Start():
                return edges[::-1], each
    raise AssertionError("a row of stretches ends with its start")


def _idle(path: Path, judge: Judge | Judges, idle: Idle, last: int) -> list[Edge]:
    """Edges of an idle time of the bottleneck, latest first."""
    ahead, sender, opener, floor_ns = path.ahead, path.sender, idle.position, idle.floor_ns
    data_of: dict[int, int] = {}
    reasons: dict[int, Reason] = {}

    def data(position: int) -> int:
        if position not in data_of:
            data_of[position] = with_data(path, judge, position, last)
        return data_of[position]

    def reason(position: int) -> Reason:
        if position not in reasons:
            reasons[position] = judge.reason(data(position), floor_ns)
        return reasons[position]

    current = reason(opener)

    def cause(end: End, position: int) -> Cause:
        if end == sender:
            return judge.cause(position, reason(position), data(position))
        content = path.content(path.up, position)
        after_ns = path.prompted_after_ns(end, position)
        if content is not None and content.unasked and (after_ns is None or after_ns > PROMPT_NS):
            return Cause(Before.LATEST, What.TIMER)
        if content is not None and content.what is not What.ACKNOWLEDGMENTS:
            return Cause(Before.ARRIVAL, What.CLIENT if end == "client" else What.SERVER)
        return Cause(Before.UNANSWERED if current.why in _ANY_ACK else Before.ARRIVAL, What.ACK_HELD)

    def edges() -> Iterator[Edge]:
        nonlocal current
        for edge in link_before(path, ahead, opener, idle.place)[0]:  # another link's service, not the bottleneck's
            yield replace(edge, reason=current, packets=None, size_bytes=None)
        for leg in back(path, sender, opener, floor_ns, cause):
            if leg.end == sender:
                current = reason(leg.position)
            waited = _origins(path, leg, floor_ns, current)
            if waited:
                yield from waited
                return
            for edge in leg.edges:
                if leg.end == sender and edge is leg.edges[0]:
                    yield replace(edge, reason=current)
                    current = judge.before_arrival(edge.from_ns, current, data(leg.position))
                    continue
                yield replace(edge, reason=current)

    after_ns = path.prompted_after_ns(sender, opener)
    return [replace(edge.clipped(floor_ns), prompted_after_ns=after_ns) for edge in edges() if edge.until_ns > floor_ns]


def _origins(path: Path, leg: Leg, floor_ns: int, reason: Reason) -> list[Edge] | None:
    """Edges back over the links behind a proxy, latest first, where it sent something when its origin let it: the
    bodies, or credit for them; None elsewhere."""
    if path.origin is None or leg.end != "server":
        return None
    waits = path.origin.wait if path.sender == "server" else path.origin.credit
    return waits(path, leg.position, floor_ns, reason)


def with_data(path: Path, judge: Judge | Judges, position: int, last: int) -> int:
    """The packet itself, or the first with data that was sent after it, lost or not: acknowledgments and probes of the
    path's MTU wait for nothing, unless the sender's log shows the timer that sent them."""
    ahead = path.ahead
    if judge.probes(position) or not ahead.is_served(position):
        return position
    sent = range(position, last + 1)
    for at in path.on_same_connection(position, sent) if path.sender == "server" else sent:
        content = path.content(ahead, at)
        if content is None or content.again or content.what not in (What.ACKNOWLEDGMENTS, What.PROBE):
            return at
    return position
