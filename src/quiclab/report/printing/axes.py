# SPDX-License-Identifier: Apache-2.0
"""Axes: which values they span, where a value lies, where marks stand and what is written at them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from quiclab.report.figures import short
from quiclab.report.figures._canvas import Spec

Key = str | tuple[str, str]
_FEWEST, _MOST = 4, 9
"""Marks of an axis, as plotly has them."""
_ROUNDS = 12
"""Times that a range grows for its texts, whose room in its units grows with it."""
_MOST_ROOM = 0.8
"""Share of an axis that texts beyond its values may take."""
_PADDING = 0.055
"""Share of the span that marks keep from an edge that no range asks for."""


@dataclass
class Extent:
    """Values that a trace needs on an axis, and room in pixels beyond them."""

    low: float
    high: float
    padded_low: bool = True
    padded_high: bool = True
    room_low_px: float = 0.0
    room_high_px: float = 0.0


@dataclass
class Axis:
    """One axis of a figure. `begin` and `end` are the pixels of its `low` and `high`, whichever is greater."""

    name: str
    node: Spec
    kind: str = "linear"
    keys: list[Key] = field(default_factory=list)
    low: float = 0.0
    high: float = 1.0
    begin: float = 0.0
    end: float = 1.0
    widest_px: float = math.inf
    """Width at which names beside a vertical axis are broken."""

    @property
    def across(self) -> bool:
        """True for a horizontal axis."""
        return self.name.startswith("x")

    @property
    def domain(self) -> tuple[float, float]:
        """First and last share of the plot that it has."""
        first, last = self.node.get("domain") or (0.0, 1.0)
        return float(first), float(last)

    @property
    def visible(self) -> bool:
        """False for an axis that has neither marks nor a title."""
        return bool(self.node.get("visible", True))

    @property
    def is_category(self) -> bool:
        """True where values are names."""
        return self.kind in ("category", "multicategory")

    def value(self, given: Any) -> float:
        """Place of a value in the units of `low` and `high`; NaN where there is none."""
        if given is None:
            return math.nan
        if self.is_category and isinstance(given, str | tuple):
            return float(self.keys.index(given)) if given in self.keys else math.nan
        number = float(given)
        if self.kind == "log":
            return math.log10(number) if number > 0 else math.nan
        return number

    def pixel(self, place: float) -> float:
        """Pixel of a place."""
        return self.begin + (place - self.low) / ((self.high - self.low) or 1.0) * (self.end - self.begin)

    def at(self, given: Any) -> float:
        """Pixel of a value."""
        return self.pixel(self.value(given))

    def marks(self) -> list[tuple[float, str]]:
        """Places and texts of the marks inside the range."""
        low, high = sorted((self.low, self.high))
        slack = (high - low) * 1e-9
        return [(place, text) for place, text in self._all_marks() if low - slack <= place <= high + slack]

    def _all_marks(self) -> Iterable[tuple[float, str]]:
        node, low, high = self.node, *sorted((self.low, self.high))
        if node.get("tickvals") is not None:
            values = node["tickvals"]
            return zip(map(self.value, values), node.get("ticktext") or map(short, values), strict=False)
        if self.is_category:
            return ((float(at), key if isinstance(key, str) else key[1]) for at, key in enumerate(self.keys))
        if self.kind == "log":
            return ((math.log10(value), short(value)) for value in _powers(low, high))
        length = abs(self.end - self.begin)
        count = node.get("nticks") or 1 + max(_FEWEST, min(_MOST, length / (80 if self.across else 40)))
        step = node.get("dtick") or nice_step((high - low) / count)
        first = math.ceil(low / step - 1e-9)
        return (
            (n * step, short(round(n * step, 12)).replace("-", "−"))
            for n in range(first, math.floor(high / step + 1e-9) + 1)
        )


def nice_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10 … that is at least this."""
    if least <= 0 or not math.isfinite(least):
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))


def _powers(low: float, high: float) -> list[float]:
    every = [(1, 2, 5), (1,)][high - low > 2.5]
    return [step * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for step in every]


def keys_of(values: Any) -> Sequence[Any]:
    """Values of a trace along an axis; two lists of names, outer and inner, become pairs."""
    if isinstance(values, list | tuple) and len(values) == 2 and all(isinstance(each, list | tuple) for each in values):
        return list(zip(values[0], values[1], strict=True))
    return values if isinstance(values, list | tuple) else []


def kind_of(node: Spec, columns: Sequence[Sequence[Any]]) -> str:
    """Kind of an axis: as it says, else by the values on it."""
    asked = node.get("type")
    if asked in ("linear", "log", "category", "multicategory"):
        return str(asked)
    known = [value for column in columns for value in column if value is not None]
    if known and all(isinstance(value, tuple) for value in known):
        return "multicategory"
    return "category" if any(isinstance(value, str) for value in known) else "linear"


def ordered_keys(node: Spec, columns: Sequence[Sequence[Any]]) -> list[Key]:
    """Names on an axis in their order: those that it lists, then others as they come; pairs stay with their outer."""
    keys: dict[Key, None] = dict.fromkeys(node.get("categoryarray") or ())
    keys |= dict.fromkeys(value for column in columns for value in column if isinstance(value, str | tuple))
    outer = list(dict.fromkeys(key[0] for key in keys if isinstance(key, tuple)))
    return sorted(keys, key=lambda key: outer.index(key[0]) if isinstance(key, tuple) else 0)


def set_range(axis: Axis, extents: Sequence[Extent]) -> None:
    """Set the span of an axis: as its range says, else what the traces need."""
    node = axis.node
    if node.get("range"):
        axis.low, axis.high = (float(end) for end in node["range"])
        if axis.low < axis.high and not axis.is_category:  # a range cannot know how long its texts are in print
            axis.low, axis.high = _with_room(axis, extents, axis.low, axis.high)
        return
    low, high = _needed(axis, extents)
    axis.low, axis.high = (high, low) if node.get("autorange") == "reversed" else (low, high)


def _needed(axis: Axis, extents: Sequence[Extent]) -> tuple[float, float]:
    own = [each for each in extents if math.isfinite(each.low) and math.isfinite(each.high)]
    if axis.is_category:
        return -0.5, max(0.5, len(axis.keys) - 0.5)
    low, high = min((each.low for each in own), default=0.0), max((each.high for each in own), default=1.0)
    from_zero = axis.node.get("rangemode") in ("tozero", "nonnegative") and axis.kind == "linear"
    zero_low, zero_high = from_zero and low >= 0, from_zero and high <= 0
    low, high = (0.0 if zero_low else low), (0.0 if zero_high else high)
    if low == high:
        wide = abs(low) * 0.5 or 1.0
        low, high = (low if zero_low else low - wide), high + wide
    span = high - low
    if not zero_low and any(each.padded_low and each.low <= low + span * _PADDING for each in own):
        low -= span * _PADDING
    if not zero_high and any(each.padded_high and each.high >= high - span * _PADDING for each in own):
        high += span * _PADDING
    return _with_room(axis, own, low, high)


def _with_room(axis: Axis, extents: Sequence[Extent], low: float, high: float) -> tuple[float, float]:
    """A range that is longer where the texts beyond its values need it."""
    length = abs(axis.end - axis.begin) or 1.0
    wanted = sum(max((room(each) for each in extents), default=0.0) for room in (_room_low, _room_high))
    share = min(1.0, _MOST_ROOM * length / (wanted or 1.0))  # the rest does not fit, which `Canvas.misfits` tells
    for _ in range(_ROUNDS):
        per_px = (high - low) / length * share
        low = min([low, *(each.low - _room_low(each) * per_px for each in extents if each.room_low_px)])
        high = max([high, *(each.high + _room_high(each) * per_px for each in extents if each.room_high_px)])
    return low, high


def _room_low(extent: Extent) -> float:
    return extent.room_low_px


def _room_high(extent: Extent) -> float:
    return extent.room_high_px
