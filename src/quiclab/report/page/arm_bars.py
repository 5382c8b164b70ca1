# SPDX-License-Identifier: Apache-2.0
"""Mean time of each arm of a cell as a bar of its waits, in the order, names and looks of the timeline.

They are plain HTML: they need no script, print as they are, and tell every wait to a mouse and to a screen reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quiclab.model import number_text
from quiclab.model.cause import BarStyle
from quiclab.report.figures import ink_on
from quiclab.report.words.account import time_text
from quiclab.why.account import Why
from quiclab.why.accounts import Waterfall

_IN_LEGEND = 0.01
"""Share of the longest bar of a cell from which on a wait is in the legend; shorter ones are told on hovering."""


@dataclass(frozen=True)
class Segment:
    """One wait in one bar."""

    name: str
    width_pct: float
    """Share of the longest bar of the cell."""
    look: str
    """CSS of its fill and of the words on it."""
    told: str
    """Name and time: `slow start: 49.1 ms`."""


@dataclass(frozen=True)
class ArmBar:
    """The mean time of one arm."""

    arm: str
    total: str
    segments: tuple[Segment, ...]
    told: str
    """All of it in words."""


@dataclass(frozen=True)
class LegendEntry:
    """One wait of the legend."""

    name: str
    look: str
    meaning: str


def arm_bars(waterfall: Waterfall) -> tuple[ArmBar, ...]:
    """Return a bar for the baseline and one for the other arm, on one scale; none where no time passed."""
    comparison, total = waterfall.comparison, waterfall.total
    longest = max(total.baseline_ms, total.other_ms)
    if longest <= 0:
        return ()
    arms = (
        (comparison.baseline.arm, total.baseline_ms, [(each.why, each.baseline_ms) for each in waterfall.waits]),
        (comparison.other.arm, total.other_ms, [(each.why, each.other_ms) for each in waterfall.waits]),
    )
    return tuple(_bar(arm, whole, waits, longest) for arm, whole, waits in arms)


def legend(waterfalls: Iterable[Waterfall]) -> tuple[LegendEntry, ...]:
    """Return the waits that can be seen in a bar, in the order of the timeline."""
    seen = {why for each in waterfalls for why in _visible(each)}
    return tuple(LegendEntry(why.heading, fill(why.style), why.definition) for why in Why if why in seen)


def _visible(waterfall: Waterfall) -> Iterable[Why]:
    least = _IN_LEGEND * max(waterfall.total.baseline_ms, waterfall.total.other_ms)
    return (each.why for each in waterfall.waits if max(each.baseline_ms, each.other_ms) >= least)


def _bar(arm: str, whole_ms: float, waits: Sequence[tuple[Why, float]], longest_ms: float) -> ArmBar:
    segments = tuple(
        Segment(why.heading, round(100 * ms / longest_ms, 3), fill(why.style), f"{why.heading}: {time_text(ms)}")
        for why, ms in waits
        if ms > 0
    )
    total = time_text(whole_ms)
    return ArmBar(arm, total, segments, f"{arm}: {total}, of it {number_text.listed([each.told for each in segments])}")


def fill(style: BarStyle) -> str:
    """Return the CSS of a bar's look: its colour, its pattern as plotly names it, and the colour of words on it."""
    words = ink_on(style)
    look = f"background-color: {style.colour}; color: {words}"
    lines = _LINES.get(style.pattern)
    if not lines:
        return look
    line, thin, gap = f"{words}55", 1, style.spacing
    images = [
        f"radial-gradient({line} 1px, transparent 1.5px) 0 0 / {gap}px {gap}px"
        if angle is None
        else f"repeating-linear-gradient({angle}deg, {line} 0 {thin}px, transparent {thin}px {gap}px)"
        for angle in lines
    ]
    return f"background: {', '.join(images)} {style.colour}; color: {words}"


_LINES: dict[str, tuple[int | None, ...]] = {
    "/": (135,), "\\": (45,), "x": (45, 135), "-": (0,), "|": (90,), "+": (0, 90), ".": (None,)
}  # fmt: skip
"""Pattern -> the directions of its gradients in degrees; None is dots."""
