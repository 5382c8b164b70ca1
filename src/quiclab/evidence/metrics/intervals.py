# SPDX-License-Identifier: Apache-2.0
"""Sets of half-open integer ranges: which bytes, or which packet numbers, have been seen."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class IntervalSet:
    """Disjoint ranges in order; ranges that touch are joined."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> list[tuple[int, int]]:
        """Add [start, end); return the parts of it that were not in the set before."""
        if start >= end:
            return []
        if not self._ends or start > self._ends[-1]:
            self._starts.append(start)
            self._ends.append(end)
            return [(start, end)]
        if start >= self._starts[-1]:  # nearly always: bytes come in order, and acknowledgments tell the latest again
            known, self._ends[-1] = self._ends[-1], max(end, self._ends[-1])
            return [(known, end)] if known < end else []
        first = bisect_left(self._ends, start)
        last = bisect_right(self._starts, end)
        new = []
        at = start
        for known_start, known_end in zip(self._starts[first:last], self._ends[first:last], strict=True):
            if at < known_start:
                new.append((at, known_start))
            at = max(at, known_end)
        if at < end:
            new.append((at, end))
        if first < last:
            start = min(start, self._starts[first])
            end = max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]
        return new

    def add_length(self, start: int, end: int) -> int:
        """Add [start, end); return how much of it is new."""
        return sum(new_end - new_start for new_start, new_end in self.add(start, end))

    def reach(self, start: int) -> int:
        """End of the range that holds `start`; `start` itself if none does."""
        at = bisect_right(self._starts, start) - 1
        return max(start, self._ends[at]) if at >= 0 else start
