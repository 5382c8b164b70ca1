# SPDX-License-Identifier: Apache-2.0
"""Time of a transfer over the releases of one program, by their dates."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import polars as pl

from quiclab.compare.release_pairs import neighbour_steps
from quiclab.model import number_text
from quiclab.model.errors import DecodeError
from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.store.history_file import read_history

_HEIGHT_PX = 340
_STEP = 2
"""Place of the colour of steps, beside that of the releases."""
_SCHEMA = {
    "release": pl.String,
    "date": pl.String,
    "median": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "before": pl.String,
    "step_pct": pl.Float64,
    "metric_title": pl.String,
    "unit": pl.String,
}


class Releases(Figure):
    """A point per release at its date, with the interval of its median; releases that changed the time are marked."""

    name = "releases"
    question = "How did the time change from release to release?"
    where = Where.STUDY
    tables = ("history.json", "tables/trials.parquet", "metrics.parquet")
    columns: ClassVar = {
        "release": "version, or the beginning of a commit's name, the oldest first",
        "date": "date of it; null where it is not known",
        "median": "median of the metric; null where failed trials leave none",
        "low": "lower end of the median's interval; null where there is none",
        "high": "upper end; null where there is none, or where failed trials leave it open",
        "before": "the release before it, from which it is shown to differ by more than what matters; null where not",
        "step_pct": "difference from that one in the typical pair, %; null where there is none",
        "metric_title": "what the metric is called",
        "unit": "its unit",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return the releases of a history with their medians, and which differ from the one before."""
        try:
            record = read_history(asked.files.directory)
        except DecodeError:  # the report is about much else
            record = None
        if record is None:
            return pl.DataFrame(schema=_SCHEMA)
        found, steps = neighbour_steps(asked.files, record)
        rows = []
        for each in record.releases:
            arm = found.arms.get(each.arm)
            if arm is None or arm.median is None:
                continue
            pair = steps.get(each.arm)
            rows.append(
                {
                    "release": each.arm,
                    "date": each.date,
                    "median": _finite(arm.median),
                    "low": None if arm.interval is None else _finite(arm.interval.low),
                    "high": None if arm.interval is None else _finite(arm.interval.high),
                    "before": None if pair is None else pair[0],
                    "step_pct": None if pair is None else found.comparisons[pair].difference_pct,
                    "metric_title": found.metric.title,
                    "unit": found.metric.unit,
                }
            )
        return pl.DataFrame(rows, schema=_SCHEMA)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per release."""
        figure = go.Figure()
        places, axis = _places(data["release"].to_list(), data["date"].to_list())
        unit = _style.text(data["unit"][0])
        placed = data.with_columns(x=pl.Series(places, dtype=pl.Float64))
        changed = pl.col("before").is_not_null()
        for name, at, shown in (
            ("release", 0, placed.filter(~changed)),
            ("release that changed it", _STEP, placed.filter(changed)),
        ):
            if shown.height:
                self._points(figure, name, _style.arm_style(at), shown, unit)
        steps = placed.drop_nulls(["step_pct", "median"]).select("x", "median", "step_pct")
        for x, middle, step_pct in steps.iter_rows():
            figure.add_annotation(
                x=x, y=middle, text=number_text.percent(step_pct), showarrow=False, yshift=-18, font={"size": 11}
            )
        figure.update_layout(_style.with_legend(_HEIGHT_PX))
        figure.update_xaxes(automargin=True, zeroline=False, **axis)
        title = f"{_style.text(data['metric_title'][0])}, {unit}".removesuffix(", ")
        figure.update_yaxes(title={"text": title}, automargin=True, zeroline=False)
        return figure

    @staticmethod
    def _points(figure: go.Figure, name: str, style: _style.ArmStyle, shown: pl.DataFrame, unit: str) -> None:
        figure.add_scatter(
            x=shown["x"].to_list(),
            y=shown["median"].to_list(),
            error_y={
                "type": "data",
                "symmetric": False,
                "array": (shown["high"] - shown["median"]).fill_null(0).to_list(),
                "arrayminus": (shown["median"] - shown["low"]).fill_null(0).to_list(),
                "thickness": 1.5,
                "width": 3,
            },
            name=name,
            mode="markers+text",
            text=[_style.text(each) for each in shown["release"]],
            textposition="top center",
            marker={"symbol": style.marker, "size": 8, "color": style.colour},
            hovertemplate=f"%{{text}}: %{{y:.5g}} {unit}<extra></extra>",
        )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _places(names: Sequence[str], dates: Sequence[str | None]) -> tuple[list[float], dict[str, object]]:
    """Place of each release, and the axis: years where all have a date, else one after the other."""
    known = [datetime.date.fromisoformat(date) for date in dates if date is not None]
    if len(known) < len(names):
        labels = [_style.text(name) for name in names]
        return [float(at) for at in range(len(names))], {
            "tickvals": list(range(len(names))), "ticktext": labels, "title": {"text": "release"}
        }  # fmt: skip
    places = [_year(date) for date in known]
    first, last = math.floor(places[0]), math.ceil(places[-1])
    step = max(1, (last - first) // 8)
    ticks = list(range(first, last + 1, step))
    room = max(0.05, (places[-1] - places[0]) / 20)
    return places, {
        "tickvals": ticks, "ticktext": [str(each) for each in ticks], "title": {"text": "date of the release"},
        "range": [places[0] - room, places[-1] + room],
    }  # fmt: skip


def _year(date: datetime.date) -> float:
    """A date as a number of years."""
    begin = datetime.date(date.year, 1, 1)
    return date.year + (date - begin).days / (datetime.date(date.year + 1, 1, 1) - begin).days
