# SPDX-License-Identifier: Apache-2.0
"""Room that the anti-amplification limit leaves a server, by what came and what it sent."""

from __future__ import annotations

import pytest

from quiclab.why.account.amplification import Amplification

_LIMIT = Amplification(sent_ns=[10, 11, 12], sent=[1200, 2400, 3600], came_ns=[9, 30], came=[1200, 2400], known_ns=50)


@pytest.mark.parametrize(
    ("time_ns", "none_left"),
    [(5, False), (11, False), (12, True), (29, True), (30, False), (50, False)],
    ids=["nothing came", "a datagram is left", "used up", "still", "more came", "the address is known"],
)
def test_a_server_has_no_room_once_it_has_sent_three_times_what_came(time_ns: int, none_left: bool) -> None:
    """A server to which nothing has come has nothing to send either: that is no limit."""
    assert _LIMIT.has_no_room(time_ns) is none_left
