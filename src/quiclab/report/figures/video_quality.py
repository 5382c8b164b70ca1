# SPDX-License-Identifier: Apache-2.0
"""Playback of a video by each arm (Kakhki 2017, Table 6)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import polars as pl

from quiclab.compare.metric_values import by_cell_and_arm
from quiclab.model.tables import Row
from quiclab.report.figures import _table
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked

_SCHEMA = {
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


class VideoQuality(Figure):
    """A table: a row per cell and arm, a column per metric of the player."""

    name = "video_quality"
    question = "Which arm starts a video sooner, stalls less, shows it better, and loads more of it?"
    where = Where.STUDY
    tables = ("tables/trials.parquet", "metrics.parquet")
    columns: ClassVar = {
        "path_title": "network",
        "workload_title": "video",
        "arm": "a row each, the baseline first",
        "trials": "verified trials that tell the metric",
        "heading": "the metric, with its unit",
        "median": "its median",
        "low": "its smallest value",
        "high": "its largest value",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """One row per cell, arm and metric that any verified trial tells."""
        told = {name: by_cell_and_arm(asked.files, name) for name in _SHOWN}
        cells = {
            cell_id: (cell.place.path, cell.place.workload, [each.arm for each in cell.arms])
            for cell_id, cell in asked.analysis.cells().items()
            if asked.analysis.comparisons
        }
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
                            "path_title": asked.analysis.path_titles.get(path, path),
                            "workload_title": asked.analysis.workload_titles.get(workload, workload),
                            "arm": arm,
                            "heading": heading,
                            "trials": scaled.len(),
                            "median": scaled.median(),
                            "low": scaled.min(),
                            "high": scaled.max(),
                        }
                    )
        return pl.DataFrame(rows, schema=_SCHEMA)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per cell, arm and metric."""
        headings = data["heading"].unique(maintain_order=True).to_list()
        rows: list[list[str]] = []
        place = ""
        for (path, workload, arm), group in data.group_by("path_title", "workload_title", "arm", maintain_order=True):
            told = {row["heading"]: row for row in group.iter_rows(named=True)}
            here = f"{workload}\n{path}"
            cells = [_cell(told[heading]) if heading in told else "–" for heading in headings]
            rows.append([here if here != place else "", str(arm), str(group["trials"].max()), *cells])
            place = here
        note = "Median over the verified trials, below it the smallest and the largest value"
        return _table.draw(["video, network", "arm", "trials", *headings], rows, words=2, note=note)


def _cell(row: Row) -> str:
    middle = _number(row["median"])
    same = _number(row["low"]) == _number(row["high"])
    return middle if same else f"{middle}\n{_number(row['low'])}–{_number(row['high'])}"


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
