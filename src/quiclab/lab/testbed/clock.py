# SPDX-License-Identifier: Apache-2.0
"""One clock, CLOCK_MONOTONIC, and its offset to CLOCK_REALTIME, for logs that only know the latter."""

from __future__ import annotations

import datetime
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Instant:
    """An instant on both clocks."""

    monotonic_ns: int
    realtime_minus_monotonic_ns: int
    utc: str


def read() -> Instant:
    """Read both clocks; of five readings the quickest counts."""
    best: tuple[int, int, int] | None = None
    for _ in range(5):
        before = time.monotonic_ns()
        real = time.time_ns()
        after = time.monotonic_ns()
        if best is None or after - before < best[0]:
            best = (after - before, (before + after) // 2, real)
    assert best is not None
    _, monotonic, real = best
    utc = datetime.datetime.fromtimestamp(real / 1e9, datetime.UTC).isoformat(timespec="milliseconds")
    return Instant(monotonic, real - monotonic, utc)


def boot_id() -> str:
    """Id of this boot of the kernel, which no other boot and no other machine has; empty where the kernel tells none.

    CLOCK_MONOTONIC counts within it.
    """
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
