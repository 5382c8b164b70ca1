# SPDX-License-Identifier: Apache-2.0
"""Paths as the trials of each arm measured them."""

from __future__ import annotations

import polars as pl

from quiclab.compare.metric_values import by_path_and_arm, mean
from quiclab.compare.study import Study

MEASURED = {
    "rtt_min": ("path_rtt_min_ms", "ms"),
    "rate": ("path_rate_down_bit_per_s", "bit/s"),
    "throughput": ("path_throughput_down_bit_per_s", "bit/s"),
    "rtt": ("path_rtt_mean_ms", "ms"),
    "rtt_sd": ("path_rtt_sd_ms", "ms"),
    "reordered": ("path_reordered_down_pct", "%"),
    "lost_up": ("path_loss_up_pct", "%"),
    "lost_down": ("path_loss_down_pct", "%"),
}
"""Column: the metric and its unit."""
DATA = {
    **dict.fromkeys(("path", "arm"), pl.String),
    "trials": pl.Int64,
    **{metric: pl.Float64 for metric, _ in MEASURED.values()},
}


def path_data(study: Study) -> pl.DataFrame:
    """One row per path and arm: means over its verified trials, null where none tells."""
    found: dict[tuple[str, str], dict[str, object]] = {}
    trials: dict[tuple[str, str], int] = {}
    for metric, _ in MEASURED.values():
        for path, arm, values in by_path_and_arm(study, metric):
            found.setdefault((path, arm), {"path": path, "arm": arm})[metric] = mean(values)
            trials[path, arm] = max(values.len(), trials.get((path, arm), 0))
    return pl.DataFrame([row | {"trials": trials[place]} for place, row in found.items()], schema=DATA)
