# SPDX-License-Identifier: Apache-2.0
"""Values over time as a log tells them: each holds until the next."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import polars as pl

T = TypeVar("T")


@dataclass(frozen=True)
class Steps(Generic[T]):
    """A step function: instants in order, and the value from each on."""

    at_ns: Sequence[int]
    values: Sequence[T]

    def before(self, time_ns: int) -> T | None:
        """The value just before an instant; None before the first."""
        at = bisect_left(self.at_ns, time_ns)
        return self.values[at - 1] if at else None

    def by(self, time_ns: int) -> T | None:
        """The value at an instant; None before the first."""
        at = bisect_right(self.at_ns, time_ns)
        return self.values[at - 1] if at else None

    def within(self, from_ns: int, until_ns: int) -> Sequence[tuple[int, T]]:
        """(instant, value) of the steps in (from_ns, until_ns]."""
        first, last = bisect_right(self.at_ns, from_ns), bisect_right(self.at_ns, until_ns)
        return list(zip(self.at_ns[first:last], self.values[first:last], strict=True))


def steps(rows: pl.DataFrame, column: str, time: str = "time_ns") -> Steps[int]:
    """The steps of one column, rows without a value left out."""
    told = rows.drop_nulls((time, column)).sort(time, maintain_order=True)
    return Steps(told[time].to_list(), told[column].to_list())
