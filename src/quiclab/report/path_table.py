# SPDX-License-Identifier: Apache-2.0
"""Paths as they were asked for and as they were measured, in the columns of their table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from quiclab.opened import OpenedStudy
from quiclab.report.metric_values import by_path_and_arm, mean
from quiclab.report.model import StudyAnalysis
from quiclab.report.path_asked import asked
from quiclab.report.study import read_study
from quiclab.report.wording import quantity

_MEASURED = {
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
TABLE = dict.fromkeys(("network", "who", *_MEASURED, "trials"), pl.String)


def path_table(study: OpenedStudy, analysis: StudyAnalysis) -> pl.DataFrame:
    """For each path what was asked, then means over each arm's verified trials."""
    read = read_study(study.directory)
    found: dict[tuple[str, str], dict[str, str]] = {}
    for column, (metric, unit) in _MEASURED.items():
        for path, arm, values in by_path_and_arm(read, metric):
            row = found.setdefault((path, arm), {})
            row[column] = quantity(mean(values) / 1e6, "Mbit/s") if unit == "bit/s" else quantity(mean(values), unit)
            row["trials"] = str(max(values.len(), int(row.get("trials", "0"))))
    wanted = {str(item["name"]): _asked(item) for item in read.items("paths")}
    rows: list[dict[str, str]] = []
    for path in dict.fromkeys(path for path, _ in found):
        blank = dict.fromkeys(TABLE, _NOTHING)
        rows.append(blank | wanted.get(path, {}) | {"network": analysis.path_titles.get(path, path), "who": "as asked"})
        rows += [blank | row | {"network": "", "who": arm} for (where, arm), row in found.items() if where == path]
    return pl.DataFrame(rows, schema=TABLE)


def _asked(path: Mapping[str, Any]) -> dict[str, str]:
    told = asked(dict(path))
    return {
        "rate": told["path_rate_down_bit_per_s"],
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
