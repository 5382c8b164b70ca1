# SPDX-License-Identifier: Apache-2.0
"""Oddities in a study's values: a drift in its course, single trials far out. Nothing is dropped for it."""

from __future__ import annotations

import numpy as np
import polars as pl

from quiclab.compare import statistics
from quiclab.compare.model import StudyAnalysis
from quiclab.compare.study import Study
from quiclab.model import number_text
from quiclab.model.text_table import TextTable

DRIFT_P = 0.01
"""The p-value below which a drift is reported."""


def drift_table(study: Study, analysis: StudyAnalysis) -> TextTable:
    """Per arm, how its trials moved in the course of the study, in per cent of the median of their own cells."""
    values = _relative(study, analysis)
    rows = []
    for (arm,), trials in values.group_by("arm", maintain_order=True):
        ordered = trials.sort("position", maintain_order=True)
        found = statistics.drift(ordered["relative_pct"].to_numpy())
        if found is not None:
            course = number_text.percent(found.per_step * (ordered.height - 1))
            verdict = "drifts" if found.p < DRIFT_P else "steady"
            rows.append((str(arm), str(ordered.height), course, number_text.p_text(found.p), verdict))
    return TextTable(
        "Drift",
        "How far the values of an arm moved from the first trial to the last (slope of Theil and Sen), beside "
        "Kendall's p. A drift is the machine's or the programs'. Arms run in turns within each block, so what they "
        "feel alike cancels in their differences; whether one feels it more is what the table above, Independence of "
        "the pairs, tells.",
        ("arm", "trials", "in the course of the study, + is more", "p", ""),
        tuple(rows),
        "Too few trials to tell.",
    )


def outlier_table(study: Study, analysis: StudyAnalysis) -> TextTable:
    """Trials beyond the outer fences of their own arm in their own cell."""
    rows = []
    unit = analysis.metric.unit
    for _, trials in _relative(study, analysis).group_by("cell_id", "arm", maintain_order=True):
        beyond = statistics.far_out(trials["value"].to_numpy())
        middle = float(np.median(trials["value"].to_numpy()))
        for row in trials.filter(pl.Series(beyond)).iter_rows(named=True):
            cell = f"{analysis.path_titles.get(row['path'], row['path'])}, " + analysis.workload_titles.get(
                row["workload"], row["workload"]
            )
            rows.append(
                (row["trial_id"], cell, row["arm"], str(row["block"]), number_text.quantity(row["value"], unit),
                 number_text.quantity(middle, unit))
            )  # fmt: skip
    return TextTable(
        "Outliers",
        "More than three interquartile ranges beyond the quartiles of their arm in their cell. They count as all "
        "others do: medians and ranks bear them, means do not.",
        ("trial", "cell", "arm", "block", "value", "median"),
        tuple(rows),
        "No trial is an outlier.",
    )


def _relative(study: Study, analysis: StudyAnalysis) -> pl.DataFrame:
    """Verified trials with their value, and that in per cent beside the median of their arm in their cell."""
    values = study.metrics.filter((pl.col("name") == analysis.metric.name) & pl.col("value").is_finite())
    rows = (
        study.trials.filter(pl.col("status") == "verified")
        .join(values.select("trial_id", "value").unique("trial_id"), on="trial_id", maintain_order="left")
        .sort("position", maintain_order=True)
    )
    middle = pl.col("value").median().over("cell_id", "arm")
    relative = ((pl.col("value") - middle) / middle * 100).alias("relative_pct")
    arm = pl.col("arm").str.split("#").list.first()
    return rows.with_columns(relative).filter(pl.col("relative_pct").is_finite()).with_columns(arm)
