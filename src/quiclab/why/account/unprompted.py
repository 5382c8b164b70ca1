# SPDX-License-Identifier: Apache-2.0
"""Evidence for *why* where no log of the sender is, and no packet prompted it: its program had nothing to send.

A sender that sends of its own accord may have been idle for longer than it could be pacing. A pacer spreads a window of
at least two packets over a round trip (RFC 9002 sections 7.2 and 7.7), so that it never lets a round trip pass without
one. Nor is a probe timer running once all that was sent is acknowledged (section 6.2.1). Or its packet before was not
full: it had put all into that which it had.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice

from quiclab.model.activity import What
from quiclab.why.account.critical_path import Path, own_with_more

_DATA = (What.PAYLOAD, What.OTHER_OBJECT)
_SILENT = 0.5
"""Share of a round trip for which nothing may have come to the sender any more: else a packet may have prompted it, and
the sender was slow."""
_FULL = 0.9
"""Share of the largest packet with data from which on one counts as full: frames of another kind take a few bytes."""
_LATELY = 64
"""Packets with data before it among which a full one is looked for."""


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


def had_sent_all(path: Path, position: int) -> bool:
    """True if a sender had sent all that its program had given it, before a packet that no other one prompted.

    It fills its packets while it has data for them, whether it paces or not: only the last of them is smaller. Over TCP
    the packet itself must be full, as a kernel may keep a small one back (RFC 9293 section 3.7.4).
    """
    ahead, full = path.ahead, 0
    last: int | None = None
    with_data = (at for at in path.sent_before(path.sender, position) if is_new_data(path, at))
    for at in islice(with_data, _LATELY):
        last = at if last is None else last
        full = max(full, ahead.size[at])
    return last is not None and ahead.size[last] < _FULL * full <= ahead.size[position]


def is_new_data(path: Path, position: int) -> bool:
    """True if a packet of the bodies' direction has data that were not sent before."""
    content = path.content(path.ahead, position)
    return content is not None and content.what in _DATA and not content.again
