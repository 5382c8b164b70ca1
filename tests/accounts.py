# SPDX-License-Identifier: Apache-2.0
"""The account of a real trial as its study keeps it, held against the metric to which it must add up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl


def account_of(study: Path, trial: dict[str, Any]) -> pl.DataFrame:
    """The table `account` of a trial, which leaves no gap and lasts as long as `ttlb_ms`."""
    edges, metrics = (
        pl.read_parquet(study / "tables" / name / f"{trial['trial_id']}.parquet") for name in ("account", "metrics")
    )
    assert edges.height, "no account"
    assert edges["from_ns"][1:].to_list() == edges["until_ns"][:-1].to_list()
    assert (edges["until_ns"] > edges["from_ns"]).all()
    total_ms = (edges["until_ns"][-1] - edges["from_ns"][0]) / 1e6
    assert total_ms == metrics.filter(name="ttlb_ms")["value"].item()
    return edges


def sums_ms(edges: pl.DataFrame, label: str) -> dict[str, float]:
    """Label → ms."""
    length = (pl.col("until_ns") - pl.col("from_ns")).sum() / 1e6
    return dict(edges.group_by(label).agg(length.alias("ms")).select(label, "ms").iter_rows())
