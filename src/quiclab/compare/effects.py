# SPDX-License-Identifier: Apache-2.0
"""Sizes of the differences beside the noise, and the slowest trials of each arm: tables and their data."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from quiclab.compare import comparison_words, statistics
from quiclab.compare.model import ArmResult, Comparison, StudyAnalysis
from quiclab.compare.paired import values_of, within_pairs
from quiclab.compare.statistics import Interval
from quiclab.compare.statistics.cliffs_delta import MID_P_FROM
from quiclab.model import number_text
from quiclab.model.text_table import TextTable

CONFIDENCE = 0.95
SHARES = (0.5, 0.9, 0.95, 0.99)


def effects(analysis: StudyAnalysis) -> pl.DataFrame:
    """One row per main comparison: difference and Cliff's delta within pairs, and the pairs that it takes to find a
    difference that just matters."""
    schema = {
        **dict.fromkeys(("cell_id", "cell_title", "baseline_arm", "other_arm"), pl.String),
        **dict.fromkeys(("difference_pct", "interval_low_pct", "interval_high_pct"), pl.Float64),
        **dict.fromkeys(("difference", "interval_low", "interval_high"), pl.Float64),
        "unit": pl.String,
        "interval_confidence_pct": pl.Float64,
        **dict.fromkeys((f"cliffs_delta_within{end}" for end in ("", "_low", "_high")), pl.Float64),
        **dict.fromkeys(("pairs", "pairs_better", "pairs_worse", "pairs_to_matter"), pl.Int64),
        "matters_pct": pl.Float64,
        "difference_text": pl.String,
        "interval_text": pl.String,
    }
    return pl.DataFrame([_effect(comparison, analysis) for comparison in analysis.comparisons], schema=schema)


def _effect(comparison: Comparison, analysis: StudyAnalysis) -> dict[str, object]:
    pairs = within_pairs(comparison.baseline, comparison.other, analysis.metric)
    delta = statistics.cliffs_delta_within(pairs.values, CONFIDENCE)
    interval, in_unit = comparison.interval_pct, comparison.interval
    needed = None
    if pairs.has_ratios:
        alone = analysis.alpha / len(analysis.comparisons)  # the level of `quiclab plan`: no other cell differs
        needed = statistics.pairs_in_noise_of(pairs.values, math.log1p(analysis.matters_pct / 100), alone)
    return {
        "cell_id": comparison.cell_id,
        "cell_title": comparison_words.cell_name(comparison, analysis),
        "baseline_arm": comparison.baseline.arm,
        "other_arm": comparison.other.arm,
        "difference_pct": comparison.difference_pct,
        "interval_low_pct": interval.low if interval else None,
        "interval_high_pct": interval.high if interval else None,
        "difference": comparison.difference,
        "interval_low": in_unit.low if in_unit else None,
        "interval_high": in_unit.high if in_unit else None,
        "unit": analysis.metric.unit,
        "interval_confidence_pct": of.confidence * 100 if (of := interval or in_unit) else None,
        "cliffs_delta_within": None if np.isnan(delta.estimate) else delta.estimate,
        "cliffs_delta_within_low": delta.interval.low if delta.interval else None,
        "cliffs_delta_within_high": delta.interval.high if delta.interval else None,
        "pairs": comparison.pairs,
        "pairs_better": delta.above,
        "pairs_worse": delta.below,
        "pairs_to_matter": needed,
        "matters_pct": analysis.matters_pct,
        "difference_text": comparison_words.estimate_text(comparison, analysis.metric),
        "interval_text": comparison_words.estimate_interval(comparison, analysis.metric, analysis.confidence),
    }


def effects_table(data: pl.DataFrame) -> TextTable:
    """Return the table of `effects` as text."""
    rows = tuple(
        (
            row["cell_title"],
            row["other_arm"],
            row["difference_text"] or "–",
            row["interval_text"] or "–",
            _plain(row["cliffs_delta_within"]),
            _span_plain(row["cliffs_delta_within_low"], row["cliffs_delta_within_high"]),
            str(row["pairs"]),
            "–" if row["pairs_to_matter"] is None else str(row["pairs_to_matter"]),
        )
        for row in data.iter_rows(named=True)
    )
    matters = f"{data['matters_pct'][0]:g} %" if data.height else "what matters"
    return TextTable(
        "How large, beside the noise",
        "The difference within pairs, as in All numbers. Better "
        "less worse: the share of pairs in which the arm is better, less the share in which it is worse; +1 is in "
        "every pair (Cliff's delta within pairs, d_w). Its interval holds at least 95 % "
        f"of fewer than {MID_P_FROM} pairs (Clopper and Pearson), about 95 % of more (mid-p), more near ±1 and with "
        f"ties. Pairs for {matters}: how many pairs this noise takes to find a difference of {matters} in four studies "
        "of five if no other cell differs, as `quiclab plan STUDY` says it. It is rough: of such numbers from seven "
        "pairs four in five lie between a fifth and twice the right one.",
        ("cell", "arm", "difference", "its interval", "better less worse", "95 % interval", "pairs",
         f"pairs for {matters}"),
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
                    "cell_title": comparison_words.cell_name(comparison, analysis),
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
    """Return the table of `tails` as text, a row per cell and arm."""
    rows = []
    for (_, title, arm, unit, trials), group in data.group_by(
        "cell_id", "cell_title", "arm", "unit", "trials", maintain_order=True
    ):
        texts = []
        for row in group.iter_rows(named=True):
            told = number_text.level_text(Interval(row["low"], row["high"], row["confidence"]), CONFIDENCE)
            texts += [number_text.quantity(row["value"], str(unit)), _span(row["low"], row["high"], str(unit)) + told]
        rows.append((str(title), str(arm), str(trials), *texts))
    shares = [text for share in SHARES for text in (f"p{share * 100:g}", f"{number_text.level(CONFIDENCE)} interval")]
    return TextTable(
        "The slow tail",
        "p95: 95 % of the trials were as good as this or better. The intervals are exact for any distribution. Where "
        "a cell has too few trials for an interval at this level, the level that they allow is given; an end is "
        "“open” where the trials set no limit. Failed trials count as the worst.",
        ("cell", "arm", "trials", *shares),
        tuple(rows),
        "No trial has a result.",
    )


def _span(low: float | None, high: float | None, unit: str) -> str:
    if low is None or high is None:
        return "–"
    ends = ("open" if np.isinf(end) else number_text.quantity(end, unit) for end in (low, high))
    return " … ".join(ends)


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:+.2f}".replace("-", "−")


def _span_plain(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{_plain(low)} … {_plain(high)}"
