# SPDX-License-Identifier: Apache-2.0
"""The way back from object to object over several connections: what each was waited for, down to the client's begin.

Of all that a request waited for the last to come true leads on: its connection could carry it, or an answer that
prompted it had come so far.

The account of one object on one of several connections: from its request, or its connection's begin, to its arrival.

The queue of a link is shared with the other connections: what it serves of these while a packet of this one waits is a
kind of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import msgspec
import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown, quic, tcp, times
from quiclab.evidence.metrics.evidence import CAPTURES
from quiclab.evidence.metrics.intervals import IntervalSet
from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account import processor
from quiclab.why.account.amplification import Amplification, amplification
from quiclab.why.account.critical_path import Leg, Path, crossing, queue_back
from quiclab.why.account.edges import Edge, Reason
from quiclab.why.account.forward_path import arrived_at
from quiclab.why.account.links import path_of, told_by_object
from quiclab.why.account.loads import Load, first_on
from quiclab.why.account.objects import Objects
from quiclab.why.account.response import response_edges
from quiclab.why.account.sender_cause import Judge, judge
from quiclab.why.account.set_up import SetUp, over_origin
from quiclab.why.account.stretches import Start

_SERVED = (What.PAYLOAD, What.HEADERS, What.OTHER_OBJECT, What.OTHER_CONNECTION)
_OPEN = (Why.PACING_OR_PROGRAM, Why.APPLICATION, Why.UNEXPLAINED)
"""Reasons that leave open, or say, that the server had nothing to send."""
_MEANWHILE = (What.PROPAGATION_UP, What.PROPAGATION_DOWN, What.LINK_UP, What.NODE, What.ACK_HELD, What.CLIENT)
"""Packets that pass while a server that has nothing else to send makes an answer."""
_LOST = Reason(Why.LOSS_DETECTION, "ip_packets")
_REQUEST = Reason(Why.REQUEST, "ip_packets")
_BUSY = Reason(Why.LINK_BUSY, "link_packets")
CONTRADICT = "the captures, the link's log and the times of this trial contradict each other"


@dataclass(frozen=True)
class Wire:
    """One connection of several."""

    evidence: Evidence
    """Rows of this connection alone."""
    bare: Path
    """Packets of this connection among those of the others; no object is told from another."""
    limit: Amplification
    loads: Sequence[Load]
    """The objects that it brought."""
    _paths: dict[int, Path] = field(default_factory=dict)

    @classmethod
    def for_connection(cls, among: Evidence, connection: str, loads: Iterable[Load]) -> Wire:
        """The connection of a name, among others. Raises Unknown where a capture or the log of a link lacks it."""
        evidence = connection_evidence(among, connection)
        own = [load for load in loads if load.connection == connection]
        return cls(evidence, path_of(evidence, among=among), amplification(evidence), own)

    @cached_property
    def begun_ns(self) -> int:
        """Departure of the client's first packet."""
        return self.evidence.zero_ns

    @cached_property
    def ready_ns(self) -> int:
        """Departure of the first packet that can carry a request."""
        return self.begun_ns + round(times.setup_ms(self.evidence) * 1e6)

    def set_up_edges(self) -> list[Edge]:
        """Edges from the client's first packet to the one that can carry a request, in order."""
        carrier = next((p for p, at in enumerate(self.bare.up.arrival) if at == self.ready_ns), None)
        if carrier is None:
            raise Unknown("the packet that can carry the request is not found in the link's log")
        return self._with_reasons(SetUp(self.evidence, self.bare, self.limit).set_up_edges(carrier, self.begun_ns))

    def object_edges(self, load: Load, until_ns: int) -> list[Edge]:
        """Edges from the departure of an object's request to the arrival of a packet of its answer, in order."""
        path = self._path(load)
        completing = arrived_at(self.evidence, path.down, until_ns)
        # A server that still sends another object's answer is limited by what limits that.
        others_ns = max((each.sent_ns for each in self.loads if each.begun_ns < load.begun_ns), default=0)
        since_ns = load.came_ns if others_ns > load.came_ns else max(load.came_ns, load.begun_ns)
        down = path.down
        first = next((p for p, at in enumerate(down.arrival) if at >= since_ns and down.is_served(p)), None)
        if first is None or first > completing:
            raise Unknown(CONTRADICT)
        own = Objects(load.stream, (), 1, (), None)
        known = judge(self.evidence, path, completing, own, self.limit)
        bodies, start = response_edges(path, known, first, completing)
        asked = self._asked(path, load, start, known)
        busy = (replace(edge, reason=_BUSY) if edge.packets and edge.what in _SERVED else edge for edge in asked)
        answers = (
            replace(edge, reason=_REQUEST, what=What.SERVER if edge.what in _MEANWHILE else edge.what)
            if edge.reason.why in _OPEN and others_ns <= edge.from_ns and edge.until_ns <= load.begun_ns
            else edge
            for edge in bodies
        )
        return self._with_reasons([*busy, *answers])

    def _asked(self, path: Path, load: Load, start: Start, known: Judge) -> list[Edge]:
        """Edges from the departure of the request to the begin of service of the answer's first packet, in order."""
        queued, first = queue_back(path, path.down, start.position, start.place)
        edges = [replace(edge, reason=_REQUEST) for edge in queued]
        sent_ns, content = path.down.arrival[first], path.content(path.down, first)
        before = SetUp(self.evidence, path, self.limit)
        if content is not None and content.again and sent_ns > load.begun_ns >= load.came_ns:
            why = known.reason(first, load.begun_ns)
            edges += [replace(edge, reason=why) for edge in before.repeated_edges("server", first, load.begun_ns)]
            sent_ns = load.begun_ns
            first = next((p for p, at in enumerate(path.down.arrival) if at == sent_ns), first)
        if sent_ns >= load.came_ns:
            down = path.down
            answer = Edge(
                What.SERVER, load.came_ns, sent_ns, down.index[first], "down", reason=_REQUEST, link=down.link(first)
            )
            edges += over_origin(path, Leg("server", first, sent_ns, (answer,)), load.came_ns)
        requested = self._requested(path, load, before)
        edges += [replace(e, until_ns=min(e.until_ns, sent_ns)) for e in requested if e.from_ns < sent_ns]
        return [edge.clipped(load.left_ns) for edge in reversed(edges) if edge.until_ns > load.left_ns]

    def _requested(self, path: Path, load: Load, before: SetUp) -> Iterator[Edge]:
        """Edges back from the arrival of the request to its departure, latest first, also where it was lost."""
        came = arrived_at(self.evidence, path.up, load.came_ns)
        left_ns, content = path.up.arrival[came], path.content(path.up, came)
        for edge in crossing(path, path.up, came)[0]:
            if edge.until_ns > left_ns:
                yield replace(edge.clipped(left_ns), reason=_REQUEST)
        if left_ns > load.left_ns:
            why = _LOST if content is not None and content.again else _REQUEST
            for edge in before.repeated_edges("client", came, load.left_ns):
                yield edge if edge.what is What.TIMER else replace(edge, reason=why)

    def _path(self, load: Load) -> Path:
        """The packets, with those of other objects told apart where there are several on the connection."""
        if load.stream is None:
            return self.bare
        if load.stream not in self._paths:
            self._paths[load.stream] = told_by_object(self.evidence, self.bare, load.stream)
        return self._paths[load.stream]

    def _with_reasons(self, edges: Iterable[Edge]) -> list[Edge]:
        return processor.name_processor_edges(self.evidence, self.bare, edges)

    def last_came(self, load: Load, by_ns: int) -> int | None:
        """Arrival of the last packet with which more of an answer could be read by an instant; None where none had."""
        if load.done_ns <= by_ns:
            return load.done_ns
        path, moved = self._path(load), self._moved(load.stream)
        found = None
        for position in path.down.came:
            at = path.down.written[position] or 0
            if not load.headers_ns <= at <= by_ns or at not in moved:
                continue
            content = path.content(path.down, position)
            if content is not None and content.payload_bytes and content.stream == load.stream:
                found = at
        return found if found is not None or load.headers_ns > by_ns else load.headers_ns

    def _moved(self, stream: int | None) -> set[int]:
        """Instants at which more of a stream, or over TCP of the connection, had come in order."""
        if not self.evidence.quic:
            return {at for each in tcp.sent_segments(self.evidence, "client", "down") for at, _ in each.in_order()}
        arrival = quic.arrivals(self.evidence)
        data, found = IntervalSet(), set()
        for frame in quic.stream_frames(self.evidence, "client", "received"):
            if frame.stream_id != stream or frame.packet not in arrival:
                continue
            before = data.reach(0)
            data.add(frame.start, frame.end)
            if data.reach(0) > before:
                found.add(arrival[frame.packet])
        return found


# One connection of a trial that has several: its own rows of each table, and its packets among those of the links.
_UP_ENDS = ("src", "src_port", "dst", "dst_port")
_DOWN_ENDS = ("dst", "dst_port", "src", "src_port")


def connection_evidence(evidence: Evidence, connection: str) -> Evidence:
    """A trial without the rows of its other connections; rows that name no connection stay.

    Raises Unknown where no capture shows the connection's packets.
    """
    quic, own = _packets(evidence, connection)
    tables = {
        name: table.filter((pl.col("connection") == connection).fill_null(value=True))
        if "connection" in table.columns
        else table
        for name, table in evidence.tables.items()
    }
    return Evidence(
        {**tables, "ip_packets": own}, msgspec.structs.replace(evidence.trial, protocol="h3" if quic else "h2")
    )


def _packets(evidence: Evidence, connection: str) -> tuple[bool, pl.DataFrame]:
    """Pair of a flag, true for a connection of QUIC, and the rows of ip_packets between its addresses and ports."""
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES))["source"].to_list()
    shown = evidence.table("packets").filter(pl.col("connection") == connection, pl.col("source").is_in(captures))
    packets = evidence.table("ip_packets")
    numbers = shown.drop_nulls("ip_packet").select("source", number="ip_packet").unique()
    rows = packets.join(numbers, on=("source", "number"), how="semi")
    ends = pl.concat(
        rows.filter(direction=way).select(
            [pl.col(name).alias(each) for name, each in zip(names, _UP_ENDS, strict=True)]
        )
        for way, names in (("up", _UP_ENDS), ("down", _DOWN_ENDS))
    ).unique()
    if ends.is_empty():
        raise Unknown("no capture shows the packets of one of the trial's connections")
    protocol = str(rows["protocol"][0])
    back = ends.rename(dict(zip(_UP_ENDS, _DOWN_ENDS, strict=True)))
    own = pl.concat(
        packets.filter(direction=way, protocol=protocol).join(each, on=list(_UP_ENDS), how="semi", nulls_equal=True)
        for way, each in (("up", ends), ("down", back.select(_UP_ENDS)))
    )
    return protocol == "udp", own.sort("source", "number")


@dataclass(frozen=True)
class Prompt:
    """An answer without which the client could not have asked for an object, or begun its connection."""

    load: Load
    came_ns: int
    """Arrival of the packet of it that counts."""
    reason: Reason
    """Reason why the client did not act at once."""


@dataclass(frozen=True)
class Chain:
    """The objects of a trial, and what is known of their connections."""

    evidence: Evidence
    loads: Sequence[Load]
    """Objects in the order of their requests."""
    prompt: Callable[[Chain, Load, int], Prompt | None]
    """Prompt of an object's request, or of its connection, by an instant; None where nothing before it prompted it."""
    unsent: Reason
    """Reason why a client sends no request where its connection can carry one."""
    first: Reason
    """Reason of the time before the first packet of what nothing prompted."""
    _wires: dict[str, Wire] = field(default_factory=dict)

    def wire(self, load: Load) -> Wire:
        """The connection of an object."""
        if load.connection not in self._wires:
            self._wires[load.connection] = Wire.for_connection(self.evidence, load.connection, self.loads)
        return self._wires[load.connection]

    def edges(self, load: Load, until_ns: int, zero_ns: int) -> list[Edge]:
        """Edges from an instant to the arrival of a packet of an object's answer, in order."""
        found: list[Edge] = []
        for _ in self.loads:  # each step leads to an earlier request
            step, prompt = self._step(load, until_ns, zero_ns)
            found = [*(replace(edge, object=load.url) for edge in step), *found]
            if prompt is None:
                return found
            load, until_ns = prompt.load, prompt.came_ns
        raise Unknown("the objects of this trial lead back in a circle")

    def _step(self, load: Load, until_ns: int, zero_ns: int) -> tuple[list[Edge], Prompt | None]:
        """Edges of one object, in order, from what had prompted it; from `zero_ns` where nothing had."""
        wire = self.wire(load)
        edges = wire.object_edges(load, until_ns)
        at_ns, prompt = load.left_ns, self.prompt(self, load, load.left_ns)
        if prompt is None or prompt.came_ns < wire.ready_ns:
            opener = first_on(self.loads, load.connection)
            unsent = Edge(What.CLIENT, wire.ready_ns, load.left_ns, reason=self.unsent)
            edges = [*wire.set_up_edges(), unsent, *edges]
            at_ns, prompt = wire.begun_ns, self.prompt(self, opener, wire.begun_ns)
        from_ns, reason = (zero_ns, self.first) if prompt is None else (prompt.came_ns, prompt.reason)
        return [Edge(What.CLIENT, from_ns, at_ns, reason=reason), *edges], prompt
