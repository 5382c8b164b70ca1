# SPDX-License-Identifier: Apache-2.0
"""The times in which a viewer waits for a video, and how much of it the player had then: by the player's own log."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.model.cause import Why
from quiclab.model.metric_scope import MetricScope
from quiclab.why.account.edges import Reason

PLAYER = Reason(Why.PLAYER, "player_events")
_KEPT_S, _INDEX_BYTES, _BLOCK_BYTES = 0.5, 16, 1 << 15
"""Time of video that quiclab's encoder lets a decoder keep before the first picture, the most that an MP4's index has
for each picture, and the blocks in which Chromium reads a file."""
_SHOWS = ("first_frame", "playing")
_CAN_PLAY = ("canplay", *_SHOWS)


@dataclass(frozen=True)
class Wait:
    """One time in which a viewer waits: the start-up, or a stall of the network."""

    of: str
    """`start_up`, or `stall` and the stall's number."""
    from_ns: int
    until_ns: int
    able_ns: int
    """Instant at which the player first said that it can play; `until_ns` where it did not go on."""
    reached_ms: float | None
    """Place in the video up to which the player had it then; None where it did not go on."""


def waits(evidence: Evidence) -> list[Wait]:
    """The start-up and the stalls of the network, in order, as the metrics have them. Raises Unknown without a log of
    the player, and where the video never started."""
    events = evidence.table("player_events").sort("time_ns")
    if events.is_empty():
        raise Unknown("the player left no log")
    shown_ns = events.filter(pl.col("name").is_in(_SHOWS))["time_ns"].min()
    requested_ns = events.filter(pl.col("name") == "requested")["time_ns"].min()
    if not isinstance(shown_ns, int) or not isinstance(requested_ns, int):
        raise Unknown("the video did not start")
    able = events.filter(pl.col("name").is_in(_CAN_PLAY), pl.col("time_ns") <= shown_ns)
    return [
        Wait(str(MetricScope.START_UP), requested_ns, shown_ns, *_reached(able, shown_ns)),
        *_stalls(evidence, events),
    ]


def _stalls(evidence: Evidence, events: pl.DataFrame) -> Iterator[Wait]:
    found = evidence.table("player_stalls").filter(pl.col("cause") == "network").sort("time_ns")
    columns = found.select("time_ns", "duration_ns", "went_on").iter_rows()
    for number, (from_ns, duration_ns, went_on) in enumerate(columns, 1):
        until_ns = from_ns + duration_ns
        able = events.filter(pl.col("name").is_in(_CAN_PLAY), pl.col("time_ns").is_between(from_ns, until_ns))
        reached = _reached(able, until_ns) if went_on else (until_ns, None)
        yield Wait(f"{MetricScope.STALL} {number}", from_ns, until_ns, *reached)


def _reached(able: pl.DataFrame, until_ns: int) -> tuple[int, float]:
    """Instant at which the player first said that it can play, and place up to which it had the video then."""
    first = able.select("time_ns", pl.col("position_ms") + pl.col("ahead_ms")).head(1)
    return first.row(0) if first.height else (until_ns, 0.0)


def first_picture_bytes(length_s: float, size: int, frame_rate: int) -> int:
    """Bytes from which on a file has its first picture for certain: the index, and as much as a decoder may keep."""
    index = _INDEX_BYTES * length_s * frame_rate
    kept = min(_KEPT_S, length_s) / length_s * size
    return math.ceil((index + kept) / _BLOCK_BYTES) * _BLOCK_BYTES
