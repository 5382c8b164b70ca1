# SPDX-License-Identifier: Apache-2.0
"""Arrivals that show a path's rate, and those that show only how fast a program reads."""

from __future__ import annotations

import numpy as np
import pytest

from quiclab.why.account.arrivals import Arrivals

_SERVICE_US = 1083
"""Time of 1,354 bytes at 10 Mbit/s."""


def _arrivals(gaps_us: list[int], size_bytes: int = 1354) -> Arrivals:
    at = np.cumsum([0, *gaps_us]) * 1000
    return Arrivals(at, np.full(len(at), size_bytes))


def test_packets_one_service_after_another_show_a_rate() -> None:
    """So do trains with waits between them, and packets of a sender that paces, now and then two at once."""
    train = [_SERVICE_US] * 20
    paced = [2400, 2400, _SERVICE_US] * 12
    for gaps in (train, [*train, 40_000, *train], [*train, 9_000, *train], paced):
        found = _arrivals(gaps)
        assert found.show_a_rate(1)
        assert found.rate(1) == pytest.approx(10e6, rel=0.1)


@pytest.mark.parametrize(
    "gaps_us",
    [
        [3, 3, 16, 21818, 1259, 39, 4, 3, 4, 3, 2, 3, 3, 3, 3, 3, 4, 3, 6, 4, 3, 15659, 19, 6792, 1066, 1682, 900, 11],
        [59212, 703, 311, 343, 310, 690, 298, 20297, 246, 207, 135, 205, 148, 135, 164, 176, 174],
        [2041, 369, 1191, 2607, 30, 13747, 154, 11, 6, 6, 5, 6, 6, 6, 5, 7, 477, 13713, 500, 28, 8, 6, 7],
    ],
    ids=["3 us apart", "some 200 us apart", "over TCP"],
)
def test_packets_that_were_read_late_show_none(gaps_us: list[int]) -> None:
    """Captured at a browser on a busy machine, behind 10 Mbit/s: these looked like 3,246, 60 and 1,894."""
    assert not _arrivals(gaps_us).show_a_rate(1)
