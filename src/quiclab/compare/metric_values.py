# SPDX-License-Identifier: Apache-2.0
"""Values of one metric in the verified trials of a study, grouped as the page's tables show them."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from quiclab.compare.study import Study


def by_path_and_arm(study: Study, metric: str) -> Iterator[tuple[str, str, pl.Series]]:
    """(path, arm, known values) over the main cells, paths in the spec's order."""
    rows = _known(study, metric)
    order = study.order("paths", set(rows["path"].to_list()))
    groups = {(str(path), str(arm)): group["value"] for (path, arm), group in rows.group_by("path", "arm")}
    for path, arm in sorted(groups, key=lambda key: (order.index(key[0]), key[1])):
        yield path, arm, groups[path, arm]


def by_cell_and_arm(study: Study, metric: str) -> dict[tuple[str, str], pl.Series]:
    """Known values by (cell_id, arm) over the main cells."""
    rows = _known(study, metric)
    return {(str(cell), str(arm)): group["value"] for (cell, arm), group in rows.group_by("cell_id", "arm")}


def middle(values: pl.Series) -> float:
    """Median; 0 of nothing."""
    return float(values.cast(pl.Float64).median() or 0.0)  # type: ignore[arg-type]


def mean(values: pl.Series) -> float:
    """Arithmetic mean; 0 of nothing."""
    return float(values.cast(pl.Float64).mean() or 0.0)  # type: ignore[arg-type]


def worst(values: pl.Series) -> float:
    """Largest value; 0 of nothing."""
    return float(values.cast(pl.Float64).max() or 0.0)  # type: ignore[arg-type]


def _known(study: Study, metric: str) -> pl.DataFrame:
    values = study.metrics.filter((pl.col("name") == metric) & pl.col("value").is_finite()).unique("trial_id")
    verified = study.trials.filter((pl.col("status") == "verified") & (pl.col("kind") == "main"))
    return verified.join(values, on="trial_id", maintain_order="left")  # sums of floats hang on the order
