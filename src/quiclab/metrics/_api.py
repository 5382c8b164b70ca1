# SPDX-License-Identifier: Apache-2.0
"""What a metric is: one number of one trial, with its unit, or the reason why it is unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from quiclab.metrics.evidence import Evidence

Better = Literal["lower", "higher", "none"]


@dataclass(frozen=True)
class Noted:
    """A value from another source than others of its name, and from which; a study tells where arms differ in it."""

    value: float
    note: str


@dataclass(frozen=True)
class Metric:
    """Everything that quiclab says of one metric, and how it is computed."""

    name: str
    """Identifier in tables, specs and on the command line; it ends with the unit."""
    title: str
    """Name for readers, as in "time to last byte"."""
    unit: str
    better: Better
    """Direction that is good; `none` where the number only describes."""
    definition: str
    compute: Callable[[Evidence], float | Noted]
    """Raises Unknown where the trial's tables cannot tell."""
    heading: str = ""
    """Heading of its column in the report's table "Every metric"; a metric without one has no column there."""

    @property
    def comparable(self) -> bool:
        """Whether a study can be about it: one side of it is the better."""
        return self.better != "none"


@dataclass(frozen=True)
class MetricRow:
    """One row of the table of metrics."""

    trial_id: str
    name: str
    value: float | None
    """The metric's value; None where it is unknown."""
    unit: str
    better: Better
    note: str | None
    """Why the value is unknown, or what it rests on where that is not the rule."""
