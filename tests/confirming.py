# SPDX-License-Identifier: Apache-2.0
"""A declaration that was written by hand (400 ms of a sender's buffer, 100 ms of tolerance), and parts of runs."""

from __future__ import annotations

from quiclab.why.confirm.declaration import Declared, Predicted, TrialPlace
from quiclab.why.confirm.times import Times

DECLARED = Declared(
    study="s",
    cell="1MB/long",
    cause="send_buffer_limited",
    arm="h3",
    other="h2",
    table="sender",
    key="stream_window",
    value="4 MiB",
    doses=("128 KiB", "256 KiB"),
    alpha=0.05,
    seed=1,
    predicted=Predicted(400.0, 380.0, 420.0, 0.95, 7),
    total_ms=1000.0,
    noise_ms=5.0,
    tolerance_ms=100.0,
    beyond_ms=0.0,
    places={role: TrialPlace("1MB/long", role) for role in ("replay", "without", "sham", "fast", "dose-1", "dose-2")},
    sham="stream_window set to 64 KiB",
    left_out=(),
    spec_sha256="0",
)


def in_blocks(times: Times, blocks: slice) -> Times:
    """Times of some of the blocks."""
    return Times(times.total[blocks], times.cause[blocks], times.why[blocks])
