# SPDX-License-Identifier: Apache-2.0
"""Spells that are too short to be seen, heaped up: each heap is a column, shared by its spells' lengths.

`templates/timeline.js` does the same when a reader zooms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_LOWEST = "link_busy"


@dataclass(frozen=True)
class Heap:
    """Spells that follow each other."""

    first: int
    last: int
    """Places of the first and the last of them."""
    from_x: float
    until_x: float
    parts: dict[str, tuple[float, float]]
    """Reason → (share of those below it, own share), in the order of their names, with the busy link lowest."""

    @property
    def length(self) -> float:
        """Duration of the heap."""
        return self.until_x - self.from_x


def heaps(begins: Sequence[float], ends: Sequence[float], whys: Sequence[str], least: float) -> list[Heap]:
    """Spells of at least a length, each by itself, and between them heaps of about that length."""
    found: list[Heap] = []
    first = 0
    for place in range(len(ends)):
        if ends[place] - begins[place] >= least:
            if first < place:
                found.append(_heap(begins, ends, whys, first, place - 1))
            found.append(_heap(begins, ends, whys, place, place))
            first = place + 1
        elif ends[place] - begins[first] >= least:
            found.append(_heap(begins, ends, whys, first, place))
            first = place + 1
    if first < len(ends):
        found.append(_heap(begins, ends, whys, first, len(ends) - 1))
    return found


def _heap(begins: Sequence[float], ends: Sequence[float], whys: Sequence[str], first: int, last: int) -> Heap:
    lengths: dict[str, float] = {}
    for place in range(first, last + 1):
        lengths[whys[place]] = lengths.get(whys[place], 0.0) + ends[place] - begins[place]
    whole = sum(lengths.values()) or 1.0
    parts: dict[str, tuple[float, float]] = {}
    below = 0.0
    for why in sorted(lengths, key=lambda each: (each != _LOWEST, each)):
        parts[why] = (below, lengths[why] / whole)
        below += lengths[why] / whole
    return Heap(first, last, begins[first], ends[last], parts)
