# SPDX-License-Identifier: Apache-2.0
"""How the trials of every main cell spread: as boxes, which the page also draws as violins, and as shares done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from quiclab.compare.model import StudyAnalysis
from quiclab.report import figures
from quiclab.report.page.column_packing import packed


@dataclass(frozen=True)
class CellFigures:
    """Two drawings of the same trials."""

    box: dict[str, Any]
    share: dict[str, Any]


def cell_figures(analysis: StudyAnalysis, trials: pl.DataFrame, selectable: Sequence[str]) -> list[CellFigures]:
    """Return the drawings of every main cell; a click on a mark opens its place among the `selectable` cells."""
    found = []
    for cell_id in dict.fromkeys(comparison.cell_id for comparison in analysis.comparisons):
        cell = trials.filter((pl.col("cell_id") == cell_id) & (pl.col("kind") == "main"))
        if cell.height:
            cell = figures.in_order(cell, [arm.arm for c in analysis.comparisons for arm in (c.baseline, c.other)])
            place = selectable.index(cell_id) if cell_id in selectable else -1
            box, share = (_spec(each, cell, place) for each in (figures.Distribution(), figures.Cumulative()))
            found.append(CellFigures(box, share))
    return found


def _spec(figure: figures.Figure, cell: pl.DataFrame, place: int) -> dict[str, Any]:
    spec = packed(figures.spec(figure.draw(cell)))
    for trace in spec["data"]:
        trace["meta"] = {"cell": place}
    return spec
