# SPDX-License-Identifier: Apache-2.0
"""How large the differences are beside the noise, and what the slowest trials are like: tables and their data."""

from __future__ import annotations

import numpy as np
import polars as pl

from quiclab import statistics
from quiclab.report import wording
from quiclab.report.compare import differences_within_pairs, values_of
from quiclab.report.model import ArmResult, Comparison, StudyAnalysis
from quiclab.report.text_table import TextTable

CONFIDENCE = 0.95
SHARES = (0.5, 0.9, 0.95, 0.99)
EFFECT_PCT = 5.0
"""The effect for which the pairs are counted, in per cent of the baseline's median."""


def effects(analysis: StudyAnalysis) -> pl.DataFrame:
    """One row per main comparison: shift within pairs, Cliff's delta, and the pairs that an effect of 5 % takes."""
    schema = {
        **dict.fromkeys(("cell_id", "cell_title", "baseline_arm", "other_arm", "unit"), pl.String),
        **dict.fromkeys(("shift", "shift_low", "shift_high", "shift_pct"), pl.Float64),
        **dict.fromkeys(("cliffs_delta", "cliffs_delta_low", "cliffs_delta_high"), pl.Float64),
        **dict.fromkeys(("pairs", "pairs_for_5_pct"), pl.Int64),
    }
    return pl.DataFrame([_effect(comparison, analysis) for comparison in analysis.comparisons], schema=schema)


def _effect(comparison: Comparison, analysis: StudyAnalysis) -> dict[str, object]:
    metric, baseline, other = analysis.metric, comparison.baseline, comparison.other
    differences = differences_within_pairs(baseline, other, metric)
    sign = 1.0 if metric.lower_is_better else -1.0
    shift = statistics.hodges_lehmann(differences, 1 - analysis.alpha)
    delta = statistics.cliffs_delta(values_of(baseline.trials, metric), values_of(other.trials, metric), CONFIDENCE)
    known = baseline.median is not None and np.isfinite(baseline.median)
    needed = (
        statistics.pairs_to_see(differences, EFFECT_PCT / 100 * (baseline.median or 0.0), analysis.alpha)
        if known
        else None
    )
    span = delta.interval.scaled(sign) if delta.interval else None
    return {
        "cell_id": comparison.cell_id,
        "cell_title": wording.place(comparison, analysis),
        "baseline_arm": baseline.arm,
        "other_arm": other.arm,
        "unit": metric.unit,
        "shift": None if np.isnan(shift.estimate) else shift.estimate,
        "shift_low": shift.interval.low if shift.interval else None,
        "shift_high": shift.interval.high if shift.interval else None,
        "shift_pct": comparison.shift_pct,
        "cliffs_delta": None if np.isnan(delta.estimate) else sign * delta.estimate,
        "cliffs_delta_low": span.low if span else None,
        "cliffs_delta_high": span.high if span else None,
        "pairs": comparison.pairs,
        "pairs_for_5_pct": needed,
    }


def effects_table(data: pl.DataFrame) -> TextTable:
    """The same as text."""
    rows = tuple(
        (
            row["cell_title"],
            row["other_arm"],
            _signed(row["shift"], row["unit"]),
            _span(row["shift_low"], row["shift_high"], row["unit"]),
            wording.percent(row["shift_pct"]),
            _plain(row["cliffs_delta"]),
            _span_plain(row["cliffs_delta_low"], row["cliffs_delta_high"]),
            str(row["pairs"]),
            "–" if row["pairs_for_5_pct"] is None else str(row["pairs_for_5_pct"]),
        )
        for row in data.iter_rows(named=True)
    )
    return TextTable(
        "How large, beside the noise",
        "Shift: the typical difference within a pair (Hodges–Lehmann), positive where the arm is better than the "
        "baseline. Cliff's delta: how often a trial of the arm is better than one of the baseline, less how often "
        f"it is worse; 1 is always. Pairs for {EFFECT_PCT:g} %: how many this noise needs to see such a shift four "
        "times out of five, before correction.",
        ("cell", "arm", "shift", "interval", "shift, %", "Cliff's delta", "95 % interval", "pairs",
         f"pairs for {EFFECT_PCT:g} %"),
        rows,
        "There is nothing to compare.",
    )  # fmt: skip


def tails(analysis: StudyAnalysis) -> pl.DataFrame:
    """One row per main cell, arm and quantile."""
    rows = []
    seen: set[tuple[str, str]] = set()
    for comparison in analysis.comparisons:
        for arm in (comparison.baseline, comparison.other):
            if (comparison.cell_id, arm.arm) not in seen:
                seen.add((comparison.cell_id, arm.arm))
                rows += _tail(comparison, arm, analysis)
    texts = dict.fromkeys(("cell_id", "cell_title", "arm", "unit"), pl.String)
    numbers = dict.fromkeys(("share", "value", "low", "high", "confidence"), pl.Float64)
    return pl.DataFrame(rows, schema={**texts, **numbers, "trials": pl.Int64})


def _tail(comparison: Comparison, arm: ArmResult, analysis: StudyAnalysis) -> list[dict[str, object]]:
    sign = 1.0 if analysis.metric.lower_is_better else -1.0  # the tail is where trials are bad
    values = sign * values_of(arm.trials, analysis.metric)
    rows: list[dict[str, object]] = []
    for share in SHARES:
        found = statistics.quantile(values, share, CONFIDENCE)
        if found is not None:
            span = found.interval.scaled(sign)
            rows.append(
                {
                    "cell_id": comparison.cell_id,
                    "cell_title": wording.place(comparison, analysis),
                    "arm": arm.arm,
                    "unit": analysis.metric.unit,
                    "share": share,
                    "value": sign * found.estimate,
                    "low": span.low,
                    "high": span.high,
                    "confidence": span.confidence,
                    "trials": int((~np.isnan(values)).sum()),
                }
            )
    return rows


def tails_table(data: pl.DataFrame) -> TextTable:
    """The same as text, a row per cell and arm."""
    rows = []
    for (_, title, arm, unit, trials), group in data.group_by(
        "cell_id", "cell_title", "arm", "unit", "trials", maintain_order=True
    ):
        texts = []
        for row in group.iter_rows(named=True):
            texts += [wording.quantity(row["value"], str(unit)), _span(row["low"], row["high"], str(unit))]
        rows.append((str(title), str(arm), str(trials), *texts))
    shares = [text for share in SHARES for text in (f"p{share * 100:g}", "interval")]
    return TextTable(
        "The slow tail",
        "pN: N % of the trials were no worse. Intervals are exact and hold for any distribution; an open end says "
        "that so few trials do not bound it. Failed trials count as the worst.",
        ("cell", "arm", "trials", *shares),
        tuple(rows),
        "No trial has a result.",
    )


def _signed(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    if np.isinf(value):
        return "by failures"
    return ("+" if value > 0 else "") + wording.quantity(value, unit)


def _span(low: float | None, high: float | None, unit: str) -> str:
    if low is None or high is None:
        return "–"
    ends = ("open" if np.isinf(end) else wording.quantity(end, unit) for end in (low, high))
    return " … ".join(ends)


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:+.2f}".replace("-", "−")


def _span_plain(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{_plain(low)} … {_plain(high)}"
