# SPDX-License-Identifier: Apache-2.0
"""How videos were played: the metrics of the player by cell and arm."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import polars as pl

from quiclab.analysis.metric_values import by_cell_and_arm
from quiclab.analysis.model import StudyAnalysis
from quiclab.analysis.study import Study

VIDEO_QUALITY = {
    **dict.fromkeys(("path_title", "workload_title", "arm", "heading"), pl.String),
    "trials": pl.Int64,
    **dict.fromkeys(("median", "low", "high"), pl.Float64),
}
_SHOWN: Mapping[str, tuple[str, float]] = MappingProxyType(
    {
        "startup_ms": ("start-up, ms", 1.0),
        "stalls": ("stalls", 1.0),
        "stall_ms": ("time stalled, ms", 1.0),
        "mean_quality_bit_per_s": ("mean quality, Mbit/s", 1e-6),
        "quality_switches": ("switches", 1.0),
        "fraction_loaded_pct": ("loaded, % of the video", 1.0),
    }
)
"""Metric → heading, and the factor to the heading's unit."""


def video_quality(study: Study, analysis: StudyAnalysis) -> pl.DataFrame:
    """One row per cell, arm and metric that any verified trial tells."""
    told = {name: by_cell_and_arm(study, name) for name in _SHOWN}
    cells: dict[str, tuple[str, str, list[str]]] = {}
    for c in analysis.comparisons:
        arms = cells.setdefault(c.cell_id, (c.path, c.workload, [c.baseline.arm]))[2]
        arms.append(c.other.arm)
    rows: list[dict[str, object]] = []
    for cell_id, (path, workload, arms) in cells.items():
        for arm in arms:
            for name, (heading, factor) in _SHOWN.items():
                values = told[name].get((cell_id, arm))
                if values is None:
                    continue
                scaled = values.cast(pl.Float64) * factor
                rows.append(
                    {
                        "path_title": analysis.path_titles.get(path, path),
                        "workload_title": analysis.workload_titles.get(workload, workload),
                        "arm": arm,
                        "heading": heading,
                        "trials": scaled.len(),
                        "median": scaled.median(),
                        "low": scaled.min(),
                        "high": scaled.max(),
                    }
                )
    return pl.DataFrame(rows, schema=VIDEO_QUALITY)
