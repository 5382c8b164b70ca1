# SPDX-License-Identifier: Apache-2.0
"""The maps of differences on the page: what a click on a cell opens, and what the reader may have shown besides."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.compare.model import Outcome
from quiclab.model import number_text
from quiclab.report import figures
from quiclab.report.page.column_packing import packed
from quiclab.report.page.pairs import Cell


def maps(differences: pl.DataFrame, cells: list[Cell]) -> list[dict[str, Any]]:
    """Return a map for each arm that is compared with the baseline.

    Each has the pages of its cells' pairs, and the differences that it leaves blank as the test does not find them;
    never those of cells that are undecided.
    """
    if not differences.height:
        return []
    opens = {cell.cell_id: cell.pairs[0].file for cell in cells}
    drawn = []
    for _, arm in differences.filter(pl.col("kind") == "main").group_by("other_arm", maintain_order=True):
        spec = packed(figures.spec(figures.DifferenceMap().draw(arm)))
        rows, columns = (arm[name].unique(maintain_order=True) for name in ("path_title", "workload_title"))
        places = {(cell["path_title"], cell["workload_title"]): cell for cell in arm.iter_rows(named=True)}
        grid = [[places.get((row, column), {}) for column in columns] for row in rows]
        meta = {
            "opens": [[opens.get(cell.get("cell_id", "")) for cell in row] for row in grid],
            "unfound": [[_unfound(cell) for cell in row] for row in grid],
            "texts": [[number_text.percent(_unfound(cell)) for cell in row] for row in grid],
        }
        for trace in spec["data"]:
            trace["meta"] = meta
        drawn.append(spec)
    return drawn


def _unfound(cell: dict[str, Any]) -> float | None:
    difference: float | None = cell.get("difference_pct")
    return difference if cell.get("outcome") == Outcome.NOT_SIGNIFICANT.value else None
