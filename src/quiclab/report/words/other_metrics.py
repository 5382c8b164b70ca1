# SPDX-License-Identifier: Apache-2.0
"""Other metrics of each cell, beside the one that is compared."""

from __future__ import annotations

import polars as pl

from quiclab.compare import comparison_words
from quiclab.compare.metric_values import by_cell_and_arm, middle
from quiclab.compare.model import StudyAnalysis
from quiclab.compare.study import Study
from quiclab.evidence.metrics import METRICS
from quiclab.model import number_text
from quiclab.model.text_table import TextTable


def metric_medians(study: Study, analysis: StudyAnalysis) -> pl.DataFrame:
    """One row per metric that was measured, cell and arm: the median over the verified trials."""
    arms = {
        (cell_id, arm.arm): comparison_words.cell_name(cell.place, analysis)
        for cell_id, cell in analysis.cells().items()
        for arm in cell.arms
    }
    rows = [
        {"cell_id": key[0], "cell_title": place, "arm": key[1], "metric": metric.name, "unit": metric.unit,
         "median": middle(values[key]), "trials": values[key].len()}
        for metric in METRICS
        if metric.heading and (values := by_cell_and_arm(study, metric.name))
        for key, place in arms.items()
        if key in values
    ]  # fmt: skip
    texts = dict.fromkeys(("cell_id", "cell_title", "arm", "metric", "unit"), pl.String)
    return pl.DataFrame(rows, schema={**texts, "median": pl.Float64, "trials": pl.Int64})


def other_metrics(data: pl.DataFrame) -> TextTable:
    """Return `metric_medians` as text: one row per cell and arm, a column per metric."""
    measured = set(data["metric"].to_list())
    columns = [metric for metric in METRICS if metric.name in measured]
    rows = []
    for (_, place, arm), group in data.group_by("cell_id", "cell_title", "arm", maintain_order=True):
        known = {row["metric"]: number_text.quantity(row["median"], row["unit"]) for row in group.iter_rows(named=True)}
        rows.append((str(place), str(arm), *(known.get(metric.name, "–") for metric in columns)))
    return TextTable(
        "Every metric",
        "Medians over the verified trials of a cell; times count from the client's first packet. "
        "`quiclab report STUDY --metric NAME` writes a report about one of them; the data below has their names.",
        ("cell", "arm", *(metric.heading for metric in columns)),
        tuple(rows),
        "No metric was measured.",
    )
