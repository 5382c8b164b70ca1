# SPDX-License-Identifier: Apache-2.0
"""What each flow of single trials got over time, and how even that was."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from quiclab.metrics.competition import jain_index
from quiclab.opened import OpenedStudy

FAIRNESS = {
    **dict.fromkeys(("arm", "flow"), pl.String),
    "background": pl.Boolean,
    **dict.fromkeys(("x_ms", "mbit_per_s", "jain"), pl.Float64),
}
_STEP_MS = 100.0
_WINDOW = 10
"""Steps that Jain's index looks back, as the metric `converge_ms` does: in one step there are few packets."""
_MEASURED = "measured"


def fairness(study: OpenedStudy, trials: Mapping[str, str]) -> pl.DataFrame:
    """Throughput of every flow in steps of 100 ms; on the measured flow's rows Jain's index of all downloads."""
    parts = [pl.DataFrame(schema=FAIRNESS)]
    for arm, trial_id in trials.items():
        steps, flows = study.of_trial("flow_throughput", trial_id), study.of_trial("flows", trial_id)
        if steps is None or flows is None or not steps.height:
            continue
        downloads = flows.filter(pl.col("background").is_null())
        rows = steps.with_columns(
            pl.lit(arm).alias("arm"),
            (~pl.col("flow").is_in(downloads["flow"].to_list())).alias("background"),
            pl.col("time_ms").alias("x_ms"),
            (pl.col("bytes").cast(pl.Float64) * 8 / (_STEP_MS * 1e3)).alias("mbit_per_s"),
        )
        rows = rows.join(_index(steps, downloads), on=("flow", "time_ms"), how="left", maintain_order="left")
        parts.append(rows.select(pl.col(name).cast(kind) for name, kind in FAIRNESS.items()))
    return pl.concat(parts)


def _index(steps: pl.DataFrame, downloads: pl.DataFrame) -> pl.DataFrame:
    """Jain's index over the second before, from a second after the last download began."""
    schema = {"flow": pl.String, "time_ms": pl.Float64, "jain": pl.Float64}
    last_ms = downloads["started_ms"].max()
    if downloads.height < 2 or not isinstance(last_ms, float):
        return pl.DataFrame(schema=schema)
    whole = steps.filter(pl.col("flow").is_in(downloads["flow"].to_list()) & (pl.col("time_ms") - _STEP_MS >= last_ms))
    by_flow = whole.sort("time_ms").group_by("flow", maintain_order=True).agg("time_ms", "bytes")
    times: list[float] = by_flow["time_ms"][0].to_list() if by_flow.height else []
    got: list[list[int]] = by_flow["bytes"].to_list()
    rows = [
        (_MEASURED, times[end - 1], jain_index([float(sum(each[end - _WINDOW : end])) for each in got]))
        for end in range(_WINDOW, len(times) + 1)
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")
