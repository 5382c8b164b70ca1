# SPDX-License-Identifier: Apache-2.0
"""The map of differences: networks by sizes."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quiclab.analysis.rows import differences
from quiclab.errors import SpecError
from quiclab.figures import _canvas as go
from quiclab.figures import _style
from quiclab.figures._api import Figure, Where
from quiclab.figures._asked import Asked


class DifferenceMap(Figure):
    """Map of the better arm in each cell, and by how much. Blank where the deciding test says nothing."""

    name = "differences"
    question = "Over which network and for which size is which arm faster, and by how much?"
    where = Where.PAGE
    tables = ("tables/trials.parquet", "metrics.parquet")
    columns: ClassVar = {
        "path_title": "network, the rows from top to bottom",
        "workload_title": "size, the columns from left to right",
        "baseline_arm": "arm that the difference is relative to",
        "other_arm": "the arm that is compared: one of them per figure",
        "difference_pct": "(median baseline − median other) / median baseline × 100",
        "significant": "whether the cell is coloured and shows its number",
        "cell_text": "what stands in the cell; empty where not significant",
        "details": "all numbers of the cell, a line each, for hovering",
        "faster": "the word for better: 'faster' or 'better'",
        "alpha": "level of the deciding test after correction",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return the rows of one arm against the baseline: the arm that is asked for, else the first."""
        rows = differences(asked.analysis).filter(kind="main")
        arms = rows["other_arm"].unique(maintain_order=True).to_list() if rows.height else []
        if asked.other is not None and asked.other not in arms:
            told = f"there are {', '.join(arms) or 'none'}"
            raise SpecError(f"no arm {asked.other!r} is compared with the baseline", told)
        return rows.filter(other_arm=asked.other or arms[0]) if arms else rows

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per cell."""
        rows = data["path_title"].unique(maintain_order=True).to_list()
        columns = data["workload_title"].unique(maintain_order=True).to_list()
        cells = {(cell["path_title"], cell["workload_title"]): cell for cell in data.iter_rows(named=True)}

        def grid(value: Any) -> list[list[Any]]:
            return [
                [value(cells[row, column]) if (row, column) in cells else None for column in columns] for row in rows
            ]

        def place(z: list[list[Any]], labels: list[list[Any]], **more: Any) -> go.Node:
            axes = {"x": [_style.text(c) for c in columns], "y": [_style.text(r) for r in rows]}
            gaps = {"xgap": 3, "ygap": 3, "showscale": False}
            return go.Heatmap(z=z, text=labels, texttemplate="%{text}", **axes, **gaps, **more)

        shown = [abs(cell["difference_pct"] or 0) for cell in cells.values() if cell["significant"]]
        reach = min(100.0, max(10.0, *shown, 0.0))
        blank = grid(lambda cell: None if cell["significant"] and cell["difference_pct"] is not None else 0)
        hover: dict[str, Any] = {
            "customdata": grid(lambda cell: _style.text(cell["details"]).replace("\n", "<br>")),
            "hovertemplate": "%{customdata}<extra></extra>",
            "hoverongaps": False,
        }
        figure = go.Figure(
            [
                place(
                    blank,
                    grid(lambda cell: _style.text(cell["cell_text"])),
                    colorscale=[[0, _style.BLANK], [1, _style.BLANK]],
                    textfont={"size": 12, "color": _style.BLANK_TEXT},
                    **hover,
                ),
                place(
                    grid(lambda cell: cell["difference_pct"] if cell["significant"] else None),
                    grid(lambda cell: f"<b>{_style.text(cell['cell_text'])}</b>" if cell["significant"] else ""),
                    colorscale=_style.DIFFERENCE_SCALE,
                    textfont={"size": 13},
                    zmid=0,
                    zmin=-reach,
                    zmax=reach,
                    **hover,
                ),
            ]
        )
        figure.update_layout(_style.titled(60 + 58 * len(rows), self._convention(data)))
        figure.update_layout(margin={"t": figure.layout.margin.t + 24})  # the names of the columns
        figure.update_xaxes(
            type="category",
            side="top",
            tickfont={"size": 13},
            showgrid=False,
            ticks="",
            zeroline=False,
            fixedrange=True,
            automargin=True,
        )
        figure.update_yaxes(
            type="category",
            autorange="reversed",
            tickfont={"size": 13},
            showgrid=False,
            ticks="",
            zeroline=False,
            fixedrange=True,
            automargin=True,
        )
        return figure

    @staticmethod
    def _convention(data: pl.DataFrame) -> list[str]:
        """The sign convention, on the figure itself so that it stays with a copy of it."""
        baseline, other, word = (_style.text(data[column][0]) for column in ("baseline_arm", "other_arm", "faster"))
        return [
            f"<b>+, red: {other} is {word}</b>",
            f"<b>−, blue: {baseline} is {word}</b>",
            f"blank: not significant at {data['alpha'][0]:g}",
        ]
