# SPDX-License-Identifier: Apache-2.0
"""The graph of a transfer evaluated again: when each packet leaves and comes if some mechanisms are not there.

Packets are taken in the order in which they left. Each leaves when its condition is met, by the new times of what it
depends on; the links serve packets one after the other, in the time that each took, and pass them on with the delay
that each had. Where a mechanism that is not there had kept a packet back, the next limit that the records know does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from quiclab.model.cause import Why
from quiclab.why.account.forward_path import Way
from quiclab.why.prediction.conditions import SLOW_START, Answered, Graph, Sent


@dataclass(frozen=True)
class Evaluation:
    """Result of an evaluation."""

    end_ns: int
    """Instant at which the bodies are complete."""
    idle_ns: Mapping[Why, int]
    """Time for which the sender's link had nothing to serve, by the reason why the next packet left no earlier."""


@dataclass
class _Run:
    """An evaluation under way."""

    graph: Graph
    without: frozenset[str]
    window: float | None
    sent_ns: dict[int, int] = field(default_factory=dict)
    came_ns: dict[int, int | None] = field(default_factory=dict)
    """Packets of the bodies' sender at the receiver."""
    answered_ns: dict[int, int] = field(default_factory=dict)
    back_ns: dict[int, int | None] = field(default_factory=dict)
    """Packets of the receiver at the sender."""
    free_ns: dict[tuple[str, int], int] = field(default_factory=dict)
    """Hop → end of its last service."""
    idle_ns: Counter[Why] = field(default_factory=Counter)
    is_free: bool = False
    """True while packets leave that nothing keeps back any more but the next limit."""
    why: Why = Why.LINK_BUSY

    def evaluate(self) -> Evaluation:
        graph, ahead = self.graph, self.graph.path.ahead
        back = graph.path.into(graph.path.sender)
        self._as_before(ahead, range(graph.first))
        before = range(min(graph.answered, default=len(back.arrival)))
        self._as_before(back, before)
        self.answered_ns |= {answer: back.arrival[answer] for answer in before}
        self.back_ns |= {answer: back.written[answer] for answer in before}
        events = [(ahead.arrival[position], 0, position) for position in range(graph.first, graph.completing + 1)]
        events += [(back.arrival[answer], 1, answer) for answer in graph.answered]
        for _, is_answer, position in sorted(events):
            if is_answer:
                self._answer(back, position)
            elif position not in self.sent_ns:
                self._send(ahead, position)
        return Evaluation(self.came_ns[graph.completing] or 0, self.idle_ns)

    def _as_before(self, way: Way, positions: range) -> None:
        """Links are busy with what they were busy with before."""
        for position in positions:
            for number, at in way.course[position]:
                end = way.hops[number].left[at]
                key = (way.direction, number)
                self.free_ns[key] = max(self.free_ns.get(key, 0), end or 0)

    def _send(self, way: Way, position: int) -> None:
        if position == self.graph.first:
            self.sent_ns[position] = self.graph.begin_ns
        else:
            self.sent_ns[position] = self._leaves(position, self.graph.sent[position])
        number, at = way.course[position][0]
        if way.hops[number].left[at] is not None:
            idle_ns = self.sent_ns[position] - self.free_ns.get((way.direction, number), self.sent_ns[position])
            self.idle_ns[self.why] += max(0, idle_ns)
        self.came_ns[position] = self._through(way, position, self.sent_ns[position])

    def _send_ahead(self, way: Way, until: int) -> int | None:
        """Send what is free to leave up to a position, and return when that comes; None where it does not yet."""
        position = len(self.sent_ns) + self.graph.first
        while position <= min(until, self.graph.completing):
            sent = self.graph.sent[position]
            limits = self.graph.limits_of(position, self.without, self.window)
            if not self._frees(sent) or any(answer not in self.back_ns for _, answer in limits):
                return None
            self._send(way, position)
            position += 1
        return self.came_ns.get(until)

    def _frees(self, sent: Sent) -> bool:
        """True if nothing keeps a packet back any more but the next limit; those that follow at once are as it is."""
        if sent.because_of is None and sent.why is None:
            return self.is_free
        return sent.mechanism in self.without or self._by_rule(sent)

    def _leaves(self, position: int, sent: Sent) -> int:
        before_ns = self.sent_ns[position - 1]
        self.is_free = self._frees(sent)
        self.why = sent.why or self.why
        if not self.is_free:
            came_ns = None if sent.because_of is None else self.back_ns[sent.because_of]
            return before_ns + sent.after_ns if came_ns is None else max(before_ns, came_ns + sent.after_ns)
        leaves_ns = before_ns
        for why, answer in self.graph.limits_of(position, self.without, self.window):
            came_ns = self.back_ns.get(answer)
            if came_ns is not None and came_ns > leaves_ns:
                leaves_ns, self.why = came_ns, why
        return leaves_ns

    def _by_rule(self, sent: Sent) -> bool:
        """True if a packet waited for slow start, and is to leave by its rule: without a limit the window is no longer
        the one that it was observed with."""
        in_slow_start = sent.why is Why.SLOW_START and sent.mechanism in (SLOW_START, None)
        return bool(self.without) and self.window is not None and in_slow_start

    def _answer(self, way: Way, answer: int) -> None:
        told = self.graph.answered[answer]
        came_ns = None if told.because_of is None else self.came_ns.get(told.because_of)
        before_ns = self.answered_ns.get(answer - 1, 0)
        if came_ns is None:
            earlier_ns = way.arrival[answer - 1] if answer else way.arrival[answer]
            leaves_ns = before_ns + way.arrival[answer] - earlier_ns if answer else way.arrival[answer]
        else:
            leaves_ns = max(before_ns, came_ns + self._held_ns(told, came_ns))
        self.answered_ns[answer] = leaves_ns
        self.back_ns[answer] = self._through(way, answer, leaves_ns)

    def _held_ns(self, told: Answered, came_ns: int) -> int:
        """Time for which an answer is held back: until as many packets have come as one is usually for, at most."""
        if not told.is_held or told.because_of is None:
            return told.after_ns
        last = told.because_of + self.graph.packets_for_an_answer - 1
        last_ns = self._send_ahead(self.graph.path.ahead, last) if self.without else None
        return told.after_ns if last_ns is None else min(told.after_ns, max(0, last_ns - came_ns))

    def _through(self, way: Way, position: int, leaves_ns: int) -> int | None:
        """Arrival behind the links; None of a packet that is lost."""
        course, now_ns = way.course[position], leaves_ns
        for (number, at), following in zip(course, [*course[1:], None], strict=True):
            hop = way.hops[number]
            end_ns = hop.left[at]
            if end_ns is None:
                return None
            key = (way.direction, number)
            now_ns = max(now_ns, self.free_ns.get(key, 0)) + hop.service[at]
            self.free_ns[key] = now_ns
            if following is not None:
                now_ns += way.hops[following[0]].arrival[following[1]] - end_ns
        written_ns, last = way.written[position], course[-1]
        return None if written_ns is None else now_ns + written_ns - (way.hops[last[0]].left[last[1]] or 0)


def evaluation(graph: Graph, without: frozenset[str] = frozenset(), window: float | None = None) -> Evaluation:
    """Evaluate a transfer again, without some mechanisms; `window` is the one that slow start begins with, in bytes of
    the bodies (None: it limits nothing)."""
    return _Run(graph, without, window).evaluate()
