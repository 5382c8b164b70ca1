# SPDX-License-Identifier: Apache-2.0
"""How a video was played by each arm (Kakhki 2017, Table 6)."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _table


class VideoQuality:
    """A table: a row per cell and arm, a column per metric of the player."""

    name = "video_quality"
    question = "Who starts a video sooner, stalls less, shows it better, and loads more of it?"
    tables = ("tables/trials.parquet", "metrics.parquet")
    columns = {  # noqa: RUF012 - a constant of the class
        "path_title": "network",
        "workload_title": "video",
        "arm": "a row each, the baseline first",
        "trials": "verified trials that tell the metric",
        "heading": "the metric, with its unit",
        "median": "its median",
        "low": "its smallest value",
        "high": "its largest value",
    }

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


def _cell(row: dict[str, Any]) -> str:
    middle = _number(row["median"])
    same = _number(row["low"]) == _number(row["high"])
    return middle if same else f"{middle}\n{_number(row['low'])}–{_number(row['high'])}"


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
