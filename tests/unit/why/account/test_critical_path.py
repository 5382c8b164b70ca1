# SPDX-License-Identifier: Apache-2.0
"""The way back from a packet's sending, over packets written by hand. Times in ms."""

from __future__ import annotations

import pytest
from unit.why.account.test_hop import rows_of

from quiclab.model.activity import What
from quiclab.why.account.critical_path import Before, Cause, Path, back
from quiclab.why.account.forward_path import way
from quiclab.why.account.hop import hop

_MS = 1_000_000


@pytest.mark.parametrize(("second", "begins_ms"), [(frozenset(), 40), (frozenset({0, 2}), 20)])
def test_what_is_repeated_to_an_address_that_was_left_is_another_connections(
    second: frozenset[int], begins_ms: int
) -> None:
    """The server got no processor from 11 ms on. At 20 and 50 ms it sent over the second connection, at 40 ms it
    repeated over the first one, which is no reason of what it sent at 50 ms."""
    up = way("up", [[hop(rows_of((0, 1, 7, 11), direction="up"))]], None)
    down = way("down", [[hop(rows_of((20, 1, 7, 31), (40, 1, 8, 51), (50, 1, 7, 61)))]], None)
    path = Path(up, down, {}, {}, second=second)
    leg = next(back(path, "server", 2, 0, lambda *_: Cause(Before.LATEST, What.SERVER)))
    assert [(edge.from_ns / _MS, edge.until_ns / _MS) for edge in leg.edges] == [(begins_ms, 50)]
