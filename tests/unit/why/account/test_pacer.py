# SPDX-License-Identifier: Apache-2.0
"""A sender whose log shows its window and its round trip: did it send at the rate of a pacer?"""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.why.account.stories import Quic, evidence_of_scene, metrics_row, sums

from quiclab.why.account import account_of_transfer

_PACKET_BYTES = 1268
"""Size of a packet with 1,200 bytes of the response, IP header included."""
_WINDOW, _TRIP_MS = 50_000, 20.0
_PACED_MS = _PACKET_BYTES * _TRIP_MS / (1.25 * _WINDOW)


@pytest.mark.parametrize(
    ("gaps", "window", "why"),
    [
        ([1.0] * 12, _WINDOW, "pacing"),
        ([0.3, 1.7] * 6, _WINDOW, "pacing"),
        ([0.0, 0.0, 3.0] * 4, _WINDOW, "pacing"),
        ([1.3] * 12, _WINDOW, "pacing_or_program"),
        ([0.7] * 12, _WINDOW, "pacing_or_program"),
        ([1.0] * 5, _WINDOW, "pacing_or_program"),
        ([1.0] * 12, None, "pacing_or_program"),
    ],
    ids=["its rate", "late and making up", "in bursts", "slower", "faster", "too few packets", "no window in the log"],
)
def test_waits_at_the_rate_of_a_pacer(gaps: list[float], window: int | None, why: str, tmp_path: Path) -> None:
    """RFC 9002 section 7.7: 1.25 windows in a round trip. No packet of the client comes in between."""
    story, sent_ms = Quic(), 33.0
    story.down(sent_ms, 0)
    for number, gap in enumerate(gaps, start=1):
        sent_ms += gap * _PACED_MS
        story.down(sent_ms, 1200 * number, fin=number == len(gaps))
    row = metrics_row(32, window or 0, 0) | {"smoothed_rtt_ms": _TRIP_MS}
    rows = [row if window else row | {"cwnd_bytes": None}]
    scene = story.end(sent_ms + 10, 1200 * (len(gaps) + 1))
    found = sums(account_of_transfer(evidence_of_scene(scene, tmp_path, transport_metrics=rows)))
    assert found[why] == pytest.approx(sent_ms - 33)
    assert {"pacing", "pacing_or_program"} - {why} - found.keys()
