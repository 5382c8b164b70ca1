# SPDX-License-Identifier: Apache-2.0
"""Each arm against the best of its cell, such as client against client (Yu and Benson 2021, Figure 8)."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _canvas as go
from quiclab.figures import _style


class AgainstBest:
    """Cells by arms. The best arm is marked; empty where the deciding test sees no difference from it."""

    name = "against_best"
    question = "Which arm is the best over each network and for each size, and how far behind it are the others?"
    tables = ("tables/trials.parquet", "metrics.parquet")
    columns = {  # noqa: RUF012 - a constant of the class
        "path_title": "network",
        "workload_title": "size",
        "arm": "the columns from left to right",
        "best_arm": "the arm with the best median in this cell",
        "best": "whether it is this one",
        "behind_pct": "by how much the median is worse, in per cent of the best one; null where failures leave none",
        "significant": "whether the cell is coloured and shows its number",
        "cell_text": "what stands in the cell; empty where not significant",
        "details": "all numbers of the cell, a line each, for hovering",
        "alpha": "level of the deciding test after correction over all pairs of arms",
    }

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per network, size and arm."""
        arms = data["arm"].unique(maintain_order=True).to_list()
        places = data.select("path_title", "workload_title").unique(maintain_order=True).rows()
        cells = {(row["path_title"], row["workload_title"], row["arm"]): row for row in data.iter_rows(named=True)}

        def grid(value: Any, without: Any = None) -> list[list[Any]]:
            return [
                [value(cells[*place, arm]) if (*place, arm) in cells else without for arm in arms] for place in places
            ]

        several = len({size for _, size in places}) > 1
        names = [_style.text(f"{path}, {size}" if several else path) for path, size in places]
        axes = {"x": [_style.text(arm) for arm in arms], "y": names, "xgap": 3, "ygap": 3, "showscale": False}
        shown = [row["behind_pct"] for row in cells.values() if row["significant"] and row["behind_pct"] is not None]
        hover = {
            "customdata": grid(lambda cell: _style.text(cell["details"]).replace("\n", "<br>")),
            "hovertemplate": "%{customdata}<extra></extra>",
        }
        figure = go.Figure(
            [
                go.Heatmap(
                    z=grid(lambda cell: None if _coloured(cell) else 0),
                    text=grid(lambda cell: "" if _coloured(cell) else _style.text(cell["cell_text"]), ""),
                    texttemplate="%{text}",
                    textfont={"size": 12, "color": _style.BLANK_TEXT},
                    colorscale=[[0, _style.BLANK], [1, _style.BLANK]],
                    **axes,
                    **hover,
                ),
                go.Heatmap(
                    z=grid(lambda cell: cell["behind_pct"] if _coloured(cell) else None),
                    text=grid(lambda cell: f"<b>{_style.text(cell['cell_text'])}</b>" if _coloured(cell) else "", ""),
                    texttemplate="%{text}",
                    textfont={"size": 13},
                    colorscale=_style.BEHIND_SCALE,
                    zmin=0,
                    zmax=min(100.0, max(10.0, *shown, 0.0)),
                    **axes,
                    **hover,
                ),
            ]
        )
        title = [
            "<b>how far behind the best arm of its row</b>",
            f"blank: not significant at {data['alpha'][0]:g}, over all pairs of arms",
        ]
        figure.update_layout(_style.titled(60 + 40 * len(places), title))
        figure.update_layout(margin={"t": figure.layout.margin.t + 24})  # the names of the columns
        plain = {"type": "category", "showgrid": False, "ticks": "", "zeroline": False, "automargin": True}
        figure.update_xaxes(**plain | {"side": "top", "fixedrange": True})
        figure.update_yaxes(**plain | {"autorange": "reversed", "fixedrange": True})
        return figure


def _coloured(cell: dict[str, Any]) -> bool:
    return bool(cell["significant"]) and cell["behind_pct"] is not None and not cell["best"]
