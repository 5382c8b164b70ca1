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
    """A value that rests on less than others of its name, and why."""

    value: float
    note: str


@dataclass(frozen=True)
class Metric:
    """One metric and how it is computed."""

    name: str
    unit: str
    better: Better
    """Which way is good; `none` where the number only describes."""
    doc: str
    compute: Callable[[Evidence], float | Noted]
    """Raises Unknown where the trial's tables cannot tell."""


@dataclass(frozen=True)
class MetricRow:
    """One row of the table of metrics."""

    trial_id: str
    name: str
    value: float | None
    """None where it is unknown."""
    unit: str
    better: Better
    note: str | None
    """Why the value is unknown, or what it rests on where that is not the rule."""
