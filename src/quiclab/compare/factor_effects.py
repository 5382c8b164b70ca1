# SPDX-License-Identifier: Apache-2.0
"""Table of the factors of a matrix: which change the difference between the arms, and which two interact."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from quiclab.compare import statistics
from quiclab.compare.factors import factor_title, not_judged_words, varying
from quiclab.compare.model import Conclusion, StudyAnalysis
from quiclab.compare.paired import within_pairs
from quiclab.compare.statistics import Interval
from quiclab.compare.statistics.factorial import LEAST_VALUES, Effect, effects_of_factors
from quiclab.compare.study import Axis, Study
from quiclab.model import number_text
from quiclab.model.text_table import TextTable

CONFIDENCE = 0.95
Levels = dict[str, dict[str, str | float]]
"""Factor → level by name of the workload or path."""


def factor_tables(study: Study, analysis: StudyAnalysis) -> list[TextTable]:
    """One for each arm beside the baseline; none of a study of one cell."""
    if len({comparison.cell_id for comparison in analysis.comparisons}) < 2:
        return []
    others = dict.fromkeys(comparison.other.arm for comparison in analysis.comparisons)
    return [_table(study, analysis, other) for other in others]


def _table(study: Study, analysis: StudyAnalysis, other: str) -> TextTable:
    levels = {**_axis(study, "paths", analysis.paths), **_axis(study, "workloads", analysis.workloads)}
    title = f"What changes the difference of {other}"
    found = _cells(analysis, other, levels)
    if found is None:
        return TextTable(title, "", (), (), "A value of zero has no ratio: no change of it can be told in per cent.")
    cells, failures = found
    note = (
        f"By how much the ratio of {other} to the baseline within pairs changes, from the least value of a factor to "
        "the largest, from the first network or workload to each other, averaged over all other factors: −20 % where "
        "a ratio of times falls from 1.00 to 0.80 (Hodges–Lehmann of the log ratios per "
        "cell, intervals by resampling within cells). An interval is of its row's change alone, at 95 %; p asks "
        "whether the whole factor changes anything, and is adjusted: two questions. Two factors interact where the "
        f"effect of one depends on the other. Blank: not significant at {analysis.alpha:g} after Benjamini–Hochberg "
        "over the rows of this table."
    )
    note += f" {number_text.counted(failures, 'pair')} with a failure left out." if failures else ""
    left_out = not_judged_words(analysis, other)
    note += f" {left_out}" if left_out else ""
    headings = ("factor", "from", "to", "the ratio changes by", "95 % interval, %", "adjusted p")
    names = [name for name, by_entry in levels.items() if len(set(by_entry.values())) > 1]
    spans = [list(dict.fromkeys(sorted(levels[name].values(), key=_in_order))) for name in names]
    shape = tuple(len(span) for span in spans)
    complete = len(cells) == math.prod(shape)
    if not complete or min(values.size for values in cells.values()) < LEAST_VALUES:
        why = f"pairs: {LEAST_VALUES} in each cell are needed" if complete else "cells: the matrix has gaps"
        return TextTable(title, "", headings, (), " ".join(filter(None, (f"Too few {why}.", left_out))))
    ordered = [cells[place] for place in sorted(cells, key=lambda place: _index(place, spans))]
    effects = effects_of_factors(ordered, shape, CONFIDENCE)
    adjusted = statistics.adjusted_p_values(np.array([effect.p for effect in effects]))
    rows = [
        row
        for effect, p in zip(effects, adjusted, strict=True)
        for row in _rows(effect, float(p), names, spans, analysis)
    ]
    return TextTable(title, note, headings, tuple(rows), "")


def _axis(study: Study, axis: Axis, seen: tuple[str, ...]) -> Levels:
    """An axis by its numeric factors, where each combination of their levels is there once; else by its names."""
    if axis == "workloads":
        known = varying(workloads=[each for name, each in study.workloads.items() if name in seen])
    else:
        known = varying(paths=[each for name, each in study.paths.items() if name in seen])
    numeric: Levels = {name: dict(values) for name, values in known.items() if set(values) >= set(seen)}
    combinations = {tuple(by_entry[entry] for by_entry in numeric.values()) for entry in seen}
    crossed = math.prod(len(set(by_entry.values())) for by_entry in numeric.values())
    if numeric and len(combinations) == crossed == len(seen):
        return numeric
    titles = study.titles(axis)
    named: dict[str, str | float] = {entry: titles.get(entry, entry) for entry in seen}
    return {"network" if axis == "paths" else "workload": named}


def _cells(
    analysis: StudyAnalysis, other: str, levels: Levels
) -> tuple[dict[tuple[str | float, ...], npt.NDArray[np.float64]], int] | None:
    """Place in the matrix → finite log ratios of its pairs, and how many pairs were not finite; None where a value has
    no ratio. Cells that are not judged are left out."""
    cells, failures = {}, 0
    for comparison in analysis.comparisons:
        if comparison.other.arm != other or comparison.conclusion is Conclusion.NOT_JUDGED:
            continue
        here = [
            by_entry[comparison.path if comparison.path in by_entry else comparison.workload]
            for by_entry in levels.values()
            if len(set(by_entry.values())) > 1
        ]
        pairs = within_pairs(comparison.baseline, comparison.other, analysis.metric)
        if not pairs.has_ratios:
            return None
        values = pairs.values
        failures += int(np.isinf(values).sum())
        if np.isfinite(values).any():
            cells[tuple(here)] = values[np.isfinite(values)]
    return cells, failures


def _index(place: tuple[str | float, ...], spans: list[list[str | float]]) -> tuple[int, ...]:
    return tuple(span.index(level) for level, span in zip(place, spans, strict=True))


def _in_order(level: str | float) -> tuple[float, str]:
    """Numbers by size; names stay in the spec's order."""
    return (level, "") if isinstance(level, float) else (0.0, "")


def _rows(
    effect: Effect, p: float, names: list[str], spans: list[list[str | float]], analysis: StudyAnalysis
) -> Iterator[tuple[str, ...]]:
    titles: Mapping[str, str] = {name: factor_title(name) for name in names}
    named = " × ".join(titles[names[axis]] for axis in effect.factors)
    if not effect.changes:
        yield named, "", "", "they interact" if p <= analysis.alpha else "", "", number_text.p_text(p)
        return
    first, *others = spans[effect.factors[0]]
    told = list(zip(others, effect.changes, strict=True))
    for level, change in told[-1:] if isinstance(first, float) else told:
        sign = -1.0 if analysis.metric.lower_is_better else 1.0
        logs = change.interval.scaled(sign)
        shown = number_text.percent(statistics.per_cent(sign * change.by)) if p <= analysis.alpha else ""
        ends = number_text.interval_text(
            Interval(statistics.per_cent(logs.low), statistics.per_cent(logs.high), logs.confidence)
        )
        yield named, _level(first), _level(level), shown, ends, number_text.p_text(p)


def _level(level: str | float) -> str:
    return number_text.count(level) if isinstance(level, float) else level
