# SPDX-License-Identifier: Apache-2.0
"""A study's numeric factors, and the metric along one of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import polars as pl

from quiclab.errors import SpecError
from quiclab.opened import OpenedStudy
from quiclab.report.model import ArmResult, StudyAnalysis
from quiclab.report.study import read_json

Entry = Mapping[str, Any]


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _down(path: Entry, key: str) -> float | None:
    direction = path.get("down")
    return _number(direction.get(key)) if isinstance(direction, Mapping) else None


def _size(workload: Entry) -> float | None:
    if workload.get("sizes"):
        return None
    size = _number(workload.get("size_bytes"))
    return None if size is None else size * (_number(workload.get("count")) or 1)


def _rtt(path: Entry) -> float | None:
    ways = [path.get("up"), path.get("down")]
    delays = [_number(way.get("delay_ns")) for way in ways if isinstance(way, Mapping)]
    return sum(delay for delay in delays if delay is not None) / 1e6 if len(delays) == 2 else None


def _loss(path: Entry) -> float | None:
    direction = path.get("down")
    loss = direction.get("loss") if isinstance(direction, Mapping) else None
    if loss is None:
        return 0.0
    return _number(loss.get("probability_pct")) if isinstance(loss, Mapping) else None


def _rate(path: Entry) -> float | None:
    rate = _down(path, "rate_bit_per_s")
    return None if rate is None else rate / 1e6


_FACTORS: Mapping[str, tuple[str, str, Callable[[Entry], float | None]]] = MappingProxyType(
    {
        "size": ("workloads", "bytes of the transfer", _size),
        "count": ("workloads", "objects", lambda workload: _number(workload.get("count"))),
        "rate": ("paths", "rate towards the client, Mbit/s", _rate),
        "rtt": ("paths", "base round-trip time, ms", _rtt),
        "loss": ("paths", "loss towards the client, %", _loss),
    }
)
"""Name → where it stands in the resolved spec, its title, how it is read there."""


def factor_title(name: str) -> str:
    """What tables call a factor."""
    return _FACTORS[name][1] if name in _FACTORS else name


def varying(resolved: Entry) -> dict[str, dict[str, float]]:
    """Factors that differ between the cells: name → value by workload or path."""
    found = {}
    for name, (axis, _, read) in _FACTORS.items():
        entries = [entry for entry in resolved.get(axis) or () if isinstance(entry, Mapping)]
        values = {str(entry.get("name")): read(entry) for entry in entries}
        known = {key: value for key, value in values.items() if value is not None}
        if len(set(known.values())) > 1:
            found[name] = known
    return found


def factor(study: OpenedStudy, analysis: StudyAnalysis, name: str | None = None) -> pl.DataFrame:
    """The metric's median of every arm along one factor; where others vary too, they become part of the arm's name.

    Raises SpecError where there is no such factor, or several and none is named.
    """
    factors = varying(read_json(study.directory / "resolved.json", []))
    if name is None and len(factors) == 1:
        name = next(iter(factors))
    if name is None or name not in factors:
        what = f"{name!r} does not vary" if name else "several factors vary" if factors else "no numeric factor varies"
        raise SpecError(f"in this study {what}", f"--factor {' or '.join(factors)}" if factors else "")
    axis, title, _ = _FACTORS[name]
    rows: dict[tuple[str, float], dict[str, object]] = {}
    others = len({(c.path if axis == "workloads" else c.workload) for c in analysis.comparisons}) > 1
    for comparison in analysis.comparisons:
        here = comparison.workload if axis == "workloads" else comparison.path
        rest = comparison.path if axis == "workloads" else comparison.workload
        titles = analysis.path_titles if axis == "workloads" else analysis.workload_titles
        for arm in (comparison.baseline, comparison.other):
            if here in factors[name]:
                label = f"{arm.arm}, {titles.get(rest, rest)}" if others else arm.arm
                point = _point(arm, analysis) | {"arm": label, "x": factors[name][here], "x_title": title}
                rows[label, factors[name][here]] = point
    texts = dict.fromkeys(("arm", "x_title", "metric_title", "unit"), pl.String)
    numbers = dict.fromkeys(("x", "median", "low", "high"), pl.Float64)
    return pl.DataFrame(list(rows.values()), schema={**texts, **numbers})


def _point(arm: ArmResult, analysis: StudyAnalysis) -> dict[str, object]:
    def finite(value: float | None) -> float | None:
        return value if value is not None and math.isfinite(value) else None

    interval = arm.interval
    return {
        "median": finite(arm.median),
        "low": finite(interval.low) if interval else None,
        "high": finite(interval.high) if interval else None,
        "metric_title": analysis.metric.title,
        "unit": analysis.metric.unit,
    }
