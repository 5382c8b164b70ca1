# SPDX-License-Identifier: Apache-2.0
"""The account of what comes before a response: the set-up, round trip by round trip, and the request's way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import polars as pl

from quiclab.accounting.edges import PROMPT_NS, Edge, Reason
from quiclab.accounting.walk import Before, Cause, Leg, Path, back, queue_back
from quiclab.accounting.what import What
from quiclab.accounting.why import Why
from quiclab.metrics import Evidence
from quiclab.metrics.evidence import End

_UDP_HEADERS_BYTES = {4: 28, 6: 48}
_AMPLIFICATION = 3


def set_up_edges(evidence: Evidence, path: Path, position: int, zero_ns: int) -> list[Edge]:
    """Edges from the client's first packet to the one at a position up that can carry the request, in order."""
    edges: list[Edge] = []
    trip: list[Edge] = []
    servers: list[Leg] = []
    for leg in back(path, "client", position, zero_ns - 1, _cause(path)):
        if leg.end == "client" and leg.position != position:
            edges += _named(evidence, path, leg, trip, servers)
            trip, servers = [], []
        elif leg.end == "server":
            servers.append(leg)
        trip += leg.edges
    return _cut(reversed([*edges, *trip]), zero_ns)


def request_edges(evidence: Evidence, path: Path, position: int, place: int, from_ns: int) -> list[Edge]:
    """Edges from the departure of the first packet that can carry the request to the begin of service of the first
    packet of the response, at a position down, by the link at a place of its course, in order."""
    edges, first = queue_back(path, path.down, position, place)
    edges += _answer(path, first, from_ns)
    timer = Reason(Why.PROBE_TIMER if evidence.quic else Why.LOSS_TIMER, "ip_packets")
    usual = Reason(Why.REQUEST, "ip_packets")
    named = (
        edge if edge.reason.why is Why.ORIGIN else replace(edge, reason=timer if edge.what is What.TIMER else usual)
        for edge in reversed(edges)
    )
    return _cut(named, from_ns)


def _answer(path: Path, position: int, from_ns: int) -> Iterator[Edge]:
    """Edges back from the sending of the response's first packet, latest first; a proxy asks its origin before it."""
    for leg in back(path, "server", position, from_ns, _cause(path)):
        came = path.up.last_came(leg.sent_ns) if leg.end == "server" else None
        last = path.origin.last_data(leg.sent_ns) if path.origin and came is not None else None
        came_ns = path.up.written[came] or 0 if came is not None else 0
        if path.origin is None or last is None or (path.origin.path.down.written[last] or 0) <= came_ns:
            yield from leg.edges
            continue
        yield from path.origin.edges(last, leg.sent_ns, came_ns)
        yield from leg.edges[1:]


def _cause(path: Path) -> Callable[[End, int], Cause]:
    """What a sending before the response goes back to: a timer where it repeats something unprompted."""

    def cause(end: End, position: int) -> Cause:
        content = path.content(path.out(end), position)
        after_ns = path.prompted_after_ns(end, position)
        if content is not None and content.again and (after_ns is None or after_ns > PROMPT_NS):
            return Cause(Before.LATEST, What.TIMER)
        return Cause(Before.ARRIVAL, What.CLIENT if end == "client" else What.SERVER)

    return cause


def _named(evidence: Evidence, path: Path, begin: Leg, trip: list[Edge], servers: list[Leg]) -> list[Edge]:
    """Edges of the round trip that a sending of the client begins, with their reason."""
    until_ns = trip[0].until_ns if trip else begin.sent_ns
    reason = Reason(_round_trip(evidence, path, begin, until_ns, servers), "handshake")
    loss = Reason(Why.SET_UP_LOSS, "ip_packets")
    return [replace(edge, reason=loss if edge.what is What.TIMER else reason) for edge in trip]


def _round_trip(evidence: Evidence, path: Path, begin: Leg, until_ns: int, servers: list[Leg]) -> Why:
    told = evidence.table("handshake").filter(pl.col("vantage") == "client")
    came = told.filter(
        pl.col("direction") == "down", pl.col("time_ns") > begin.sent_ns, pl.col("time_ns") <= until_ns + PROMPT_NS
    )["step"].to_list()
    if "hello_retry_request" in came:
        return Why.HELLO_RETRY_REQUEST
    if not evidence.quic:
        hellos = told.filter(pl.col("step") == "client_hello")["time_ns"].min()
        before_hello = isinstance(hellos, int) and begin.sent_ns < hellos
        return Why.TCP_HANDSHAKE if before_hello or "syn_ack" in came else Why.TLS_ROUND_TRIP
    if "retry" in came or "version_negotiation" in came:
        return Why.RETRY
    limited = any(_amplification_limited(evidence, path, leg.position) for leg in servers)
    return Why.AMPLIFICATION_LIMIT if limited else Why.QUIC_HANDSHAKE


def _amplification_limited(evidence: Evidence, path: Path, position: int) -> bool:
    """Whether a packet of the server's handshake had no room within three times what had come before the last one."""
    content = path.content(path.down, position)
    sent_ns = path.down.arrival[position]
    came = path.up.last_came(sent_ns)
    if content is None or content.what is not What.HANDSHAKE or came is None:
        return False
    headers = _UDP_HEADERS_BYTES[6 if evidence.trial.get("ip_version") == 6 else 4]
    came_ns = path.up.written[came] or 0
    earlier = [p for p, at in zip(path.up.came, path.up.came_ns, strict=True) if at < came_ns]
    received = sum(path.up.size[p] - headers for p in earlier)
    sent = sum(size - headers for size in path.down.size[: position + 1])
    return bool(received) and sent > _AMPLIFICATION * received


def _cut(edges: Iterable[Edge], from_ns: int) -> list[Edge]:
    return [edge.clipped(from_ns) for edge in edges if edge.until_ns > from_ns or not edge.length_ns]
