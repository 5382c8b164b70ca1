# SPDX-License-Identifier: Apache-2.0
"""A study's factors, numbers and programs, and the metric along one of them while all else is held fixed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import polars as pl

from quiclab.compare import comparison_words, path_asked
from quiclab.compare.factor_lines import Entry, Line, lines
from quiclab.compare.model import ArmResult, Conclusion, StudyAnalysis
from quiclab.compare.program_factors import ProgramLine, program_factors
from quiclab.compare.study import Axis, Study
from quiclab.model import number_text
from quiclab.model.errors import SpecError
from quiclab.model.resolved_record import ResolvedPath, ResolvedWorkload

_AXES: tuple[Axis, ...] = ("workloads", "paths")


def _size(workload: ResolvedWorkload) -> float | None:
    if workload.sizes_bytes or workload.size_bytes is None:
        return None
    return float(workload.size_bytes * (workload.count or 1))


def _count(workload: ResolvedWorkload) -> float | None:
    return None if workload.count is None else float(workload.count)


def _concurrency(workload: ResolvedWorkload) -> float | None:
    return None if workload.concurrency is None else float(workload.concurrency)


def _mtu(path: ResolvedPath) -> float | None:
    return None if path.mtu is None else float(path.mtu)


def _rtt(path: ResolvedPath) -> float | None:
    return path_asked.rtt_ms(path) if path.is_told else None


def _loss(side: path_asked.Side) -> Callable[[ResolvedPath], float | None]:
    return lambda path: path_asked.loss_pct(path, side)


def _rate(side: path_asked.Side) -> Callable[[ResolvedPath], float | None]:
    def read(path: ResolvedPath) -> float | None:
        rate = path_asked.rate_bit_per_s(path, side)
        return None if rate is None else rate / 1e6

    return read


_OF_WORKLOADS: Mapping[str, tuple[str, Callable[[ResolvedWorkload], float | None]]] = MappingProxyType(
    {
        "size": ("bytes of the transfer", _size),
        "count": ("objects", _count),
        "concurrency": ("objects under way at once", _concurrency),
    }
)
"""Factors of workloads: name → title, and how it is read."""
_OF_PATHS: Mapping[str, tuple[str, Callable[[ResolvedPath], float | None]]] = MappingProxyType(
    {
        "rate": ("rate towards the client, Mbit/s", _rate("down")),
        "rate_up": ("rate towards the server, Mbit/s", _rate("up")),
        "rtt": ("base round-trip time, ms", _rtt),
        "loss": ("loss towards the client, %", _loss("down")),
        "loss_up": ("loss towards the server, %", _loss("up")),
        "queue": ("queue towards the client, BDP", path_asked.queue_bdp),
        "jitter": ("jitter towards the client, ms", path_asked.jitter_ms),
        "mtu": ("largest IP packet, bytes", _mtu),
    }
)
"""Factors of paths. Of several links the delays add up, the losses combine, and the least rate counts."""
_TITLES = {name: title for name, (title, _) in (*_OF_WORKLOADS.items(), *_OF_PATHS.items())}
_FOLLOWS = {"rate_up": "rate", "loss_up": "loss"}
"""Factors that follow another one: none of their own where they change only together with it."""


def factor_title(name: str) -> str:
    """Name of a factor in tables."""
    return _TITLES.get(name, name)


def varying(
    workloads: Sequence[ResolvedWorkload] = (), paths: Sequence[ResolvedPath] = ()
) -> dict[str, dict[str, float]]:
    """Factors that differ between the cells: name → value by workload or path."""
    values = {
        **{name: {each.name: read(each) for each in workloads} for name, (_, read) in _OF_WORKLOADS.items()},
        **{name: {each.name: read(each) for each in paths} for name, (_, read) in _OF_PATHS.items()},
    }
    found: dict[str, dict[str, float]] = {}
    for name, by_entry in values.items():
        known = {entry: value for entry, value in by_entry.items() if value is not None}
        leader = found.get(_FOLLOWS.get(name, ""), {})
        if len(set(known.values())) > 1 and not _function_of(leader, known):
            found[name] = known
    return found


def _function_of(leader: Mapping[str, float], known: Mapping[str, float]) -> bool:
    """True if each value of the one has a single value of the other."""
    pairs = {(leader.get(entry), value) for entry, value in known.items()}
    return bool(leader) and len({first for first, _ in pairs}) == len(pairs)


def factors_of(study: Study, analysis: StudyAnalysis) -> dict[str, list[Line]]:
    """Each factor that varies between the cells, with the lines of workloads or paths that differ in it alone."""
    workloads = [each for name, each in study.workloads.items() if name in analysis.workloads]
    paths = [each for name, each in study.paths.items() if name in analysis.paths]
    tables = {axis: {str(each["name"]): each for each in study.tables(axis)} for axis in _AXES}
    found = {}
    for name, values in varying(workloads, paths).items():
        axis: Axis = "workloads" if name in _OF_WORKLOADS else "paths"
        entries = [Entry(each, tables[axis][each.name]) for each in (workloads if axis == "workloads" else paths)]
        found[name] = lines(name, entries, values, study.titles(axis))
    return found


def leading(found: Mapping[str, list[Line]]) -> list[str]:
    """The factors along which something can be followed: two cells or more differ in it alone."""
    return [name for name, of in found.items() if any(len(line.entries) > 1 for line in of)]


def axes_of(study: Study, analysis: StudyAnalysis) -> list[str]:
    """The factors along which something can be followed: numbers, then programs."""
    return [*leading(factors_of(study, analysis)), *program_factors(study, analysis)]


def factor(study: Study, analysis: StudyAnalysis, name: str | None = None) -> pl.DataFrame:
    """The metric's median of every cell and arm along one factor: a panel for each combination of what else varies.

    Raises SpecError where there is no such factor, or several and none is named.
    """
    found, programs = factors_of(study, analysis), program_factors(study, analysis)
    candidates = axes_of(study, analysis) or list(found)
    known = [*found, *programs]
    if name is None and len(candidates) == 1:
        name = candidates[0]
    if name is None or name not in known:
        what = (
            f"no two cells and no two comparisons differ in {name!r} alone"
            if name
            else "several factors vary"
            if known
            else "no numeric factor varies"
        )
        raise SpecError(f"in this study {what}", f"--factor {' or '.join(known)}" if known else "")
    return (
        program_data(analysis, name, programs[name]) if name in programs else factor_data(analysis, name, found[name])
    )


def program_data(analysis: StudyAnalysis, name: str, of: Sequence[ProgramLine]) -> pl.DataFrame:
    """One row per cell, line and program: as `factor_data`, with names of programs for numbers."""
    rows: list[dict[str, object]] = []
    for (path, workload), arms in _in_order(analysis).items():
        parts = [
            *([analysis.path_titles.get(path, path)] if len(analysis.paths) > 1 else []),
            *([analysis.workload_titles.get(workload, workload)] if len(analysis.workloads) > 1 else []),
        ]
        for line in of:
            for program, arm in line.arms.items():
                if arm in arms:
                    where = {"panel": ", ".join(parts), "arm": line.label, "x": program, "x_title": factor_title(name)}
                    rows.append(where | _point(arms[arm], analysis))
    return _frame(rows, pl.String(), not_judged_words(analysis))


def _in_order(analysis: StudyAnalysis) -> dict[tuple[str, str], dict[str, ArmResult]]:
    """(path, workload) → the arms that are judged there by name, in the order of the map."""
    found = _arms_by_cell(analysis)
    return {
        (path, workload): {arm.arm: arm for arm in found[workload, path]}
        for path in analysis.paths
        for workload in analysis.workloads
        if (workload, path) in found
    }


def _frame(rows: Sequence[Mapping[str, object]], x: pl.DataType, left_out: str) -> pl.DataFrame:
    texts = dict.fromkeys(("panel", "arm", "x_title", "metric_title", "unit"), pl.String())
    numbers = dict.fromkeys(("median", "low", "high"), pl.Float64())
    return pl.DataFrame(rows, schema={**texts, "x": x, **numbers}).with_columns(left_out=pl.lit(left_out))


def factor_data(analysis: StudyAnalysis, name: str, of: Sequence[Line]) -> pl.DataFrame:
    """One row per panel, arm and value of the factor; what has no place on its axis is told in `left_out`."""
    across = name in _OF_WORKLOADS
    titles, other_titles = analysis.workload_titles, analysis.path_titles
    others: Sequence[str] = analysis.paths
    if not across:
        titles, other_titles, others = other_titles, titles, analysis.workloads
    cells = _arms_by_cell(analysis)
    rows: list[dict[str, object]] = []
    for other in others:
        for line in of:
            parts = [other_titles.get(other, other)] if len(others) > 1 else []
            panel = ", ".join([*parts, line.title] if line.title else parts)
            for x, entry in line.entries.items():
                for arm in cells.get((entry, other) if across else (other, entry), ()):
                    where = {"panel": panel, "arm": arm.arm, "x": x, "x_title": factor_title(name)}
                    rows.append(where | _point(arm, analysis))
    placed = {entry for line in of for entry in line.entries.values()}
    every = analysis.workloads if across else analysis.paths
    without = [titles.get(entry, entry) for entry in every if entry not in placed]
    left_out = f"not shown, as they have no single number on this axis: {'; '.join(without)}" if without else ""
    left_out = "; ".join(filter(None, (left_out, not_judged_words(analysis))))
    order = {arm: place for place, arm in enumerate(analysis.arms)}
    frame = _frame(rows, pl.Float64(), left_out)
    by_arm = pl.col("arm").replace_strict(order, return_dtype=pl.Int64)
    return frame.sort(by_arm, maintain_order=True)


def not_judged_words(analysis: StudyAnalysis, other: str | None = None) -> str:
    """Return which cells are left out as they are not judged, of all comparisons or those of one arm; "" of none."""
    spoiled: dict[str, list[str]] = {}
    for each in analysis.comparisons:
        if each.conclusion is Conclusion.NOT_JUDGED and other in (None, each.other.arm):
            spoiled.setdefault(comparison_words.cell_name(each, analysis), []).append(each.other.arm)
    all_of = len(analysis.baselines)
    told = [
        cell + (f" ({number_text.listed(arms)})" if other is None and len(arms) < all_of else "")
        for cell, arms in spoiled.items()
    ]
    return f"Left out, as they are not judged: {'; '.join(told)}." if told else ""


def _arms_by_cell(analysis: StudyAnalysis) -> dict[tuple[str, str], list[ArmResult]]:
    """(workload, path) → its arms, each once; without arms whose comparison is not judged."""
    cells = {(each.workload, each.path): {each.arm.arm: each.arm} for each in analysis.alone}
    for comparison in analysis.comparisons:
        if comparison.conclusion is Conclusion.NOT_JUDGED:
            continue
        for arm in (comparison.baseline, comparison.other):
            cells.setdefault((comparison.workload, comparison.path), {}).setdefault(arm.arm, arm)
    return {place: list(arms.values()) for place, arms in cells.items()}


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
