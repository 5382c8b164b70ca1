# SPDX-License-Identifier: Apache-2.0
"""Figure of β at every site: the share of the baseline's time that each arm saves (Qin et al. 2023, Figure 2).

There β is of medians; here it is the difference within pairs of every other table, of which an interval is known."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quiclab.compare.model import Conclusion
from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked

_PANEL_PX, _GAP_PX, _NAME_PX = 190, 40, 22

_SCHEMA = {
    **dict.fromkeys(("path_title", "workload_title", "arm", "baseline_arm", "metric_title", "conclusion"), pl.String),
    **dict.fromkeys(("beta_pct", "alpha", "matters_pct"), pl.Float64),
    "significant": pl.Boolean,
}


class Improvement(Figure):
    """A panel per network, a mark per site and arm; full where a difference was found that matters."""

    name = "improvement"
    question = "On which sites does each stack improve on the baseline, by how much, and where does the network matter?"
    where = Where.STUDY
    tables = ("tables/trials.parquet", "metrics.parquet")
    columns: ClassVar = {
        "path_title": "network: a panel each",
        "workload_title": "site: the x axis",
        "baseline_arm": "the benchmark of the arm, at 0",
        "arm": "a mark each",
        "beta_pct": "β: per cent of the benchmark's time that is saved in the typical pair; null by failures",
        "significant": "whether the deciding test finds a difference",
        "conclusion": "what it amounts to beside what matters: a full mark where it is different",
        "matters_pct": "smallest difference that matters, in %",
        "metric_title": "what the metric is called",
        "alpha": "level of the deciding test after correction",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return β of every arm but the baseline, in every cell."""
        saved = -1.0 if asked.analysis.metric.lower_is_better else 1.0
        rows = [
            {
                "path_title": asked.analysis.path_titles.get(c.path, c.path),
                "workload_title": asked.analysis.workload_titles.get(c.workload, c.workload),
                "arm": c.other.arm,
                "baseline_arm": c.baseline.arm,
                "beta_pct": None if c.difference_pct is None else saved * c.difference_pct,
                "significant": c.outcome.significant,
                "conclusion": c.conclusion.value,
                "matters_pct": asked.analysis.matters_pct,
                "metric_title": asked.analysis.metric.title,
                "alpha": asked.analysis.alpha,
            }
            for c in asked.analysis.comparisons
        ]
        return pl.DataFrame(rows, schema=_SCHEMA)

    def is_worth_showing(self, asked: Asked, data: pl.DataFrame) -> bool:
        """Return whether several sites were loaded: of other studies the map of differences tells the same."""
        sites = asked.analysis.metric.name in ("plt_ms", "speed_index_ms") and len(asked.analysis.workloads) > 1
        return bool(data.height) and sites

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per network, site and arm."""
        figure = go.Figure()
        paths = data["path_title"].unique(maintain_order=True).to_list()
        sites = [_style.text(site) for site in data["workload_title"].unique(maintain_order=True).to_list()]
        height = len(paths) * (_PANEL_PX + _GAP_PX) - _GAP_PX + _NAME_PX
        names: list[dict[str, object]] = []
        for panel, path in enumerate(paths):
            axis = "" if panel == 0 else str(panel + 1)
            top = 1 - (panel * (_PANEL_PX + _GAP_PX) + _NAME_PX) / height
            names.append(
                {"text": f"<b>{_style.text(path)}</b>", "x": 0, "xref": "paper", "xanchor": "left", "y": top,
                 "yref": "paper", "yanchor": "bottom", "showarrow": False}
            )  # fmt: skip
            bottom = max(0.0, top - _PANEL_PX / height)
            title = {"text": "β, %"}
            figure.update_layout(
                {
                    f"yaxis{axis}": {
                        "domain": [bottom, top],
                        "title": title,
                        "zeroline": True,
                        "rangemode": "tozero",
                        "zerolinewidth": 3,
                        "automargin": True,
                    }
                }
            )
            for arm, style in _style.arms(data, 1):
                label = _style.text(arm)
                marks = data.filter((pl.col("arm") == arm) & (pl.col("path_title") == path))
                figure.add_scatter(
                    x=[_style.text(site) for site in marks["workload_title"]],
                    y=marks["beta_pct"].to_list(),
                    yaxis=f"y{axis}",
                    name=label,
                    legendgroup=label,
                    showlegend=panel == 0,
                    mode="markers",
                    marker={
                        "color": style.colour, "size": 9, "line": {"width": 1.5, "color": style.colour},
                        "symbol": [
                            style.marker + ("" if said == Conclusion.DIFFERENT.value else "-open")
                            for said in marks["conclusion"]
                        ],
                    },
                    hovertemplate="%{x}: β = %{y:+.1f} %<extra>" + label + "</extra>",
                )  # fmt: skip
        figure.update_layout(_style.with_legend(height + 130))
        figure.update_layout(annotations=names, hovermode="closest")
        baselines = data["baseline_arm"].unique(maintain_order=True).to_list()
        against = _style.text(baselines[0]) if len(baselines) == 1 else "each arm's baseline"
        told = f"{_style.text(data['metric_title'][0])} against {against}"
        told += f"; full: different, by {data['matters_pct'][0]:g} % or more"
        figure.update_xaxes(
            title={"text": told}, automargin=True, type="category",
            categoryorder="array", categoryarray=sites, anchor="free", position=0,
        )  # fmt: skip
        return figure
