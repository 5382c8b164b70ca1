# SPDX-License-Identifier: Apache-2.0
"""Paths as they were asked for and as they were measured, in the columns of their table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from quiclab.analysis.metric_values import by_path_and_arm, mean
from quiclab.analysis.model import StudyAnalysis
from quiclab.analysis.path_asked import asked
from quiclab.analysis.study import Study
from quiclab.wording import quantity

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
_NOTHING = "–"
TABLE = dict.fromkeys(("network", "who", *MEASURED, "trials"), pl.String)
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


def path_table(study: Study, analysis: StudyAnalysis) -> pl.DataFrame:
    """For each path what was asked, then the means of `path_data`, written with their units."""
    wanted = {str(item["name"]): _asked(item) for item in study.items("paths")}
    rows: list[dict[str, str]] = []
    blank = dict.fromkeys(TABLE, _NOTHING)
    for (path,), arms in path_data(study).group_by("path", maintain_order=True):
        title = analysis.path_titles.get(str(path), str(path))
        rows.append(blank | wanted.get(str(path), {}) | {"network": title, "who": "as asked"})
        for row in arms.iter_rows(named=True):
            told = {column: _told(row[metric], unit) for column, (metric, unit) in MEASURED.items()}
            rows.append(told | {"network": "", "who": row["arm"], "trials": str(row["trials"])})
    return pl.DataFrame(rows, schema=TABLE)


def _told(value: float | None, unit: str) -> str:
    return quantity(value / 1e6, "Mbit/s") if value is not None and unit == "bit/s" else quantity(value, unit)


def _asked(path: Mapping[str, Any]) -> dict[str, str]:
    told = asked(dict(path))
    return {
        "rate": told["path_rate_down_bit_per_s"],
        "rtt_min": told["path_rtt_min_ms"],
        "rtt": told["path_rtt_min_ms"] + " + queue",
        "reordered": _reordering(path),
        "lost_up": told["path_loss_up_pct"],
        "lost_down": told["path_loss_down_pct"],
        "trials": "",
    }


def _reordering(path: Mapping[str, Any]) -> str:
    """What the first link that reorders was told to do."""
    for link in (path, *(path.get("more_links") or ())):
        direction = link.get("down") or {}
        reorder, jitter = direction.get("reorder"), direction.get("jitter") or {}
        if reorder:
            share = reorder.get("probability_pct")
            return "yes" if share is None else quantity(float(share), "%")
        if jitter.get("mode") == "reorder":
            return "by jitter"
    return "0 %"
