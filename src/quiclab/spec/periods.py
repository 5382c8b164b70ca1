# SPDX-License-Identifier: Apache-2.0
"""`schedule` and `repeat`: rates that a schedule sets, and what a schedule that repeats itself needs."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

from quiclab.model.study import Direction, LossTrace
from quiclab.model.units import Bitrate, Duration
from quiclab.spec.effects import EFFECTS
from quiclab.spec.recorded import delays, losses


def changed_rates(direction: Direction) -> list[Bitrate]:
    """Rates that the schedule sets, in order of time, without those that it takes away."""
    return [change.rate for change in direction.schedule if isinstance(change.rate, Bitrate)]


def _recordings(direction: Direction) -> Iterator[tuple[str, Duration]]:
    """Recordings in time, which begin anew with each period, with the instants of their last lines."""
    if direction.delay_trace is not None:
        yield "delay", delays(pathlib.Path(direction.delay_trace)).last
    if isinstance(direction.loss, LossTrace) and direction.loss.by == "time":
        yield "loss", losses(direction.loss).last


def period_problems(direction: Direction) -> Iterator[tuple[str, str]]:
    """Keys that do not fit a schedule that repeats itself, each with what to do."""
    if direction.delay_trace is not None and any(change.delay is not None for change in direction.schedule):
        yield "schedule", '"delay" cannot change where a "delay_trace" gives it'
    period = direction.repeat
    if period is None:
        return
    recordings = list(_recordings(direction))
    if not direction.schedule and not recordings:
        yield "repeat", 'nothing would repeat itself; write a "schedule", or leave it out'
        return
    for key, last in recordings:
        if last >= period:
            yield "repeat", f"the last line of the {key} trace, {last}, is not before the end of a period of {period}"
    late = [change.at for change in direction.schedule if change.at >= period]
    if late:
        yield "repeat", f"a change at {late[0]} is not before the end of a period of {period}; write a longer period"
    for name in EFFECTS:
        after = getattr(getattr(direction, name), "after", None)
        if after is not None and after.ns and any(getattr(change, name) is not None for change in direction.schedule):
            yield (
                name,
                '"after" counts once, and the schedule that changes this repeats itself; write a change in its place',
            )
