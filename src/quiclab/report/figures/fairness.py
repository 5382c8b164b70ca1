# SPDX-License-Identifier: Apache-2.0
"""Shares of the flows at one bottleneck over time, and how even they are."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quiclab.evidence.metrics.competition import jain_index
from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked

_PANEL_PX, _GAP_PX, _NAME_PX, _JAIN_PX = 170, 36, 22, 140
_MEASURED = "measured"

_SCHEMA = {
    **dict.fromkeys(("arm", "flow"), pl.String),
    "background": pl.Boolean,
    **dict.fromkeys(("x_ms", "mbit_per_s", "jain"), pl.Float64),
}
_STEP_MS = 100.0
_WINDOW = 10
"""Steps that Jain's index looks back, as the metric `converge_ms` does: in one step there are few packets."""


class Fairness(Figure):
    """A panel of throughputs per arm's trial, then Jain's index of all trials in one."""

    name = "fairness"
    question = "Which flow takes bandwidth from which, and do they come to share the link evenly?"
    where = Where.PAIR
    tables = ("tables/flow_throughput/*.parquet", "tables/flows/*.parquet")
    columns: ClassVar = {
        "arm": "arm of the measured flow: a panel each, the baseline first",
        "flow": "`measured`, or the label of another flow",
        "background": "whether it is background traffic, which Jain's index leaves out",
        "x_ms": "end of a step of 100 ms, since the competition began, ms",
        "mbit_per_s": "IP packets of the flow that arrived at the client's end in that step, Mbit/s",
        "jain": "Jain's index of the downloads over the second before; only on rows of `measured`, once all run",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Throughput of every flow in steps of 100 ms; on the measured flow's rows Jain's index of all downloads."""
        parts = [pl.DataFrame(schema=_SCHEMA)]
        for arm, trial_id in asked.chosen().trials.items():
            steps = asked.study.trial_table("flow_throughput", trial_id)
            flows = asked.study.trial_table("flows", trial_id)
            if steps is None or flows is None or not steps.height:
                continue
            downloads = flows.filter(pl.col("background").is_null())
            rows = steps.with_columns(
                pl.lit(arm).alias("arm"),
                (~pl.col("flow").is_in(downloads["flow"].to_list())).alias("background"),
                pl.col("time_ms").alias("x_ms"),
                (pl.col("bytes").cast(pl.Float64) * 8 / (_STEP_MS * 1e3)).alias("mbit_per_s"),
            )
            rows = rows.join(_index(steps, downloads), on=("flow", "time_ms"), how="left", maintain_order="left")
            parts.append(rows.select(pl.col(name).cast(kind) for name, kind in _SCHEMA.items()))
        return pl.concat(parts)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per trial, flow and step."""
        figure = go.Figure()
        arms = data["arm"].unique(maintain_order=True).to_list()
        flows = sorted(data["flow"].unique().to_list(), key=lambda flow: (flow == _MEASURED, flow))
        height = len(arms) * (_PANEL_PX + _GAP_PX) + _JAIN_PX + _NAME_PX
        names: list[dict[str, object]] = []
        named: set[str] = set()
        axes: dict[str, object] = {}
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
        for panel, (arm, own) in enumerate(_style.arms(data)):
            of_arm = data.filter(pl.col("arm") == arm)
            label = _style.text(arm)
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


def _index(steps: pl.DataFrame, downloads: pl.DataFrame) -> pl.DataFrame:
    """Jain's index over the second before, from a second after the last download began."""
    schema = {"flow": pl.String, "time_ms": pl.Float64, "jain": pl.Float64}
    last_ms = downloads["started_ms"].max()
    if downloads.height < 2 or not isinstance(last_ms, float):
        return pl.DataFrame(schema=schema)
    whole = steps.filter(pl.col("flow").is_in(downloads["flow"].to_list()) & (pl.col("time_ms") - _STEP_MS >= last_ms))
    by_flow = whole.sort("time_ms").group_by("flow", maintain_order=True).agg("time_ms", "bytes")
    times: list[float] = by_flow["time_ms"][0].to_list() if by_flow.height else []
    got: list[list[int]] = by_flow["bytes"].to_list()
    rows = [
        (_MEASURED, times[end - 1], jain_index([float(sum(each[end - _WINDOW : end])) for each in got]))
        for end in range(_WINDOW, len(times) + 1)
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")
