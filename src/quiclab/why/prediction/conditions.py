# SPDX-License-Identifier: Apache-2.0
"""The graph of a transfer: for each packet of both ends the condition on which it left, as the records show it.

A packet of the bodies' sender left when a packet had come that let it (an acknowledgment, new credit), right behind
the packet before it, or when a time of the sender's own was over. A packet of the receiver left because of what had
come, at once or held back. Beside the condition that held, the graph knows others that would have held next: credit
and buffers by their offsets, and the congestion window by the rule of slow start.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from statistics import median

import polars as pl

from quiclab.evidence.metrics import Unknown
from quiclab.model.cause import UNIONS, Why
from quiclab.why.account.critical_path import Before, Path
from quiclab.why.account.edges import PROMPT_NS
from quiclab.why.account.response import with_data
from quiclab.why.account.sender_cause import Judge
from quiclab.why.account.series import Steps
from quiclab.why.account.transfer import Transfer

_TOGETHER_NS = 50_000
"""Distance up to which a packet follows the one before at once."""
_MOST_PACKETS = 10_000
"""Packets of the bodies up to which a transfer is evaluated: each is judged by all records, which takes seconds."""
_SENT_ON_ITS_OWN = (Before.SENDING, Before.DATA)
_NO_WAIT = (Why.LINK_BUSY, Why.LAST_FLIGHT, Why.REQUEST)
_PACES = (*UNIONS[Why.PACING_OR_PROGRAM], Why.PACING_OR_PROGRAM)
SLOW_START, LARGEST_WINDOW = "slow_start", "largest_window"
LEFT_EARLY = "slow_start_left_without_loss"
OF_LIMIT: Mapping[Why, str] = {
    Why.SLOW_START: SLOW_START,
    Why.STREAM_CREDIT: "stream_flow_control_limited",
    Why.CONNECTION_CREDIT: "connection_flow_control_limited",
    Why.RECEIVE_WINDOW: "receive_window_limited",
    Why.SEND_BUFFER: "send_buffer_limited",
}
"""Reason for which a limit holds a sender back → the mechanism that it is."""


@dataclass(frozen=True)
class Sent:
    """Condition on which a packet of the bodies' sender left."""

    because_of: int | None
    """Position of the packet to the sender that let it go; None where it followed the sender's packet before."""
    after_ns: int
    """Time from that to its sending."""
    mechanism: str | None = None
    """Mechanism that had kept it back until then; None where it left with the packet before, or nothing names one."""
    why: Why | None = None


@dataclass(frozen=True)
class Answered:
    """Condition on which a packet of the receiver left."""

    because_of: int | None
    """Position of the packet to the receiver; None where it followed the receiver's packet before."""
    after_ns: int
    is_held: bool = False
    """True if it was held back so as to acknowledge more."""


@dataclass(frozen=True)
class Wait:
    """A wait of the account, with the mechanism whose time it is."""

    from_ns: int
    until_ns: int
    why: Why
    mechanism: str | None


@dataclass(frozen=True)
class Graph:
    """Packets of both ends from the first of the bodies on, with the conditions on which they left."""

    path: Path
    judge: Judge
    first: int
    completing: int
    sent: Mapping[int, Sent]
    """Position in the bodies' direction → condition, of all but the first packet."""
    answered: Mapping[int, Answered]
    """Position in the other direction → condition, from the first packet of the bodies on."""
    waits: Sequence[Wait]
    largest_bytes: int | None
    """Bound of the sender's own on its window; None where it shows none."""

    @property
    def begin_ns(self) -> int:
        """Instant at which the first packet of the bodies left."""
        return self.path.ahead.arrival[self.first]

    @property
    def end_ns(self) -> int:
        """Arrival of the packet that completes the bodies."""
        return self.path.ahead.written[self.completing] or 0

    @cached_property
    def reached(self) -> tuple[list[int], list[int]]:
        """Positions of packets with bytes of the bodies, and the bytes that had been sent with each."""
        told = [(p, self._offset(p)) for p in range(self.first, self.completing + 1)]
        known = [(p, offset) for p, offset in told if offset is not None]
        return [p for p, _ in known], list(accumulate((offset for _, offset in known), max))

    @cached_property
    def packet_bytes(self) -> int:
        """Bytes of the bodies in a full packet."""
        _, offsets = self.reached
        return max((after - before for before, after in pairwise(offsets)), default=0)

    @cached_property
    def packets_for_an_answer(self) -> int:
        """Packets that came to the receiver, at the median, for one that it sent without holding it back."""
        ahead, back = self.path.ahead, self.path.into(self.path.sender)
        prompt = [at for at, told in self.answered.items() if told.because_of is not None and not told.is_held and at]
        came = [ahead.number_by(back.arrival[at]) - ahead.number_by(back.arrival[at - 1]) for at in prompt]
        return max(1, round(median(came))) if came else 1

    @cached_property
    def initial_window(self) -> float | None:
        """Window with which the sender began, in bytes of the bodies: by its log or kernel, else by the most that its
        capture has in flight before the first acknowledgment."""
        _, offsets = self.reached
        answer = self.acknowledgment_of(offsets[0]) if offsets else None
        came_ns = None if answer is None else self.path.into(self.path.sender).written[answer]
        if came_ns is None or not self.packet_bytes:
            return None
        window, wire = self.judge.window, self.judge.window.datagram_bytes
        logged = window.window.before(came_ns)
        if logged is not None:  # what acknowledged the handshake has made it grow
            return logged * self.packet_bytes / wire
        packets = [each.window for each in self.judge.kernel.samples if each.window and each.time_ns < came_ns]
        if packets:
            return float(packets[-1] * self.packet_bytes)
        flight = [value for _, value in self.judge.captured.in_flight.within(0, came_ns)]
        return max(flight) * self.packet_bytes / wire if flight else None

    def acknowledgment_of(self, offset: float) -> int | None:
        """Position of the receiver's first packet that reached the sender and was sent when all up to an offset had
        come; None without one."""
        positions, offsets = self.reached
        at = bisect_left(offsets, offset)
        came_ns = self.path.ahead.written[positions[at]] if at < len(positions) else None
        if came_ns is None:
            return None
        back = self.path.into(self.path.sender)
        after = range(bisect_left(back.arrival, came_ns), len(back.arrival))
        return next((answer for answer in after if back.written[answer] is not None), None)

    def limits_of(self, position: int, without: frozenset[str], window: float | None) -> Iterator[tuple[Why, int]]:
        """Limits that could have kept a packet back next, but for those of mechanisms that are not there: each with the
        position of the packet to the sender that would have let it go. `window` is the one that slow start begins
        with, in bytes of the bodies; None if it limits nothing.
        """
        sent_ns, offset = self.path.ahead.arrival[position], self._offset(position)
        content = self.path.content(self.path.ahead, position)
        if offset is None or content is None or content.again:
            return
        needed: list[tuple[Why, float]] = []
        if window is not None:
            needed.append((Why.SLOW_START, self._needed_of_window(offset, sent_ns, window, without)))
        if self.largest_bytes is not None and LARGEST_WINDOW not in without:
            needed.append((Why.WINDOW, offset - self.largest_bytes))
        # Credit that is used up leaves the same plateau of unacknowledged bytes as a buffer: waits tell them apart.
        told = content.stream is not None and any(each.why is Why.SEND_BUFFER for each in self.waits)
        size = self.judge.buffer.sizes.get(content.stream or 0) if told else None
        if size is not None:
            needed.append((Why.SEND_BUFFER, offset - size))
        room = self._receive_window.by(sent_ns)
        if room is not None:
            needed.append((Why.RECEIVE_WINDOW, offset - room))
        for why, at_least in needed:
            limited = why is Why.SLOW_START or OF_LIMIT.get(why) not in without
            if limited and at_least > self._begins_at:
                answer = self.acknowledgment_of(at_least)
                if answer is not None and self._came_by(answer, sent_ns):
                    yield why, answer
        for why, given, used in self._credits(content.stream):
            bytes_ = used.by(sent_ns)
            if OF_LIMIT[why] not in without and bytes_:
                at = bisect_left(given.values, bytes_)
                answer = self._came_at(given.at_ns[at]) if at < len(given.at_ns) else None
                if answer is not None and self._came_by(answer, sent_ns):
                    yield why, answer

    def _needed_of_window(self, offset: int, sent_ns: int, window: float, without: frozenset[str]) -> float:
        """Bytes that must be acknowledged for a window to have room for a packet: in slow start it grows by what is
        acknowledged (RFC 5681 section 3.1, RFC 9002 section 7.3.1), later it is what the records show."""
        history = self.judge.window.history if self.judge.window.history.known else self.judge.kernel.history
        event = history.events.by(sent_ns)
        if event is None or (event.why is Why.WINDOW_AFTER_EXIT and LEFT_EARLY in without):
            return self._begins_at + (offset - self._begins_at - window) / 2
        logged, samples = self.judge.window.window.by(sent_ns), self.judge.kernel.near(sent_ns, sent_ns)
        packets = samples[-1].window if samples else None
        now = logged if logged is not None else packets and packets * self.packet_bytes
        return offset - now if now else self._begins_at

    @cached_property
    def _begins_at(self) -> int:
        positions, offsets = self.reached
        content = self.path.content(self.path.ahead, positions[0]) if positions else None
        return offsets[0] - content.payload_bytes if content else 0

    @cached_property
    def _receive_window(self) -> Steps[int]:
        return self.judge.kernel.receive_window

    def _offset(self, position: int) -> int | None:
        content = self.path.content(self.path.ahead, position)
        return content.reached.connection if content is not None and content.reached else None

    def _credits(self, stream: int | None) -> Iterator[tuple[Why, Steps[int], Steps[int]]]:
        credit = self.judge.credit
        if stream is not None and stream in credit.streams:
            yield Why.STREAM_CREDIT, credit.streams[stream], credit.used[stream]
        yield Why.CONNECTION_CREDIT, credit.connection, credit.used_in_all

    def _came_at(self, time_ns: int) -> int | None:
        """Position of the packet to the sender that brought something at an instant; None of what it had before."""
        return self.path.into(self.path.sender).last_came(time_ns) if time_ns > self.begin_ns else None

    def _came_by(self, answer: int, time_ns: int) -> bool:
        came_ns = self.path.into(self.path.sender).written[answer]
        return came_ns is not None and came_ns <= time_ns


def graph_of(of: Transfer, account: pl.DataFrame) -> Graph:
    """The graph of a transfer; `account` names the mechanism of each edge.

    Raises Unknown for a transfer over several links at once, through a proxy, beside other flows, or to a new address.
    """
    path, judge = of.path, of.judge
    if not isinstance(judge, Judge) or path.shared or path.origin is not None or path.siblings:
        raise Unknown("only one connection by itself, without a proxy, is evaluated again")
    if of.completing - of.first >= _MOST_PACKETS:
        raise Unknown(f"only transfers of up to {_MOST_PACKETS} packets are evaluated again")
    if path.ahead.forks or path.up.forks or path.down.forks:
        raise Unknown("only links in a row are evaluated again")
    waits = list(_waits(account))
    starved = [each for each in waits if each.mechanism and each.mechanism.endswith("_without_processor")]
    return Graph(
        path,
        judge,
        of.first,
        of.completing,
        {p: _sent(of, judge, p, waits) for p in range(of.first + 1, of.completing + 1)},
        dict(_answers(of, starved)),
        waits,
        _largest(judge, waits),
    )


def _waits(account: pl.DataFrame) -> Iterator[Wait]:
    """Waits of an account between times in which a link was busy, each with the mechanism that has most of it.

    What lasts no longer than a prompt answer, and what the laboratory adds, is a part of the wait around it.
    """
    several: list[Wait] = []
    for from_ns, until_ns, why, mechanism in account.select("from_ns", "until_ns", "why", "mechanism").iter_rows():
        edge = Wait(from_ns, until_ns, Why(why), mechanism)
        is_part = edge.why is Why.LABORATORY or until_ns - from_ns <= PROMPT_NS
        if several and (edge.why in _NO_WAIT or (not is_part and edge.why is not several[-1].why)):
            yield _whole(several)
            several = []
        if edge.why not in _NO_WAIT:
            several.append(edge)
    if several:
        yield _whole(several)


def _whole(edges: Sequence[Wait]) -> Wait:
    took: Counter[tuple[Why, str | None]] = Counter()
    for edge in edges:
        took[edge.why, edge.mechanism] += edge.until_ns - edge.from_ns
    (why, mechanism), _ = took.most_common(1)[0]
    return Wait(edges[0].from_ns, edges[-1].until_ns, why, mechanism)


def _sent(of: Transfer, judge: Judge, position: int, waits: Sequence[Wait]) -> Sent:
    ahead, back = of.path.ahead, of.path.into(of.path.sender)
    sent_ns, before_ns = ahead.arrival[position], ahead.arrival[position - 1]
    came = back.last_came(sent_ns)
    came_ns = None if came is None else back.written[came]
    is_since = came_ns is not None and came_ns >= before_ns
    if not is_since and sent_ns - before_ns <= _TOGETHER_NS:
        return Sent(None, sent_ns - before_ns)
    data = with_data(of.path, judge, position, of.completing)
    reason = judge.reason(data, before_ns)
    wait = _wait_of(waits, reason.why, sent_ns)
    mechanism, why = (wait.mechanism, wait.why) if wait is not None else (None, reason.why)
    if came_ns is not None and is_since and judge.cause(position, reason, data).before not in _SENT_ON_ITS_OWN:
        return Sent(came, sent_ns - came_ns, mechanism, why)
    return Sent(None, sent_ns - before_ns, mechanism, why)


def _wait_of(waits: Sequence[Wait], why: Why, time_ns: int) -> Wait | None:
    """The wait that a sending ended; where the link was busy then, the nearest one for the same reason."""
    at = bisect_left(waits, time_ns, key=lambda each: each.until_ns)
    if at < len(waits) and waits[at].from_ns < time_ns <= waits[at].until_ns:
        return waits[at]
    alike = [each for each in waits if each.why is why or (each.why in _PACES and why in _PACES)]
    return min(alike, key=lambda each: max(each.from_ns - time_ns, time_ns - each.until_ns, 0), default=None)


def _answers(of: Transfer, starved: Sequence[Wait]) -> Iterator[tuple[int, Answered]]:
    ahead, back = of.path.ahead, of.path.into(of.path.sender)
    begin_ns = ahead.arrival[of.first]
    for answer in range(bisect_left(back.arrival, begin_ns), len(back.arrival)):
        sent_ns, before_ns = back.arrival[answer], back.arrival[answer - 1] if answer else 0
        came = ahead.last_came(sent_ns)
        came_ns = None if came is None else ahead.written[came]
        if came is None or came_ns is None or came < of.first:
            yield answer, Answered(None, sent_ns - before_ns)
            continue
        if sent_ns - came_ns <= PROMPT_NS:
            yield answer, Answered(came, sent_ns - came_ns)
            continue
        if came_ns <= before_ns:
            yield answer, Answered(None, sent_ns - before_ns)
            continue
        # It was held back since the first packet came that was not acknowledged yet.
        owed = ahead.came[bisect_right(ahead.came_ns, before_ns)]
        owed_ns = ahead.written[owed] or 0
        held = not any(each.from_ns < sent_ns and owed_ns < each.until_ns for each in starved)
        yield answer, Answered(owed, sent_ns - owed_ns, held) if owed >= of.first else Answered(came, sent_ns - came_ns)


def _largest(judge: Judge, waits: Sequence[Wait]) -> int | None:
    if not any(each.mechanism == LARGEST_WINDOW for each in waits):
        return None
    logged = max(judge.window.window.values, default=0)
    sampled = max((each.window or 0 for each in judge.kernel.samples), default=0) * (judge.kernel.full_bytes or 0)
    return logged or sampled or None
