# SPDX-License-Identifier: Apache-2.0
"""Comparisons and trials as rows: files that lie beside the report, and the data of its figures."""

from __future__ import annotations

import math

import polars as pl

from quiclab.compare import comparison_words
from quiclab.compare.model import ArmResult, Comparison, StudyAnalysis
from quiclab.model import number_text


def differences(analysis: StudyAnalysis) -> pl.DataFrame:
    """Return one row per comparison, A/A cells too: every number of the result table."""
    return pl.DataFrame(
        [_difference(c, analysis) for c in (*analysis.comparisons, *analysis.controls)], infer_schema_length=None
    )


def distributions(analysis: StudyAnalysis) -> pl.DataFrame:
    """Return one row per trial that has a result, in the order of the figures."""
    rows: dict[str, dict[str, object]] = {}
    for cell in analysis.cells(controls=True).values():
        for arm in cell.arms:
            for trial in arm.trials:
                rows.setdefault(
                    trial.trial_id,
                    {
                        "kind": cell.place.kind,
                        "cell_id": cell.place.cell_id,
                        "cell_title": comparison_words.cell_name(cell.place, analysis),
                        "arm": arm.arm,
                        "block": trial.block,
                        "trial_id": trial.trial_id,
                        "status": trial.status,
                        "value": trial.value,
                        "metric": analysis.metric.name,
                        "metric_title": analysis.metric.title,
                        "unit": analysis.metric.unit,
                        "reason": trial.reason,
                    },
                )
    texts = ("kind", "cell_id", "cell_title", "arm", "trial_id", "status", "metric", "metric_title", "unit", "reason")
    # Given whole, so that the columns are there when no trial has a result.
    schema = {**dict.fromkeys(texts, pl.String), "block": pl.Int64, "value": pl.Float64}
    frame = pl.DataFrame(list(rows.values()), schema=schema)
    order = ("kind", "cell_id", "cell_title", "arm", "block", "trial_id", "status", "value")
    return frame.select(*order, "metric", "metric_title", "unit", "reason")


def _difference(comparison: Comparison, analysis: StudyAnalysis) -> dict[str, object]:
    interval, in_unit, tail = comparison.interval_pct, comparison.interval, comparison.tail
    return {
        "kind": comparison.kind,
        "cell_id": comparison.cell_id,
        "path": comparison.path,
        "workload": comparison.workload,
        "path_title": analysis.path_titles.get(comparison.path, comparison.path),
        "workload_title": analysis.workload_titles.get(comparison.workload, comparison.workload),
        "baseline_arm": comparison.baseline.arm,
        "other_arm": comparison.other.arm,
        "metric": analysis.metric.name,
        "unit": analysis.metric.unit,
        "pairs": comparison.pairs,
        **_arm("baseline", comparison.baseline),
        **_arm("other", comparison.other),
        "difference_pct": comparison.difference_pct,
        "interval_low_pct": interval.low if interval else None,
        "interval_high_pct": interval.high if interval else None,
        "difference": comparison.difference,
        "interval_low": in_unit.low if in_unit else None,
        "interval_high": in_unit.high if in_unit else None,
        "interval_confidence_pct": of.confidence * 100 if (of := interval or in_unit) else None,
        "p": comparison.p,
        "adjusted_p": comparison.adjusted_p,
        "mann_whitney_p": comparison.mann_whitney_p,
        "welch_p": comparison.welch_p,
        "alpha": analysis.alpha,
        "outcome": comparison.outcome.value,
        "why": comparison.why,
        "significant": comparison.outcome.significant,
        "matters_pct": analysis.matters_pct,
        "conclusion": comparison.conclusion.value,
        "disturbance_pct": comparison.disturbance_pct,
        "lost_pairs": comparison.lost,
        "tail": tail.state.value if tail else None,
        "tail_difference_pct": tail.difference_pct if tail else None,
        "tail_low_pct": tail.interval_pct.low if tail and tail.interval_pct else None,
        "tail_high_pct": tail.interval_pct.high if tail and tail.interval_pct else None,
        "cell_text": comparison_words.difference_text(comparison, analysis.metric),
        "details": details(comparison, analysis),
        "faster": comparison_words.faster(analysis.metric),
        "better_sign": comparison_words.better_sign(analysis.metric),
    }


def _arm(side: str, arm: ArmResult) -> dict[str, object]:
    return {
        f"{side}_median": arm.median,
        f"{side}_median_low": arm.interval.low if arm.interval else None,
        f"{side}_median_high": arm.interval.high if arm.interval else None,
        f"{side}_mean": arm.mean,
        f"{side}_sd": arm.sd,
        f"{side}_failed": arm.failures,
        f"{side}_unproven": arm.unproven,
        f"{side}_void": arm.voids,
        f"{side}_damaged": arm.damaged,
        f"{side}_unmeasured": arm.unmeasured,
        f"{side}_repeats_shift_pct": arm.selection.shift_pct if arm.selection else None,
    }


def details(comparison: Comparison, analysis: StudyAnalysis) -> str:
    """All numbers of a cell, a line each."""
    unit, interval = analysis.metric.unit, comparison.interval_pct or comparison.interval
    lines = [comparison_words.cell_name(comparison, analysis)]
    for arm in (comparison.baseline, comparison.other):
        spread = ""
        if arm.interval and math.isfinite(arm.interval.high):
            ends = (number_text.quantity(end, unit) for end in (arm.interval.low, arm.interval.high))
            spread = f" ({number_text.level(arm.interval.confidence)}: {' … '.join(ends)})"
        trouble = comparison_words.trouble(arm)
        lines.append(
            f"{arm.arm}: median {number_text.quantity(arm.median, unit)}{spread}" + (f", {trouble}" if trouble else "")
        )
    told = comparison_words.difference_words(comparison, analysis.metric)
    lines.append(f"within pairs, {comparison.other.arm}: {told or 'no difference that can be told'}")
    if interval:
        shown = comparison_words.estimate_interval(comparison, analysis.metric, interval.confidence)
        lines.append(f"its {number_text.level(interval.confidence)} interval {shown}")
    if disturbed := comparison_words.disturbance_words(comparison.disturbance_pct):
        lines.append(disturbed)
    lines.append(comparison_words.conclusion_words(comparison, analysis.matters_pct))
    tail = comparison_words.tail_words(comparison.tail, analysis.metric)
    if tail:
        lines.append(f"slow tail {tail}")
    p, adjusted, mann_whitney, welch = (
        number_text.p_text(value) or "–"
        for value in (comparison.p, comparison.adjusted_p, comparison.mann_whitney_p, comparison.welch_p)
    )
    lines.append(f"{comparison_words.pairs_words(comparison)}, p {p}, adjusted {adjusted}")
    lines.append(f"Mann–Whitney p {mann_whitney}, Welch p {welch}")
    return "\n".join([*lines, comparison.why] if comparison.why else lines)
