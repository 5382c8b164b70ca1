# SPDX-License-Identifier: Apache-2.0
"""Any metric against one factor of the study: a line per arm, with intervals, while all else is held fixed. Along a
program, which has no order, an arm has marks without a line."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, ClassVar

import polars as pl

from quiclab.compare.factors import factor
from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked

_PANEL_PX, _GAP_PX, _FOOT_PX, _LINE_PX, _ARM_PX = 210, 76, 64, 15, 9
_TITLE, _NOTE = 22, 52
"""Characters of a line: half of a phone's width, and all of it."""
_DECADE = 10.0


class Factor(Figure):
    """Medians with their intervals: a panel for each combination of what else varies, all with the same axes. An axis
    is logarithmic where it spans a decade."""

    name = "factor"
    question = (
        "How does the metric grow with one factor, such as size, rate, delay or loss, and where do the arms part?"
    )
    where = Where.FACTOR
    tables = ("resolved.json", "tables/trials.parquet", "metrics.parquet")
    columns: ClassVar = {
        "panel": "what is held fixed: a panel each; empty where nothing else varies",
        "arm": "a line each, the baseline first; of a program, arms that differ in it alone, by what their names share",
        "x": "the factor: a number, or the name of a program",
        "x_title": "what the factor is, with its unit",
        "median": "median of the metric; null where failed trials leave none",
        "low": "lower end of the median's interval; null where there is none",
        "high": "upper end; null where there is none, or where failed trials leave it open",
        "metric_title": "what the metric is called",
        "unit": "its unit",
        "left_out": "cells that have no place on the axis, and why; the same in every row",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return the metric's median of every cell and arm along one factor. Raises SpecError where none is meant."""
        return factor(asked.files, asked.analysis, asked.factor)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per panel, arm and value of the factor."""
        data, alone = _without_single_points(data)
        panels = data["panel"].unique(maintain_order=True).to_list()
        across = min(2, len(panels))
        down = -(-len(panels) // across)
        height = down * _PANEL_PX + (down - 1) * _GAP_PX
        titles = [_style.text(_wrapped(panel, _TITLE * 2 // across)).replace("\n", "<br>") for panel in panels]
        figure = go.panels(titles, across=across, gap_across=0.03, gap_down=_GAP_PX / height)
        arms = data["arm"].unique(maintain_order=True).to_list()
        # A legend of many arms takes several lines.
        figure.update_layout(_style.with_legend(height + _GAP_PX + _FOOT_PX + _ARM_PX * len(arms)))
        for text in figure.layout.annotations:
            text.merge({"font": {"size": 11.5}})
        figure.update_layout(legend={"y": 1 + 44 / height})
        programs = _programs(data)
        if programs:
            data = data.with_columns(pl.col("arm").cast(pl.String), _places(data, programs))
        for arm, style in _style.arms(data):
            lines = data.filter(pl.col("arm") == arm).group_by("panel", maintain_order=True)
            for nth, ((panel,), points) in enumerate(lines):
                place = panels.index(panel)
                self._line(figure, place, style, points.sort("x"), legend=nth == 0, programs=programs)
        self._axes(figure, data, across, len(panels), programs)
        notes = textwrap.wrap(". ".join(filter(None, (data["left_out"][0], _gaps(data), alone))), _NOTE)
        if notes:
            figure.add_annotation(
                text="<br>".join(map(_style.text, notes)), x=0, y=0, xref="paper", yref="paper", xanchor="left",
                yanchor="top", yshift=-_FOOT_PX + 12, align="left", showarrow=False, font={"size": 11},
            )  # fmt: skip
            room = _LINE_PX * len(notes)
            figure.update_layout(height=figure.layout.height + room, margin={"b": _FOOT_PX + room})
        return figure

    @staticmethod
    def _line(
        figure: go.Figure, place: int, style: _style.ArmStyle, points: pl.DataFrame, *, legend: bool,
        programs: Sequence[str],
    ) -> None:  # fmt: skip
        label, at = _style.text(points["arm"][0]), "%{text}" if programs else "%{x:.5g}"
        spread = [(row["high"], row["low"], row["median"]) for row in points.iter_rows(named=True)]
        figure.add_scatter(
            x=points["x"].to_list(),
            y=points["median"].to_list(),
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [high - middle if None not in (high, middle) else 0 for high, _, middle in spread],
                "arrayminus": [middle - low if None not in (low, middle) else 0 for _, low, middle in spread],
                "thickness": 1.5,
                "width": 3,
            },
            name=label,
            legendgroup=label,
            showlegend=legend,
            mode="markers" if programs else "lines+markers",
            line={"color": style.colour, "dash": style.dash, "width": 1.8},
            marker={"symbol": style.marker, "size": 7, "color": style.colour},
            hovertemplate=f"{at}: %{{y:.5g}} {_style.text(points['unit'][0])}<extra>{label}</extra>",
            **({"text": [_style.text(programs[round(x)]) for x in points["x"]]} if programs else {}),
            **go.in_panel(place),
        )

    @staticmethod
    def _axes(figure: go.Figure, data: pl.DataFrame, across: int, panels: int, programs: Sequence[str]) -> None:
        shared = {"automargin": True, "zeroline": False}
        figure.update_xaxes(**(_names(programs) if programs else _scale(data["x"])), **shared)
        values = _scale(data["median"], data["low"], data["high"])
        if programs and "range" not in values:
            values |= {"autorange": True}  # plotly takes none for axes that match beside others with a range
        figure.update_yaxes(**values, **shared)
        metric = f"{_style.text(data['metric_title'][0])}, {_style.text(data['unit'][0])}".removesuffix(", ")
        for place in range(panels):
            number = go.axis_number(place)
            if place:
                figure.update_layout({f"{axis}axis{number}": {"matches": axis} for axis in "xy"})
            if place >= panels - across:
                title = {"text": _style.text(data["x_title"][0]), "font": {"size": 12}}
                figure.update_layout({f"xaxis{number}": {"title": title}})
            left = {"title": {"text": metric, "font": {"size": 12}}}
            figure.update_layout({f"yaxis{number}": {"showticklabels": False} if place % across else left})


def _programs(data: pl.DataFrame) -> list[str]:
    """Programs that are the x axis, in the order of the spec; none of a numeric factor."""
    return data["x"].unique(maintain_order=True).to_list() if data.schema["x"] == pl.String else []


def _places(data: pl.DataFrame, programs: Sequence[str]) -> pl.Expr:
    """Places on the axis: that of the program, each arm a little beside the one before."""
    arms = data["arm"].cast(pl.String).unique(maintain_order=True).to_list()
    apart = {arm: (number - (len(arms) - 1) / 2) * min(0.12, 0.6 / len(arms)) for number, arm in enumerate(arms)}
    of_program = {program: float(number) for number, program in enumerate(programs)}
    place = pl.col("x").replace_strict(of_program, return_dtype=pl.Float64)
    return place + pl.col("arm").cast(pl.String).replace_strict(apart, return_dtype=pl.Float64)


def _names(programs: Sequence[str]) -> dict[str, object]:
    """Scale of an axis of programs."""
    labels = [_style.text(program) for program in programs]
    numbers = list(range(len(programs)))
    return {"type": "linear", "tickvals": numbers, "ticktext": labels, "range": [-0.5, len(programs) - 0.5]}


def _wrapped(title: str, width: int) -> str:
    """Title broken after commas alone: `1 % loss` stays together."""
    parts = title.replace(" ", "\N{NO-BREAK SPACE}").replace(",\N{NO-BREAK SPACE}", ", ")
    return textwrap.fill(parts, width, break_long_words=False, break_on_hyphens=False)


def _gaps(data: pl.DataFrame) -> str:
    """Sentence on the marks that are missing for want of a median; empty where all are there."""
    gaps = data["median"].null_count()
    return f"no mark where half of the trials failed, or none was measured: {gaps} of {data.height}" if gaps else ""


def _without_single_points(data: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Return the panels in which something can be followed, and a sentence on those that are left out; all panels
    where each has a single value of the factor."""
    values = data.group_by("panel", maintain_order=True).agg(pl.col("x").n_unique())
    alone = values.filter(pl.col("x") < 2)["panel"].to_list()
    if not alone or len(alone) == values.height:
        return data, ""
    return data.filter(~pl.col("panel").is_in(alone)), f"not drawn, as they have a single value: {'; '.join(alone)}"


def _scale(values: pl.Series, *ends: pl.Series) -> dict[str, object]:
    """Return the scale of an axis: logarithmic where its values span a decade; `ends` are those of their intervals."""
    low, high = values.min(), values.max()
    if isinstance(low, float) and isinstance(high, float) and low > 0 and high / low >= _DECADE:
        reach = pl.concat([values, *ends]).drop_nulls()
        reach = reach.filter(reach.is_finite() & (reach > 0))
        return _style.log_axis(float(reach.min() or low), float(reach.max() or high))  # type: ignore[arg-type]
    return {"type": "linear", "nticks": 6}
