# SPDX-License-Identifier: Apache-2.0
"""The accounts of a video: of its start-up and of each stall, back over everything that the player waited for.

A player goes on because of the last thing that it needed. The walk goes back from the arrival of that to the request
for it, over the player's own time to the answer that it had before, and so on, until the wait began.

The connection that a player's requests went over, where its browser opened others beside it.

A browser opens another one when the first takes too long to be set up (its SYN was lost), and QUIC tries another port
when its path seems to fail. What such connections send shares the links, like another flow.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown, times
from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.model.metric_scope import MetricScope
from quiclab.why.account import processor
from quiclab.why.account.amplification import amplification
from quiclab.why.account.contents import Content
from quiclab.why.account.critical_path import Path
from quiclab.why.account.edges import Edge, Reason, chained
from quiclab.why.account.forward_path import Way
from quiclab.why.account.links import path_of
from quiclab.why.account.media_requests import Fetch, connections, fetches
from quiclab.why.account.objects import Objects
from quiclab.why.account.player import PLAYER, Wait, first_picture_bytes, waits
from quiclab.why.account.response import response_edges
from quiclab.why.account.sender_cause import Judge, judge
from quiclab.why.account.set_up import SetUp

_TRIED = Reason(Why.SET_UP_LOSS, "ip_packets")


@dataclass(frozen=True)
class Used:
    """One connection of a trial, and what is known of those beside it."""

    evidence: Evidence
    """The trial without the packets and the records of other connections."""
    alone: bool
    """True if there was no other."""
    first_ns: int
    """The first packet of the client, of any connection."""
    waited: bool
    """True if an earlier connection was not yet set up when this one was begun."""

    def before(self, floor_ns: int) -> list[Edge]:
        """Edges from the connection's first packet back to an instant, latest first: the client waits for an earlier
        connection, and before that the player has not asked for anything."""
        zero_ns = self.evidence.zero_ns
        begin_ns = max(self.first_ns, floor_ns) if self.waited else zero_ns
        waits = [
            Edge(What.TIMER, begin_ns, zero_ns, reason=_TRIED),
            Edge(What.CLIENT, floor_ns, begin_ns, reason=PLAYER),
        ]
        return [edge for edge in waits if edge.from_ns < edge.until_ns]


def used(evidence: Evidence, connections: set[str]) -> Used:
    """The connection that has all requests, whose names in the client's records are given. Raises Unknown where these
    are several, or where the server answered on two ports of QUIC."""
    sent = evidence.packets("client", "up")
    ports = set(sent["src_port"].drop_nulls().to_list())
    others = ports - {_port(evidence, connections)} if len(ports) > 1 else set()
    first_ns = int(sent["time_ns"].min())  # type: ignore[arg-type]
    if not others:
        return Used(evidence, alone=True, first_ns=first_ns, waited=False)
    tables = dict(evidence.tables)
    beside = pl.col("src_port").is_in(list(others)) | pl.col("dst_port").is_in(list(others))
    tables["ip_packets"] = evidence.table("ip_packets").filter(~beside.fill_null(value=False))
    if not evidence.quic:
        of_others = pl.col("connection").str.contains(rf"^[^-]*:(?:{'|'.join(map(str, sorted(others)))})-")
        for name, table in evidence.tables.items():
            if "connection" in table.columns:
                tables[name] = table.filter(~of_others.fill_null(value=False))
    alone = Evidence(tables, evidence.trial)
    earlier = sent.filter(pl.col("src_port").is_in(list(others)), pl.col("time_ns") < alone.zero_ns)
    ready = earlier.filter(pl.col("tls_application_data")).height if not evidence.quic else 0
    return Used(alone, alone=False, first_ns=first_ns, waited=earlier.height > 0 and not ready)


def _port(evidence: Evidence, connections: set[str]) -> int:
    """The client's port of the connection with the requests."""
    if len(connections) != 1:
        raise Unknown(f"the player's requests went over {len(connections)} connections, which is not accounted for yet")
    if not evidence.quic:
        return int(next(iter(connections)).partition("-")[0].rpartition(":")[2])
    answered = evidence.packets("client", "down")["dst_port"].unique().to_list()
    if len(answered) != 1:
        raise Unknown("the server answered on several ports of the client, which is not accounted for yet")
    return int(answered[0])


_ASKS = Reason(Why.PLAYER, "http_requests")
_ONE = Objects(None, (), 1, (), None)
_TICK_MS = 50.0
"""Time by which less than a whole segment a player may say that it has: pictures end a little before."""
_LEAST_SHARE = 0.01
"""Share of a file below which Chromium does not reckon by bytes how much it has of the video, but tells which pictures
it has taken out of them; the first ones have more bytes than others."""
_CONTRADICT = "the captures, the link's log and the times of this trial contradict each other"


def accounts_of_video(evidence: Evidence) -> dict[str, list[Edge]]:
    """`start_up`, or `stall` and a number → edges that follow each other without a gap over that whole wait.

    A stall whose end the records do not explain is one edge without an explanation, so that all stalls add up. Raises
    Unknown where the start-up has no account.
    """
    if evidence.trial.address_change:
        raise Unknown("a video of a client that changes its address is not accounted for yet")
    listed = waits(evidence)
    playback = Playback.from_evidence(evidence)
    start_up, *stalls = listed
    return {start_up.of: playback.account(start_up), **{each.of: _stall(playback, each) for each in stalls}}


def _stall(playback: Playback, wait: Wait) -> list[Edge]:
    try:
        return playback.account(wait)
    except Unknown:
        reason = Reason(Why.UNEXPLAINED, "player_stalls")
        return [Edge(What.UNEXPLAINED, wait.from_ns, wait.until_ns, reason=reason)]


@dataclass(frozen=True)
class Playback:
    """Everything that is known of how a video came to its player."""

    connection: Used
    path: Path
    fetched: Sequence[Fetch]
    before: SetUp
    judge: Judge

    @classmethod
    def from_evidence(cls, evidence: Evidence) -> Playback:
        """Gather it. Raises Unknown where the records carry no account."""
        connection = used(evidence, connections(evidence))
        own = connection.evidence
        fetched = fetches(own)
        path = path_of(own, fetched[0].stream, shared=not connection.alone)
        limit = amplification(own)
        last = len(path.down.index) - 1
        return cls(connection, path, fetched, SetUp(own, path, limit), judge(own, path, last, _ONE, limit))

    @property
    def evidence(self) -> Evidence:
        """The trial as far as it is of the connection that the video came over."""
        return self.connection.evidence

    def account(self, wait: Wait) -> list[Edge]:
        """The edges of one wait, in order."""
        fetch, arrived_ns = self._needed(wait)
        latest: list[Edge] = []
        if arrived_ns < wait.until_ns:
            latest.append(Edge(What.CLIENT, arrived_ns, wait.until_ns, reason=PLAYER, object=fetch.name))
        for edge in self._back(fetch, arrived_ns, wait.from_ns):
            if edge.until_ns <= wait.from_ns:
                break
            latest.append(edge)
        cut = [_cut(edge, wait) for edge in reversed(latest) if edge.from_ns < wait.until_ns]
        return processor.name_processor_edges(self.evidence, self.path, chained(cut, wait.from_ns, wait.until_ns))

    def _needed(self, wait: Wait) -> tuple[Fetch, int]:
        """The answer that a player had waited for last, and the arrival of the last byte of it that it needed."""
        if wait.reached_ms is None:
            return self._next(wait)
        video = self.evidence.trial.expected.video
        if video is None or video.length is None:
            raise Unknown("the trial does not tell how long its video is")
        if video.file_bytes is None:
            if video.segment is None:
                raise Unknown("the trial does not tell how long a segment of its video is")
            return self._segment(wait, video.segment.ns / 1e6)
        share = wait.reached_ms * 1e6 / video.length.ns
        came: list[tuple[int, Fetch]] = []
        if not video.decode or share >= _LEAST_SHARE:
            place = int(share * video.file_bytes)
            came = [(at, each) for each in self.fetched if (at := each.arrival(place)) and at <= wait.able_ns]
        if not came:
            came = [(at, each) for each in self.fetched if (at := each.last_before(wait.able_ns))]
            came = came and [max(came, key=lambda pair: pair[0])]
        if wait.of == MetricScope.START_UP and video.decode:
            most = first_picture_bytes(video.length.ns / 1e9, video.file_bytes, video.frame_rate)
            came += [(at, each) for each in self.fetched if (at := each.arrival(most)) and at <= wait.able_ns]
        if not came:
            raise Unknown("nothing of the video is found that had come when the player said that it could play")
        at, each = min(came, key=lambda pair: pair[0])
        return each, at

    def _segment(self, wait: Wait, length_ms: float) -> tuple[Fetch, int]:
        last = int(((wait.reached_ms or 0) + _TICK_MS) // length_ms)
        had = [
            (each.done_ns, each)
            for each in self.fetched
            if each.segment is not None and each.segment <= last and each.done_ns and each.done_ns <= wait.until_ns
        ]
        if not had:
            raise Unknown("no segment shows that was there when the player says that it could play")
        at, each = max(had, key=lambda pair: pair[0])
        return each, at

    def _next(self, wait: Wait) -> tuple[Fetch, int]:
        """The next packet with data that came when the trial was over, of what a player had asked for last."""
        asked = [each for each in self.fetched if each.left_ns <= wait.until_ns]
        down = self.path.down
        for at in range(bisect_right(down.came_ns, wait.until_ns), len(down.came)):
            content = self.path.content(down, down.came[at])
            if asked and (content is None or content.payload_bytes):
                return asked[-1], down.came_ns[at]
        raise Unknown("the trial was over before the stall was, and nothing that the player waited for came after")

    def _back(self, fetch: Fetch, arrived_ns: int, floor_ns: int) -> Iterator[Edge]:
        """Edges from the arrival of what was needed of an answer back to an instant or to the start, latest first."""
        while arrived_ns > floor_ns:
            had = [(each.done_ns, each) for each in self.fetched if each.done_ns and each.done_ns <= fetch.left_ns]
            from_ns = fetch.left_ns if had else self._set_up_ns
            yield from (replace(edge, object=fetch.name) for edge in self._answer(fetch, arrived_ns, from_ns, floor_ns))
            if not had:
                yield from self._start(floor_ns)
                return
            arrived_ns, before = max(had, key=lambda pair: pair[0])
            yield Edge(What.CLIENT, arrived_ns, fetch.left_ns, reason=_ASKS, object=fetch.name)
            fetch = before

    def _answer(self, fetch: Fetch, arrived_ns: int, from_ns: int, floor_ns: int) -> list[Edge]:
        """Edges of an answer back to an instant at which it had been asked for, latest first; those before `floor_ns`
        may lack."""
        path = self._labelled(fetch.stream)
        completing, first = _arrived_at(path.down, arrived_ns), self._first(fetch)
        # Where jitter is, what was served last by then may have been sent behind what has not arrived yet.
        served = min(self._served_by(floor_ns), completing)
        if first > completing:
            raise Unknown(_CONTRADICT)
        own = replace(self.judge, path=path, answers_ns=fetch.answers_ns, last=self._end(fetch, completing))
        bodies, start = response_edges(path, own, max(first, served), completing)
        if served > first:
            return bodies[::-1]
        asked = replace(self.before, path=path, asked_ns=fetch.asked_ns).request_edges(
            start.position, start.place, from_ns
        )
        return [*reversed(bodies), *reversed(asked)]

    def _start(self, floor_ns: int) -> Iterator[Edge]:
        """Edges from the first packet that can carry a request back to the instant at which the video was asked for."""
        zero_ns = self.evidence.zero_ns
        carrier = next((p for p, at in enumerate(self.path.up.arrival) if at == self._set_up_ns), None)
        if carrier is None:
            raise Unknown("the packet that can carry the request is not found in the link's log")
        yield from reversed(self.before.set_up_edges(carrier, zero_ns))
        yield from self.connection.before(floor_ns)

    @cached_property
    def _set_up_ns(self) -> int:
        return self.evidence.zero_ns + round(times.setup_ms(self.evidence) * 1e6)

    def _first(self, fetch: Fetch) -> int:
        """Position of the first packet with data that is served once the server answers a request."""
        down, up = self.path.down, self.path.up
        came = [up.written[p] or 0 for p in up.came if up.arrival[p] >= fetch.left_ns]
        if not came:
            raise Unknown("no packet of the client that could carry the request reached the server")
        since_ns = max(min(came), fetch.answers_ns or 0)
        for position in range(bisect_left(down.arrival, since_ns), len(down.arrival)):
            content = self.path.content(down, position)
            carries = content is None or (content.payload_bytes and content.stream in (None, fetch.stream))
            if carries and down.is_served(position):
                return position
        raise Unknown(_CONTRADICT)

    def _labelled(self, own: int) -> Path:
        """The path, on which first-time bytes of another stream are another object's."""
        if own not in self._labels:
            new = (What.PAYLOAD, What.OTHER_OBJECT)
            self._labels[own] = {
                index: replace(each, what=What.PAYLOAD if each.stream in (None, own) else What.OTHER_OBJECT)
                if each.what in new
                else each
                for index, each in self.path.carried_down.items()
            }
        return replace(self.path, carried_down=self._labels[own])

    @cached_property
    def _labels(self) -> dict[int, dict[int, Content]]:
        return {}

    def _served_by(self, time_ns: int) -> int:
        """Position of the packet that was the last to be served by an instant: a walk back to that ends with it."""
        at = bisect_right(self._ends, (time_ns, len(self.path.down.index)))
        return self._ends[at - 1][1] if at else 0

    @cached_property
    def _ends(self) -> list[tuple[int, int]]:
        """(End of service at the last link of its course, position) of each packet that every link has served."""
        down = self.path.down
        lasts = ((position, down.hops[number], at) for position, (*_, (number, at)) in enumerate(down.course))
        return sorted((hop.end(at), position) for position, hop, at in lasts if hop.left[at] is not None)

    def _end(self, fetch: Fetch, completing: int) -> int:
        """Bytes that the server had sent when the next request left."""
        later = [each.left_ns for each in self.fetched if each.left_ns > fetch.left_ns]
        last = bisect_left(self.path.down.arrival, min(later)) - 1 if later else len(self._sent) - 1
        return self._sent[max(last, completing)]

    @cached_property
    def _sent(self) -> list[int]:
        """Bytes of the bodies that had been sent with each packet."""
        each = (self.path.content(self.path.down, position) for position in range(len(self.path.down.index)))
        return list(accumulate((content.reached.bodies if content and content.reached else 0 for content in each), max))


def _arrived_at(down: Way, time_ns: int) -> int:
    """Position of the last packet that arrived at an instant. Raises Unknown without one."""
    at = bisect_right(down.came_ns, time_ns)
    if not at or down.came_ns[at - 1] != time_ns:
        raise Unknown("a packet that brought what the player waited for is not found in the link's log")
    return down.came[at - 1]


def _cut(edge: Edge, wait: Wait) -> Edge:
    """The part of an edge within a wait; the packet behind one that the end of the trial cuts off is not within it."""
    inside = edge.clipped(wait.from_ns)
    if edge.until_ns <= wait.until_ns:
        return inside
    return replace(inside, until_ns=wait.until_ns, packet_index=None, direction=None, link=None)
