# SPDX-License-Identifier: Apache-2.0
"""Whether a sender that sends of its own accord had been idle for longer than it could be pacing.

A pacer spreads a window of at least two packets over a round trip (RFC 9002 sections 7.2 and 7.7), so that it never
lets a round trip pass without one. Nor is a probe timer running once all that was sent is acknowledged (section 6.2.1).
"""

from __future__ import annotations

from bisect import bisect_left

from quiclab.why.account.critical_path import Path, own_with_more

_SILENT = 0.5
"""Share of a round trip for which nothing may have come to the sender any more: else a packet may have prompted it, and
the sender was slow."""


def was_answered(path: Path, position: int) -> bool:
    """Whether the receiver had answered the sender's last data, and had been silent since, before a packet left.

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
