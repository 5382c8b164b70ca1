# SPDX-License-Identifier: Apache-2.0
"""Reason why a sender had not sent a packet of the bodies earlier: all evidence, in the order in which it counts.

Whether anything had been asked for; timers; the sender's own word; whether its client's address was known to it;
whether it had anything left that it had not sent; its window and credit; the kernel's samples; the captures. Where
nothing decides, the label says only whether a packet of the other end prompted it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.model.activity import What
from quiclab.model.cause import UNIONS, Why
from quiclab.why.account.amplification import Amplification
from quiclab.why.account.blocked_log import OwnWord, own_word
from quiclab.why.account.buffer import SendBuffer, send_buffer
from quiclab.why.account.captured_window import CapturedWindow, captured_window
from quiclab.why.account.credit import Credit, credit
from quiclab.why.account.critical_path import Before, Cause, Path
from quiclab.why.account.edges import PROMPT_NS, Reason
from quiclab.why.account.forward_path import Way
from quiclab.why.account.header_captures import hides_credit
from quiclab.why.account.kernel import Kernel, kernel
from quiclab.why.account.objects import Objects
from quiclab.why.account.pacer import evenly_sent
from quiclab.why.account.request import answers_ns
from quiclab.why.account.small_segments import SmallSegments, small_segments
from quiclab.why.account.timers import Expired, expired
from quiclab.why.account.unprompted import Emptied, emptied, was_answered
from quiclab.why.account.window import LoggedWindow, logged_window

_OWN = (Why.PACING, Why.LOSS_TIMER, Why.PROBE_TIMER)
"""Reasons that are timers of the sender."""
_CREDITS = (Why.STREAM_CREDIT, Why.CONNECTION_CREDIT)
_BUFFER = Reason(Why.SEND_BUFFER, "unacknowledged")
_AFTER_WAITING = (Why.PACING_OR_PROGRAM, Why.APPLICATION, Why.CORK, Why.KEPT_IN_KERNEL, Why.UNEXPLAINED)
"""Reasons that say nothing about a time before the last packet came to the sender."""


@dataclass(frozen=True)
class Judge:
    """Everything that is known of one sender."""

    path: Path
    word: OwnWord
    timers: Expired
    window: LoggedWindow
    captured: CapturedWindow
    kernel: Kernel
    small: SmallSegments
    credit: Credit
    buffer: SendBuffer
    emptied: Emptied
    paced: Collection[int]
    """Positions of packets that a pacer's even intervals let go."""
    objects: Objects
    amplification: Amplification
    arrivals: Sequence[int]
    """Instants at which packets came to the sender."""
    read_ns: dict[int, int]
    """`index` of a packet to the sender → instant at which the sender's log shows it, later than it came."""
    built_ns: dict[int, int]
    """`index` of a packet of the sender → instant at which the sender's log has it, which is before it left."""
    last: int
    """Bytes of the bodies' streams, or of TCP's, that the sender sent up to the completing packet."""
    answers_ns: int | None
    """Instant at which the server sent the (first) response's headers; None for uploads."""
    hidden_credit: bool
    """True if captures of headers hide how much of HTTP/2's credit is used."""

    @property
    def _came(self) -> Way:
        """The direction from which packets come to the sender."""
        return self.path.into(self.path.sender)

    def reason(self, position: int, idle_from_ns: int) -> Reason:
        """Reason why the packet at a position in the bodies' direction was not sent while the bottleneck was idle since
        `idle_from_ns`."""
        ahead = self.path.ahead
        sent_ns = ahead.arrival[position]
        if sent_ns <= idle_from_ns:  # over links in a row it had left before: what counts is the wait before that
            idle_from_ns = min(idle_from_ns, self._data_before(position))
        came = self._came.last_came(sent_ns)
        came_ns = None if came is None else self._came.written[came]
        if self.answers_ns is not None and sent_ns <= self.answers_ns:
            return Reason(Why.REQUEST, "http_requests")
        content = self.path.content(ahead, position)
        again = content is not None and content.again
        prompted = came is not None and self._prompted(came, sent_ns)
        next_object = None if again else self.objects.reason(idle_from_ns, sent_ns)
        if next_object is not None:
            return next_object
        timer = self.timers.reason(came_ns, sent_ns, prompted=prompted)
        if timer is not None:
            return timer
        # What the log says as it has the packet is about what comes after, though the packet leaves a little later.
        built_ns = max(idle_from_ns, min(sent_ns, self.built_ns.get(ahead.index[position], sent_ns)))
        waited_ns = came_ns if prompted and came_ns is not None else built_ns
        said = self.word.reason(idle_from_ns, built_ns)
        spent, full = self._used_up(position, waited_ns, content.stream if content else None)
        if said is Why.APPLICATION and (again or spent or self._belied(position, full=full)):
            # Nothing *new* that it may send: not every program is told of the credit of its streams, and what is sent
            # again needs none. Nor does what a library had taken from its program before.
            said = None
        if said in _CREDITS and again:
            said = None
        if said is Why.WINDOW:
            return self._history(waited_ns, "blocked")
        if said is not None:
            return Reason(said, "blocked")
        if self._limited(position):
            return Reason(Why.AMPLIFICATION_LIMIT, "link_packets")
        if not prompted:
            return self._unprompted_reason(position, idle_from_ns, again=again)
        if again and (spent or self._all_sent(position)):
            return self._reason_by_loss(position, waited_ns, idle_from_ns, full=full)
        return self._prompted_reason(position, waited_ns, idle_from_ns, spent, full=full, again=again)

    def _belied(self, position: int, *, full: bool | None) -> bool:
        """True where a sender had something to send although its word, that it has nothing, held on: it had kept that
        for its window; or it takes its word back with an acknowledgment alone, as quinn does, and had sent data since
        the one before.

        What it sends first after an acknowledgment may be what it then got; of what follows that word says nothing.
        """
        spell = self.word.spell(Why.APPLICATION, self.path.ahead.arrival[position])
        if spell is None:
            return False
        since_ns, until_ns = spell
        if full and until_ns > self.path.ahead.arrival[position] + PROMPT_NS:
            return True
        first = bisect_left(self.arrivals, until_ns - PROMPT_NS)
        taken_back = 0 < first < bisect_right(self.arrivals, until_ns)
        return taken_back and self._data_before(position) > max(since_ns, self.arrivals[first - 1])

    def probes(self, position: int) -> bool:
        """True if a packet without data left, unprompted, because a timer of the sender's log had ended."""
        sent_ns = self.path.ahead.arrival[position]
        content, came = self.path.content(self.path.ahead, position), self._came.last_came(sent_ns)
        if content is None or not content.unasked or (came is not None and self._prompted(came, sent_ns)):
            return False
        return (
            self.timers.reason(None if came is None else self._came.written[came], sent_ns, prompted=False) is not None
        )

    def cause(self, position: int, reason: Reason, data: int) -> Cause:
        """Cause that a packet's sending goes back to, given why the packet at position `data`, which is the same or the
        first with data after it, came no earlier."""
        if reason.why in _OWN:
            before = Before.SENDING if reason.why is Why.PACING else Before.LATEST
            return Cause(before, What.TIMER)
        what = What.SERVER if self.path.sender == "server" else What.CLIENT
        came = self._came.last_came(self.path.ahead.arrival[position])
        if came is None:
            return Cause(Before.LATEST, what)
        had_room = reason.why in UNIONS[Why.PACING_OR_PROGRAM] or reason.why is Why.PACING_OR_PROGRAM
        prompted = self._prompted(came, self.path.ahead.arrival[position])
        if had_room and (data != position or not prompted):
            # What came earlier, or let only an acknowledgment leave, had nothing to do with it, unless it gave room.
            had_room = self.before_arrival(self._came.written[came] or 0, reason, data) == reason
        if not prompted:
            return Cause(Before.DATA if had_room else Before.LATEST, what)
        return Cause(Before.SENDING if had_room else Before.ARRIVAL, what)

    def before_arrival(self, came_ns: int, reason: Reason, position: int) -> Reason:
        """Reason why the sender had waited for the packet that came at an instant, where it sent what is at a position
        later than that for `reason`.

        A window or credit that was used up until then was what it waited for.
        """
        if reason.why not in _AFTER_WAITING:
            return reason
        content = self.path.content(self.path.ahead, position)
        spent, full = self._used_up(position, came_ns, content.stream if content else None)
        if full and spent:
            return Reason(Why.CONTESTED, "flow_control")
        if spent:
            return spent
        if self.hidden_credit and reason.why is Why.APPLICATION:
            return Reason(Why.AWAITING_ACKS, "ip_packets")
        return self._history(came_ns) if full else reason

    def _prompted(self, came: int, sent_ns: int) -> bool:
        """True if the last packet that came let it be sent: within 1 ms of it, or of the log's reading of it."""
        came_ns = self._came.written[came] or 0
        read_ns = self.read_ns.get(self._came.arrived_as[came], came_ns)
        return sent_ns - came_ns <= PROMPT_NS or came_ns <= read_ns <= sent_ns <= read_ns + PROMPT_NS

    def _all_sent(self, position: int) -> bool:
        content = self.path.content(self.path.ahead, position)
        return content is not None and content.reached is not None and content.reached.bodies >= self.last

    def _limited(self, position: int) -> bool:
        """True if the server went on with a response only when more had come from an address that it did not know."""
        ahead = self.path.ahead
        begun = self.answers_ns is not None and position and ahead.arrival[position - 1] >= self.answers_ns
        return bool(begun) and self.amplification.limited(ahead.arrival[position])

    def _history(self, time_ns: int, evidence: str | None = None) -> Reason:
        history = self.window.history if self.window.history.known else self.kernel.history
        found = history.reason(time_ns)
        return replace(found, evidence=evidence) if evidence else found

    def _used_up(self, position: int, waited_ns: int, stream: int | None) -> tuple[Reason | None, bool | None]:
        """The limit that was used up, and whether the window was full, just before the last packet that came to the
        sender; else before one less than 1 ms earlier, since the sender last sent data, which may have ended it.

        Credit for the connection and for the stream, and acknowledgments, come in packets of their own.
        """
        first = bisect_right(self.arrivals, max(waited_ns - PROMPT_NS, self._data_before(position)))
        end = bisect_left(self.arrivals, waited_ns)
        times = [waited_ns, *reversed(self.arrivals[first:end])]
        spent = next((reason for at in times if (reason := self._spent(at, stream))), None)
        fulls = [self.window.full(at) for at in times]
        full = True if any(fulls) else fulls[0]
        if spent is None and full is False and any(self.buffer.full(at, stream) for at in times):
            spent = _BUFFER
        return spent, full

    def _spent(self, time_ns: int, stream: int | None) -> Reason | None:
        limit = self.credit.used_up(time_ns, stream)
        if limit is not None:
            return Reason(limit, "flow_control")
        # Beside a window that the log shows a buffer counts only where that has room: see `_used_up`.
        return _BUFFER if not self.window.history.known and self.buffer.full(time_ns, stream) else None

    def _data_before(self, position: int) -> int:
        """Instant at which the sender last sent something else than acknowledgments before a packet."""
        ahead = self.path.ahead
        for at in self.path.sent_before(self.path.sender, position):
            content = self.path.content(ahead, at)
            if content is None or content.what is not What.ACKNOWLEDGMENTS:
                return ahead.arrival[at]
        return 0

    def _prompted_reason(
        self, position: int, came_ns: int, idle_from_ns: int, spent: Reason | None, *, full: bool | None, again: bool
    ) -> Reason:
        if full is None and self.kernel.samples and not spent:
            return self._reason_by_kernel(self.path.ahead.arrival[position], came_ns, idle_from_ns, again=again)
        if full and spent:
            return Reason(Why.CONTESTED, "flow_control")
        if spent:
            return spent
        if full:
            return self._history(came_ns)
        if again:
            return Reason(Why.LOSS_DETECTION, "ip_packets")
        if full is None:
            shown = self._own_accord(position) or (None if self.hidden_credit else self.captured.reason(came_ns))
            return shown or Reason(Why.AWAITING_ACKS, "ip_packets")
        return Reason(Why.PACING_OR_PROGRAM, "transport_metrics")

    def _own_accord(self, position: int) -> Reason | None:
        """Reason why a packet left of its sender's own accord although another one had just come; None where its
        packets do not show that it did."""
        if position in self.paced:
            return Reason(Why.PACING, "ip_packets")
        return Reason(Why.APPLICATION, "ip_packets") if self.emptied.shows_prompted(position) else None

    def _reason_by_loss(self, position: int, came_ns: int, idle_from_ns: int, *, full: bool | None) -> Reason:
        """Reason why old data had not been sent again earlier, where nothing new was left, or none that the credit
        allowed.

        The sender waited for the news of the loss; if it knew that for most of the time, for its window.
        """
        sent, half_ns = self.path.ahead.arrival, (idle_from_ns + came_ns) // 2
        if full is None:
            waits = self.kernel.owed(half_ns, lambda since_ns: self._sent_again(bisect_right(sent, since_ns), position))
        else:
            waits = full and not self.timers.declared_loss(half_ns, sent[position])
        return self._history(came_ns) if waits else Reason(Why.LOSS_DETECTION, "ip_packets")

    def _sent_again(self, first: int, end: int) -> int:
        """Number of packets at positions from `first` until `end` that repeat what was sent before."""
        between = (self.path.content(self.path.ahead, at) for at in range(first, end))
        return sum(1 for content in between if content and content.again)

    def _reason_by_kernel(self, sent_ns: int, until_ns: int, idle_from_ns: int, *, again: bool) -> Reason:
        """Reason by a TCP sender's kernel: bytes to send that neither buffer nor receiver holds back wait for a window.

        It may wait with up to a third of the window free, for a longer burst; with more free it paces, if the socket
        can. Less than a full segment waits for the acknowledgment of an earlier one that was not full.
        """
        limited = self.kernel.limited(idle_from_ns, until_ns)
        if limited is not None:
            return Reason(limited, "tcp_info")
        had_data = self.kernel.had_data(idle_from_ns, until_ns)
        free = self.kernel.free(idle_from_ns, until_ns)
        if self.kernel.keeps_a_piece(idle_from_ns, until_ns) and self.small.let_go(sent_ns, until_ns):
            return Reason(Why.NAGLE, "tcp_info")
        if had_data and not free:
            return self._history(until_ns)
        if again:
            return Reason(Why.LOSS_DETECTION, "ip_packets")
        if free:
            return Reason(Why.PACING if self.kernel.paces else Why.KEPT_IN_KERNEL, "tcp_info")
        if self.kernel.buffer_full(idle_from_ns, until_ns):
            return Reason(Why.SEND_BUFFER, "tcp_info")
        if had_data is None or self.hidden_credit:  # a packet of the client let it go on: it may have brought credit
            return Reason(Why.AWAITING_ACKS, "ip_packets")
        return Reason(Why.APPLICATION, "tcp_info")

    def _unprompted_reason(self, position: int, idle_from_ns: int, *, again: bool) -> Reason:
        """Nothing came that could have moved a window or a credit: what was sent could have been sent before.

        A kernel repeats a segment without an acknowledgment for no other reason than a timer (RFC 6298, RFC 8985). A
        sender with nothing on its way for longer than a round trip does not pace: it had nothing to send.
        """
        sent_ns = self.path.ahead.arrival[position]
        if again and self.kernel.samples:
            return Reason(Why.LOSS_TIMER, "tcp_info")
        limited = self.kernel.limited(idle_from_ns, sent_ns)
        if limited is not None:
            return Reason(limited, "tcp_info")
        if self.kernel.had_data(idle_from_ns, sent_ns) is False:
            full = self.kernel.buffer_full(idle_from_ns, sent_ns)
            return Reason(Why.SEND_BUFFER if full else Why.APPLICATION, "tcp_info")
        if self.kernel.free(idle_from_ns, sent_ns):
            # Nagle's algorithm lets a segment go, too, once its program has filled it.
            piece = self.kernel.keeps_a_piece(idle_from_ns, sent_ns) and not self.small.outstanding(sent_ns)
            kept = Why.CORK if piece else Why.KEPT_IN_KERNEL
            return Reason(Why.PACING if self.kernel.paces else kept, "tcp_info")
        if not again and (was_answered(self.path, position) or self.emptied.shows(position)):
            return Reason(Why.APPLICATION, "ip_packets")
        if self.window.history.known:
            return Reason(Why.PACING_OR_PROGRAM, "transport_metrics")
        if not again and position in self.paced:
            return Reason(Why.PACING, "ip_packets")
        return Reason(Why.UNEXPLAINED if again else Why.PACING_OR_PROGRAM, "ip_packets")


def judge(evidence: Evidence, path: Path, completing: int, of: Objects, amplification: Amplification) -> Judge:
    """Gather what is known of the sender of a transfer, whose bodies the packet at `completing` completes."""
    ahead = path.ahead
    sent = [(at, content) for p, at in enumerate(ahead.arrival) if (content := path.content(ahead, p))]
    packets = evidence.table("packets").filter(pl.col("vantage") == evidence.sender, pl.col("transport") == "quic")
    own = packets.filter(pl.col("packet_type") == "1RTT", pl.col("event") == "sent").drop_nulls("packet_index")
    numbers = dict(own.select("packet_number", "packet_index").iter_rows())
    logged = packets.filter(pl.col("event") == "received", pl.col("ip_packet").is_null())
    read = dict(logged.drop_nulls(("packet_index", "time_ns")).select("packet_index", "time_ns").iter_rows())
    made = packets.filter(pl.col("event") == "sent", pl.col("ip_packet").is_null()).drop_nulls(
        ("packet_index", "time_ns")
    )
    built = made.group_by("packet_index").agg(pl.col("time_ns").min())
    window, own_kernel = logged_window(evidence, numbers), kernel(evidence)
    captured = captured_window(evidence, numbers)
    return Judge(
        path,
        own_word(evidence),
        expired(evidence),
        window,
        captured,
        own_kernel,
        small_segments(evidence, own_kernel.full_bytes),
        credit(evidence, sent),
        send_buffer(evidence, captured, knows_window=window.history.known or bool(own_kernel.samples)),
        emptied(path, captured),
        evenly_sent(evidence, path, captured.round_trip_ns),
        of,
        amplification,
        evidence.packets(evidence.sender, "up" if path.sender == "server" else "down")["time_ns"].sort().to_list(),
        read,
        dict(built.iter_rows()),
        _end(path, completing),
        None if evidence.upload else answers_ns(evidence, sent),
        hides_credit(evidence),
    )


def _end(path: Path, completing: int) -> int:
    """Bytes sent until the packet that completes the bodies: TCP's stream goes on behind it."""
    sent = (path.content(path.ahead, position) for position in range(completing + 1))
    return max((each.reached.bodies for each in sent if each and each.reached), default=0)
