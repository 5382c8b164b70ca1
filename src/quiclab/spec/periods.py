# SPDX-License-Identifier: Apache-2.0
"""`schedule` and `repeat`: rates that a schedule sets, and what a schedule that repeats itself needs."""

from __future__ import annotations

from collections.abc import Iterator

from quiclab.model.study import Direction
from quiclab.model.units import Bitrate
from quiclab.spec.effects import EFFECTS


def changed_rates(direction: Direction) -> list[Bitrate]:
    """Rates that the schedule sets, in order of time, without those that it takes away."""
    return [change.rate for change in direction.schedule if isinstance(change.rate, Bitrate)]


def period_problems(direction: Direction) -> Iterator[tuple[str, str]]:
    """Keys that do not fit a schedule that repeats itself, each with what to do."""
    period = direction.repeat
    if period is None:
        return
    if not direction.schedule:
        yield "repeat", 'nothing would repeat itself; write a "schedule", or leave it out'
        return
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
