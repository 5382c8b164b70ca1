# SPDX-License-Identifier: Apache-2.0
"""What each flow at one bottleneck gets over time, and how even that is."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _canvas as go
from quiclab.figures import _style

_PANEL_PX, _GAP_PX, _NAME_PX, _JAIN_PX = 170, 36, 22, 140
_MEASURED = "measured"


class Fairness:
    """A panel of throughputs per arm's trial, then Jain's index of all trials in one."""

    name = "fairness"
    question = "Who takes the link from whom, and do the flows come to share it evenly?"
    tables = ("tables/flow_throughput/*.parquet", "tables/flows/*.parquet")
    columns = {  # noqa: RUF012 - a constant of the class
        "arm": "the measured flow's: a panel each, the baseline first",
        "flow": "`measured`, or the label of another flow",
        "background": "whether it is background traffic, which Jain's index leaves out",
        "x_ms": "end of a step of 100 ms, since the competition began, ms",
        "mbit_per_s": "IP packets of the flow that arrived at the client's end in that step, Mbit/s",
        "jain": "Jain's index of the downloads over the second before; only on rows of `measured`, once all run",
    }

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per trial, flow and step."""
        figure = go.Figure()
        arms = data["arm"].unique(maintain_order=True).to_list()
        flows = sorted(data["flow"].unique().to_list(), key=lambda flow: (flow == _MEASURED, flow))
        height = len(arms) * (_PANEL_PX + _GAP_PX) + _JAIN_PX + _NAME_PX
        names: list[dict[str, Any]] = []
        named: set[str] = set()
        axes: dict[str, Any] = {}
        for panel in range(len(arms) + 1):
            top = 1 - (panel * (_PANEL_PX + _GAP_PX) + _NAME_PX) / height
            last = panel == len(arms)
            told = "<b>Jain's index of the downloads, over the second before</b>"
            text = told if last else f"<b>{_style.text(arms[panel])}</b> beside the others"
            names.append(
                {"text": text, "x": 0, "xref": "paper", "xanchor": "left", "y": top, "yref": "paper",
                 "yanchor": "bottom", "showarrow": False}
            )  # fmt: skip
            axes[f"yaxis{panel + 1 if panel else ''}"] = {
                "domain": [0 if last else top - _PANEL_PX / height, top], "automargin": True,
                "title": {"text": "index" if last else "Mbit/s"},
                **({"range": [0, 1.05]} if last else {"rangemode": "tozero"}),
            }  # fmt: skip
        for panel, arm in enumerate(arms):
            of_arm = data.filter(pl.col("arm") == arm)
            own, label = _style.arm_style(panel), _style.text(arm)
            for flow in flows:  # the measured one last: above the others
                steps = of_arm.filter(pl.col("flow") == flow)
                if not steps.height:
                    continue
                measured, background = flow == _MEASURED, bool(steps["background"][0])
                group = label if measured else "background traffic" if background else "competitors"
                line = {"color": _style.BLANK_TEXT, "width": 1, "dash": "dot" if background else "solid"}
                figure.add_scatter(
                    x=[x / 1000 for x in steps["x_ms"]],
                    y=steps["mbit_per_s"].to_list(),
                    yaxis=f"y{panel + 1}" if panel else "y",
                    name=group,
                    legendgroup=group,
                    showlegend=not measured and group not in named,
                    mode="lines",
                    line={"color": own.colour, "width": 2.2} if measured else line,
                    hovertemplate="%{x:.1f} s: %{y:.3g} Mbit/s<extra>" + (label if measured else _style.text(flow))
                    + "</extra>",
                )  # fmt: skip
                named.add(group)
            index = of_arm.drop_nulls("jain")
            figure.add_scatter(
                x=[x / 1000 for x in index["x_ms"]],
                y=index["jain"].to_list(),
                yaxis=f"y{len(arms) + 1}",
                legendgroup=label,
                name=label,
                mode="lines",
                line={"color": own.colour, "dash": own.dash, "width": 2},
                hovertemplate="%{x:.1f} s: %{y:.3f}<extra>" + label + "</extra>",
            )
        figure.update_layout(_style.with_legend(height + 100))
        figure.update_layout(axes | {"annotations": names, "hovermode": "closest"})
        figure.update_xaxes(
            title={"text": "time since the competition began, s"}, automargin=True, rangemode="tozero",
            anchor=f"y{len(arms) + 1}",
        )  # fmt: skip
        return figure
