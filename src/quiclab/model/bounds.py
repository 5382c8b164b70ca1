# SPDX-License-Identifier: Apache-2.0
"""Bounds of a value that a spec gives, declared in the type of the field that it is for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from quiclab.model.units import ByteCount, Duration

_SECOND = 10**9
DAY = Duration(24 * 3600 * _SECOND)
MINUTE = Duration(60 * _SECOND)


@dataclass(frozen=True)
class Bounds:
    """A range that includes both ends, in the field's own unit."""

    least: Any
    most: Any
    name: str = ""
    """Name of the quantity in errors: "a burst"; none for numbers without a unit."""
    example: str = ""
    """A value as a spec has it."""


Instant = Annotated[Duration, Bounds(Duration(0), DAY, "a time", "2 s")]
"""A time that is counted from a begin, which may be the begin itself."""
Interval = Annotated[Duration, Bounds(Duration(10_000), MINUTE, "an interval", "100 ms")]
MeanTime = Annotated[Duration, Bounds(Duration(10_000), MINUTE, "a mean time", "20 ms")]
Period = Annotated[Duration, Bounds(Duration(10**6), Duration(3600 * _SECOND), "a period", "1 s")]
SlotGap = Annotated[Duration, Bounds(Duration(100_000), MINUTE, "a time between slots", "5 ms")]
Repetition = Annotated[Duration, Bounds(Duration(10**7), Duration(3600 * _SECOND), "a period", "15 s")]
OneWayDelay = Annotated[Duration, Bounds(Duration(0), MINUTE, "a delay", "10 ms")]
Burst = Annotated[ByteCount, Bounds(ByteCount(576), ByteCount(10**9), "a burst", "64 KB")]
Quantum = Annotated[ByteCount, Bounds(ByteCount(64), ByteCount(10**6), "a quantum", "1514 B")]

MOST_BLOCKS = 100_000
"""Blocks of a cell that a study may have."""
MOST_CELLS = 10_000
"""Cells that a study may have: their trials take days even if each is over in a second."""
