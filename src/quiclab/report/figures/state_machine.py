# SPDX-License-Identifier: Apache-2.0
"""Congestion control as a state machine: shares of time and probabilities of transitions (Kakhki 2017, Figure 13)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import polars as pl

from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _state_spans, _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked

_ORDER = (
    "init", "slow_start", "conservative_slow_start", "startup", "drain", "congestion_avoidance", "probe_bw",
    "probe_rtt", "maximum_window", "application_limited", "flow_limited", "recovery", "timeout",
    "persistent_congestion",
)  # fmt: skip
"""States stand around a circle, from the top clockwise, in this order."""
_HEIGHT_PX = 370
_LEAST_PX = 330
"""Least width of a panel, in which the names of its states stand beside each other."""
_RADIUS, _NODE = 1.0, 0.17
_LABEL = 0.36
"""Position of an arrow's number on its way: not in the middle, where most arrows cross."""
_BEND = 0.055
"""The two ways between two states lie side by side."""

_SCHEMA = {
    **dict.fromkeys(("arm", "state", "next"), pl.String),
    **dict.fromkeys(("share_pct", "probability_pct", "missed_ms"), pl.Float64),
    **dict.fromkeys(("visits", "trials"), pl.Int64),
}


class StateMachine(Figure):
    """A panel per arm. Each state's disc grows with its share of time; arrows carry the probability of what follows."""

    name = "state_machine"
    question = "How does each sender's congestion control move between its states, and where does it stay?"
    where = Where.PAIR
    tables = ("tables/cc_states/*.parquet", "tables/tcp_info/*.parquet", "tables/transport_metrics/*.parquet")
    columns: ClassVar = {
        "arm": "a panel each, the baseline first",
        "state": "state of the congestion control",
        "share_pct": "share of the transfers' time in it, %",
        "visits": "how often it was entered",
        "next": "a state that followed; null where the transfer ended",
        "probability_pct": "in how many of the times that the state was left it was followed by this one, %",
        "trials": "number of trials that tell of their states",
        "missed_ms": "interval of the samples: shorter states are missed; null where a log tells of every change",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """One row per arm, state and state that followed it; `next` is null where none did."""
        rows: list[dict[str, object]] = []
        for arm, told in _state_spans.told_by_arm(asked).items():
            follows = _state_spans.follows(told)
            for state, about in _state_spans.about(told).items():
                after: list[tuple[str | None, float | None]] = [*follows[state]] or [(None, None)]
                rows += [{"arm": arm, **about, "next": name, "probability_pct": share} for name, share in after]
        return pl.DataFrame(rows, schema=_SCHEMA)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per arm, state and state that followed."""
        arms = data["arm"].unique(maintain_order=True).to_list()
        across = min(2, len(arms))
        down = -(-len(arms) // across)
        titles = [
            _title(_style.arm_name(arm, style), data.filter(pl.col("arm") == arm)) for arm, style in _style.arms(data)
        ]
        figure = go.panels(titles, across=across, gap_across=0.02, gap_down=0.16 / down)
        for place, (arm, style) in enumerate(_style.arms(data)):
            _panel(figure, place, data.filter(pl.col("arm") == arm), style.colour)
        figure.update_layout(_style.base_layout(40 + _HEIGHT_PX * down))
        figure.update_layout(margin={"t": 44}, meta={"least_px": _LEAST_PX * across})
        hidden = {"visible": False, "fixedrange": True}
        figure.update_xaxes(range=[-1.75, 1.75], **hidden)
        figure.update_yaxes(range=[-1.35, 1.35], **hidden)
        return figure


def _title(name: str, rows: pl.DataFrame) -> str:
    trials, missed = rows.row(0, named=True)["trials"], rows["missed_ms"][0]
    notes = [f"{trials} trials"] if trials > 1 else []
    notes += [] if missed is None else [f"sampled: states under {missed:.3g} ms are missed"]
    note = f"<br><span style='font-size:11px'>{'; '.join(notes)}</span>" if notes else ""
    return name + note


def _panel(figure: go.Figure, place: int, rows: pl.DataFrame, colour: str) -> None:
    axis = go.axis_number(place)
    nodes = rows.unique("state", maintain_order=True)
    names = sorted(nodes["state"], key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))
    turn = 2 * math.pi / max(1, len(names))
    at = {name: (_RADIUS * math.sin(turn * i), _RADIUS * math.cos(turn * i)) for i, name in enumerate(names)}
    for row in rows.filter(pl.col("next").is_not_null()).iter_rows(named=True):
        _arrow(figure, axis, at[row["state"]], at[row["next"]], row["probability_pct"])
    shares = dict(nodes.select("state", "share_pct").rows())
    visits = dict(nodes.select("state", "visits").rows())
    figure.add_scatter(
        x=[at[name][0] for name in names],
        y=[at[name][1] for name in names],
        mode="markers+text",
        marker={
            "size": [26 + 5 * math.sqrt(shares[name]) / 2 for name in names],
            "color": colour,
            "opacity": 1,
            "line": {"width": 0},
        },
        text=[f"<b>{shares[name]:.0f} %</b>" for name in names],
        textfont={"size": 11, "color": "white"},
        customdata=[(_style.text(name), visits[name]) for name in names],
        hovertemplate="%{customdata[0]}: %{text} of the time, entered %{customdata[1]} times<extra></extra>",
        showlegend=False,
        **go.in_panel(place),
    )
    for name in names:
        x, y = at[name]
        figure.add_annotation(
            x=x, y=y, xref=f"x{axis}", yref=f"y{axis}", showarrow=False, text=_style.text(name.replace("_", " ")),
            font={"size": 11}, yshift=34 if y >= -0.01 else -34,
        )  # fmt: skip


def _arrow(
    figure: go.Figure, axis: str, begin: tuple[float, float], end: tuple[float, float], probability_pct: float
) -> None:
    across, up = end[0] - begin[0], end[1] - begin[1]
    length = math.hypot(across, up) or 1.0
    one = (across / length, up / length)
    aside = (-one[1] * _BEND, one[0] * _BEND)
    tail = (begin[0] + one[0] * _NODE + aside[0], begin[1] + one[1] * _NODE + aside[1])
    head = (end[0] - one[0] * _NODE + aside[0], end[1] - one[1] * _NODE + aside[1])
    refs = {"xref": f"x{axis}", "yref": f"y{axis}"}
    figure.add_annotation(
        x=head[0], y=head[1], ax=tail[0], ay=tail[1], axref=refs["xref"], ayref=refs["yref"], **refs, text="",
        showarrow=True, arrowhead=2, arrowsize=1, arrowwidth=1 + probability_pct / 60, arrowcolor=_style.BLANK_TEXT,
    )  # fmt: skip
    x, y = (tail[i] + (head[i] - tail[i]) * _LABEL + 1.7 * aside[i] for i in (0, 1))
    figure.add_annotation(
        x=x, y=y, **refs,
        text=f"{probability_pct:.0f}", showarrow=False, font={"size": 10},
    )  # fmt: skip
