# SPDX-License-Identifier: Apache-2.0
"""Evidence for *why* where no log of the sender is, and no packet prompted it: its program had nothing to send.

A sender that sends of its own accord may have been idle for longer than it could be pacing. A pacer spreads a window of
at least two packets over a round trip (RFC 9002 sections 7.2 and 7.7), so that it never lets a round trip pass without
one. Nor is a probe timer running once all that was sent is acknowledged (section 6.2.1). Or its packet before was not
full: it had put all into that which it had.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise

from quiclab.model.activity import What
from quiclab.why.account.captured_window import CapturedWindow
from quiclab.why.account.critical_path import Path, own_with_more
from quiclab.why.account.edges import PROMPT_NS

_DATA = (What.PAYLOAD, What.OTHER_OBJECT)
_SILENT = 0.5
"""Share of a round trip for which nothing may have come to the sender any more: else a packet may have prompted it, and
the sender was slow."""
_FULL = 0.9
"""Share of the largest packet with data from which on one counts as full: frames of another kind take a few bytes."""
_ROOM = 0.8
"""Share of the most bytes in flight so far below which a window that was never reduced has room."""
_LEAST_PACKETS = 2
"""Packets that every window has room for (RFC 5681 section 3.1, RFC 9002 section 7.2)."""
_MORE_THAN_ONE = 1.5
"""Packets that acknowledgments must have made room for, for a window to be open for the next one."""
_PIECES, _MANY = 3, 2
"""Times that silence must show behind a piece, and one part in so many of all such packets."""


def was_answered(path: Path, position: int) -> bool:
    """True if the receiver had answered the sender's last data, and had been silent since, before a packet left.

    False where the data before were lost, or nothing was sent before.
    """
    ahead, back = path.ahead, path.into(path.sender)
    sent_ns = ahead.arrival[position]
    last = own_with_more(path, path.sender, position)
    came_ns = None if last is None else ahead.written[last]
    if last is None or came_ns is None:
        return False
    for at in range(bisect_left(back.arrival, came_ns), len(back.arrival)):
        if back.arrival[at] > sent_ns:
            return False
        written_ns = back.written[at]
        if written_ns is not None and written_ns <= sent_ns:
            round_trip_ns = written_ns - ahead.arrival[last]
            silent_ns = path.prompted_after_ns(path.sender, position) or 0
            return silent_ns >= _SILENT * round_trip_ns
    return False


def is_new_data(path: Path, position: int) -> bool:
    """True if a packet of the bodies' direction has data that were not sent before."""
    content = path.content(path.ahead, position)
    return content is not None and content.what in _DATA and not content.again


@dataclass(frozen=True)
class Emptied:
    """Packets behind which a sender had nothing more to send, by their size: it fills its packets while it has data for
    them, whether it paces or not, and only the last one is smaller.

    A congestion window may cut a packet, too, or be full just then. So it counts where that had room: nothing came that
    could have opened it before the next packet left. Before any loss, as a window then never shrinks, also where it had
    been open for a while by then, or much less was in flight than before.
    """

    cut: frozenset[int]
    """Positions of full packets with new data whose one before is smaller."""
    silent: frozenset[int]
    """The part of these that left without anything having come to the sender since, or long after it had."""
    roomy: frozenset[int]
    """The part of these before which little was in flight."""

    @property
    def in_pieces(self) -> bool:
        """True if the program writes in pieces: silence shows some times, and behind half of these packets. A buffer
        that is refilled when some of it is free is silent, too, but goes on with an acknowledgment."""
        return len(self.silent) >= _PIECES and len(self.silent) * _MANY >= len(self.cut)

    def shows(self, position: int) -> bool:
        """True if a sender had nothing to send before the packet at a position, which no other one prompted."""
        return position in self.silent or position in self.roomy

    def shows_prompted(self, position: int) -> bool:
        """True if that holds of a packet that left just after one had come, as that happened to come then."""
        return self.in_pieces and position in self.roomy


def emptied(path: Path, captured: CapturedWindow) -> Emptied:
    """The packets of the bodies' direction behind which the sender had nothing more to send.

    The packet that ends the wait must be full: over TCP a kernel may keep a small one back (RFC 9293 section 3.7.4).
    """
    ahead, came_ns = path.ahead, path.into(path.sender).came_ns
    data = [at for at in range(len(ahead.arrival)) if is_new_data(path, at)]
    cut, silent, roomy = set(), set(), set()
    lost_ns = captured.losses.at_ns[0] if captured.losses.at_ns else ahead.arrival[-1] + 1 if data else 0
    largest = most = 0
    for last, now in pairwise(data):
        largest = max(largest, ahead.size[last])
        in_flight = captured.in_flight.by(ahead.arrival[last]) or 0
        if (
            ahead.size[last] < _FULL * largest <= ahead.size[now]
            and ahead.arrival[now] - ahead.arrival[last] > PROMPT_NS
        ):
            cut.add(now)
            by_now, before_ns = bisect_right(came_ns, ahead.arrival[now]), ahead.arrival[now] - PROMPT_NS
            left = captured.in_flight.by(before_ns) or 0
            is_before = ahead.arrival[now] < lost_ns
            opened = by_now == bisect_right(came_ns, before_ns) and left <= in_flight - _MORE_THAN_ONE * largest
            if (opened and is_before) or by_now == bisect_right(came_ns, ahead.arrival[last]):
                silent.add(now)
            if is_before and in_flight < max(_ROOM * most, _LEAST_PACKETS * largest):
                roomy.add(now)
        most = max(most, in_flight)
    return Emptied(frozenset(cut), frozenset(silent), frozenset(roomy))
