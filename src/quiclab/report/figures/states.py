# SPDX-License-Identifier: Apache-2.0
"""Congestion control's states: the share of time in each, and what follows it (Kakhki 2017, Figure 13)."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _state_spans, _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked

_SCHEMA = {
    **dict.fromkeys(("arm", "state", "next"), pl.String),
    "share_pct": pl.Float64,
    "visits": pl.Int64,
    "trials": pl.Int64,
    "sampled": pl.Boolean,
    "missed_ms": pl.Float64,
}


class States(Figure):
    """Bars of the share of time per state and arm; hovering tells where the state leads to, with which probability."""

    name = "states"
    question = "In which states does each sender's congestion control spend its time, and what leads where?"
    where = Where.PAIR
    tables = ("tables/cc_states/*.parquet", "tables/tcp_info/*.parquet", "tables/transport_metrics/*.parquet")
    columns: ClassVar = {
        "arm": "a colour each, the baseline first",
        "state": "state of the congestion control",
        "share_pct": "share of the transfers' time in that state, %",
        "visits": "how often it was entered",
        "next": "where it leads: `recovery 60 %, slow_start 40 %`",
        "trials": "number of trials that tell of their states",
        "sampled": "whether states shorter than the sampling interval were missed",
        "missed_ms": "that interval; null where a log tells of every change",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return one row per arm and state, up to each transfer's end."""
        rows: list[dict[str, object]] = []
        for arm, told in _state_spans.told_by_arm(asked).items():
            follows = _state_spans.follows(told)
            for state, about in _state_spans.about(told).items():
                after = ", ".join(f"{name} {share:.0f} %" for name, share in follows[state]) or "nothing"
                rows.append({"arm": arm, **about, "next": after, "sampled": about["missed_ms"] is not None})
        return pl.DataFrame(rows, schema=_SCHEMA)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per arm and state."""
        figure = go.Figure()
        for arm, style in _style.arms(data):
            states = data.filter(pl.col("arm") == arm)
            trials = states["trials"][0]
            of = f", {trials} trials" if trials > 1 else ""
            label = _style.text(arm) + of + _missed(states["missed_ms"].max())
            figure.add_bar(
                y=[_style.text(state) for state in states["state"]],
                x=states["share_pct"].to_list(),
                orientation="h",
                name=label,
                marker=_style.bar(style),
                text=[f"{share:.0f} %" for share in states["share_pct"]],
                customdata=[(row["visits"], _style.text(row["next"])) for row in states.iter_rows(named=True)],
                hovertemplate="%{x:.1f} % of the time, entered %{customdata[0]} times<br>then %{customdata[1]}"
                f"<extra>{label}</extra>",
            )
        rows = data["state"].n_unique()
        figure.update_layout(
            _style.with_legend(120 + rows * (16 + 18 * data["arm"].n_unique())),
            barmode="group",
        )
        figure.update_xaxes(title={"text": "share of the transfers' time, %"}, rangemode="tozero", automargin=True)
        figure.update_yaxes(automargin=True, autorange="reversed", type="category")
        return figure


def _missed(interval_ms: Any) -> str:
    return "" if interval_ms is None else f" (states under {interval_ms:.3g} ms are missed)"
