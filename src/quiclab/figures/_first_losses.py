# SPDX-License-Identifier: Apache-2.0
"""Where in its stream each trial first had to send data again."""

from __future__ import annotations

import polars as pl

from quiclab.opened import OpenedStudy

_METRICS = (("offset_bytes", "first_retransmission_offset_bytes"), ("again_bytes", "retransmitted_bytes"))


def first_loss(study: OpenedStudy, trials: pl.DataFrame) -> pl.DataFrame:
    """`trials` (rows of distributions) that have a value, with `offset_bytes`: null where nothing was sent again."""
    if "metrics" not in study.tables:
        return trials.clear().with_columns(offset_bytes=pl.lit(None, pl.Float64))
    found = trials.filter(pl.col("value").is_not_null())
    metrics = study.metrics
    for column, name in _METRICS:
        known = metrics.filter(pl.col("name") == name).select("trial_id", pl.col("value").fill_nan(None).alias(column))
        found = found.join(known, "trial_id", "left", maintain_order="left")
    # A trial of which nothing tells what was sent again is not one in which nothing was.
    return found.filter(pl.col("offset_bytes").is_not_null() | (pl.col("again_bytes") == 0)).drop("again_bytes")
