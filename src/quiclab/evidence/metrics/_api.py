# SPDX-License-Identifier: Apache-2.0
"""A metric: one number of one trial, with its unit, or the reason why it is unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from quiclab.evidence.metrics.evidence import Evidence

Better = Literal["lower", "higher", "none"]
MS_PER_UNIT = MappingProxyType({"us": 1e-3, "ms": 1.0, "s": 1e3})
"""Milliseconds of each unit that times are in."""
RATE = "bit/s"
"""The unit of rates."""


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
    of_processor: bool = False
    """True of processor time, which no wait makes longer."""

    @property
    def comparable(self) -> bool:
        """True if a study can be about it: one side of it is the better."""
        return self.better != "none"

    @property
    def feels_delays(self) -> bool:
        """True of times and rates in which all that delays a transfer shows; false of counts, sizes and shares."""
        return self.comparable and self.unit in (*MS_PER_UNIT, RATE) and not self.of_processor


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
    """Reason why the value is unknown, or basis of the value where that is not the rule."""
