# SPDX-License-Identifier: Apache-2.0
"""A proxy that waits for its origin: the links behind it, and the way back over them while it had nothing to send, or
while it did not read what is uploaded.

Which bytes of a body a packet on those links carries is in no table; when it came is, and how long it was. A proxy has
waited for its origin if data from there came just before it sends, no log shows its window to be full, and either
nothing came from the client since, or it had sent on what had come before, to within a TLS record. If it had, and is
slow to send on what came then, only the time until that came is the origin's. Of an upload it
is the proxy's credit that comes late where it had more of that than it had sent on, and the answer.

Evidence for why the origin behind a proxy had not sent earlier: the samples of its kernel's TCP.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.evidence.metrics.evidence import End
from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.critical_path import Before, Cause, Leg, Path, back, crossing
from quiclab.why.account.edges import PROMPT_NS, Edge, Reason
from quiclab.why.account.forward_path import Way, way
from quiclab.why.account.hop import Hop, hop
from quiclab.why.account.kernel import Kernel, kernel
from quiclab.why.account.request import readable_ns
from quiclab.why.account.series import Steps

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


_REASON = Reason(Why.ORIGIN, "link_packets")
_OPEN = (Why.REQUEST, Why.AWAITING_ACKS, Why.APPLICATION, Why.PACING_OR_PROGRAM, Why.UNEXPLAINED)
"""Reasons that leave open, or say, that the proxy had nothing to send."""
_CREDITS = (Why.STREAM_CREDIT, Why.CONNECTION_CREDIT, Why.RECEIVE_WINDOW)
"""Reasons for which a client waits that uploads to a proxy which does not read."""
_USUAL_BYTES = 52
"""Headers of IPv4 and TCP with timestamps; those of others differ by little beside what such a packet carries."""
_RECORD_BYTES = 16_384 + 3_000
"""A TLS record that is not whole, which cannot be read, and what came with its last segment."""


@dataclass(frozen=True)
class Origin:
    """The links between a proxy, which is their client, and its origin."""

    path: Path
    received: Steps[int]
    """Bytes with data that had come to the proxy, IP headers left out."""
    sent: Steps[int]
    """Bytes with data that the proxy had sent to its origin."""
    own: OriginSender | None = None
    """The origin as a sender, as far as it is known."""
    asked_ns: int | None = None
    """Instant at which the proxy had its first request whole; None where no record of its own shows it."""

    def last_data(self, sent_ns: int) -> int | None:
        """Position down of the last packet with data that had come to the proxy by an instant; None without one.

        What an origin acknowledges meanwhile, as settings of HTTP/2, is nothing that a proxy waits for.
        """
        return last_with_data(self.path.down, sent_ns)

    def wait(self, client: Path, position: int, floor_ns: int, reason: Reason) -> list[Edge] | None:
        """Edges back from the sending of a packet down the client's leg to an instant, latest first, where the origin
        is what the proxy had waited for; None where it is not. `reason` is what else is known.
        """
        sent_ns = client.down.arrival[position]
        last = self.last_data(sent_ns)
        if last is None or reason.why not in _OPEN:
            return None
        arrived_ns = self.path.down.written[last] or 0
        came = client.up.last_came(sent_ns)
        came_ns = None if came is None else client.up.written[came]
        since = came_ns is None or came_ns <= arrived_ns
        if reason.why is Why.REQUEST:
            # What a client sends after its request, as an acknowledgment of settings, is not what ends this wait.
            asked = self.asked_ns is not None and max(self.asked_ns, floor_ns) <= arrived_ns
            return self.edges(last, sent_ns, floor_ns) if since or asked else None
        prompt = sent_ns - arrived_ns <= PROMPT_NS
        if prompt and since:
            return self.edges(last, sent_ns, floor_ns)
        if not self._had_sent_on(client, position, arrived_ns) or (not prompt and reason.why is Why.AWAITING_ACKS):
            return None
        first, *edges = self.edges(last, sent_ns, floor_ns)
        return [first if prompt else replace(first, reason=reason), *edges]

    def credit(self, client: Path, position: int, floor_ns: int, reason: Reason) -> list[Edge] | None:
        """Edges back from the sending of credit down the client's leg to an instant, latest first, where the proxy had
        more of the upload than it had sent on; None where that is not what the client waited for.
        """
        sent_ns = client.down.arrival[position]
        last = self.path.down.last_came(sent_ns)
        if last is None or reason.why not in _CREDITS or not self._keeps(client, sent_ns):
            return None
        return self.edges(last, sent_ns, floor_ns)

    def _keeps(self, client: Path, time_ns: int) -> bool:
        """True if the proxy had at least a TLS record more of the upload than it had sent to the origin."""
        came = (client.content(client.up, at) for at in reversed(client.up.came[: client.up.number_by(time_ns)]))
        last = next((each for each in came if each and each.reached and each.reached.bodies), None)
        if last is None or last.reached is None:
            return False
        return last.reached.bodies - (self.sent.before(time_ns) or 0) > _RECORD_BYTES

    def answered(self, sent_ns: int, floor_ns: int) -> int | None:
        """Position down of the last packet with data that came to the proxy in a time; None without one."""
        down = self.path.down
        came = (p for p in reversed(down.came) if floor_ns < (down.written[p] or 0) <= sent_ns)
        return next((p for p in came if down.size[p] > HEADERS_BYTES), None)

    def _had_sent_on(self, client: Path, position: int, arrived_ns: int) -> bool:
        """True if the proxy had sent all that it had got before an instant, when it sent a packet."""
        before = (client.content(client.down, at) for at in range(position))
        first = next((each for each in before if each and each.reached and each.payload_bytes), None)
        back_to = (client.content(client.down, at) for at in reversed(range(position)))
        last = next((each for each in back_to if each and each.reached and each.reached.bodies), None)
        if first is None or first.reached is None or last is None or last.reached is None:
            return False
        sent = last.reached.bodies - max(0, first.reached.bodies - first.payload_bytes)
        return (self.received.before(arrived_ns) or 0) - sent <= _RECORD_BYTES

    def edges(self, last: int, sent_ns: int, floor_ns: int) -> list[Edge]:
        """Edges from the proxy's sending back to an instant, over the packet at a position down that it had got."""
        return [
            replace(edge.clipped(floor_ns), reason=_REASON, packets=None, size_bytes=None)
            for edge in self._back(last, sent_ns, floor_ns)
            if edge.until_ns > floor_ns
        ]

    def _back(self, last: int, sent_ns: int, floor_ns: int) -> Iterator[Edge]:
        down = self.path.down
        arrived_ns = down.written[last] or 0
        yield Edge(What.SERVER, arrived_ns, sent_ns, down.arrived_as[last], "down", link=down.hops[-1].link)
        edges, first = crossing(self.path, down, last)
        why: Why | None = Why.LAST_FLIGHT
        yield from self._with_reasons(edges, why)
        end_ns = down.arrival[first]
        for leg in back(self.path, "server", first, floor_ns, self._cause):
            if leg.end == self.path.sender:
                why = self.own.why(self.path, leg) if self.own else None
            yield from self._with_reasons(leg.edges, why)
            end_ns = leg.edges[-1].from_ns if leg.edges else end_ns
        if end_ns > floor_ns:  # nothing that shows had come to the proxy before
            yield Edge(What.SERVER, floor_ns, end_ns)

    def _with_reasons(self, edges: Iterable[Edge], why: Why | None) -> Iterator[Edge]:
        """Edges with why the origin had not sent earlier, where something is known of it."""
        for edge in edges:
            yield replace(edge, origin_why=(Why.LINK_BUSY if edge.what is What.SERVED else why) if self.own else None)

    def _cause(self, end: End, position: int) -> Cause:
        """Every sending goes back to what came last, an answer to its request. What is no data is an acknowledgment of
        the bodies' receiver."""
        data = end == self.path.sender or (self.path.way == "up" and self.path.out(end).size[position] > HEADERS_BYTES)
        asked = answers_to(self.path, position, self.own) if end == "server" else None
        if asked is not None:
            return Cause(Before.DATA_ARRIVAL, What.SERVER, self.path.up.written[asked])
        return Cause(Before.ARRIVAL, What.SERVER if data else What.ACK_HELD)


def origin_of(evidence: Evidence) -> Origin | None:
    """The links behind a trial's proxy; None where there are none, or their logs are missing."""
    links = evidence.trial.links_of("origin")
    if evidence.trial.proxy is None or not links:
        return None
    rows = evidence.table("link_packets").filter(pl.col("action") != "outside_model")
    ways: list[Way] = []
    for direction in ("up", "down"):
        hops: list[list[Hop]] = []
        for link in links:
            mine = rows.filter(pl.col("source") == f"raw/{link.packet_log}", pl.col("direction") == direction)
            if mine.is_empty():
                return None
            hops.append([hop(mine)])
        ways.append(way(direction, hops if direction == "up" else hops[::-1], None))
    up, down = ways
    own = origin_sender(evidence)
    received = _moved((down.written[p] or 0, down.size[p]) for p in down.came)
    sent = _moved(zip(up.arrival, up.size, strict=True))
    asked = evidence.table("http_requests").filter(pl.col("vantage") == "server").drop_nulls("send_end_ns")
    first = asked.sort("send_end_ns").select("send_end_ns", "stream_id").head(1).rows()
    known = readable_ns(evidence, first[0][0], first[0][1:]) if first else None
    return Origin(Path(up, down, {}, {}, evidence.way), received, sent, own, known)


def _moved(packets: Iterable[tuple[int, int]]) -> Steps[int]:
    """Bytes that had moved, by instants and sizes of packets, of those with data; what moved twice counts twice."""
    with_data = [(at, size - _USUAL_BYTES) for at, size in packets if size > HEADERS_BYTES]
    return Steps([at for at, _ in with_data], list(accumulate(size for _, size in with_data)))
