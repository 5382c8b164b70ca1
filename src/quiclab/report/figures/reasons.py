# SPDX-License-Identifier: Apache-2.0
"""Figure of a waterfall of reasons: from one arm's mean time to another's, step by step."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quiclab.compare import comparison_words
from quiclab.model.tables import Row
from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._reason_style import reason_name
from quiclab.why.account import MetricScope
from quiclab.why.accounts import Waterfall, waterfalls

_SCHEMA = {
    **dict.fromkeys(("cell_id", "cell_title", "baseline", "other", "reason"), pl.String),
    **dict.fromkeys(("from_ms", "difference_ms", "low_ms", "high_ms"), pl.Float64),
    **dict.fromkeys(("shown_to_differ", "is_total"), pl.Boolean),
}
_SMALL = 0.005
"""Share of what moved in all below which steps are drawn as one."""
_ROW_PX, _FRAME_PX = 38, 56
_BAR_PX, _WORDS_PX = 13, 15
"""Height of a bar, and of the middle of its words above the bar's: words beside it have no room on a phone."""


class Reasons(Figure):
    """A floating bar per reason, each from where the one before ends, and one for their sum."""

    name = "reasons"
    question = "Why does one arm take longer than another: in which waits do their mean times differ?"
    where = Where.PAGE
    tables = ("resolved.json", "tables/trials.parquet", "tables/account_totals/*.parquet", "metrics.parquet")
    columns: ClassVar = {
        "cell_title": "cell: a waterfall each",
        "baseline": "the arm whose mean time is 0 here",
        "other": "the arm that is compared with it",
        "reason": "what the sender waited for: a bar each, from top to bottom",
        "from_ms": "sum of the differences above, ms",
        "difference_ms": "mean of the other's time less the baseline's, ms: − is less time",
        "low_ms": "lower end of its interval, ms; null where there is none",
        "high_ms": "upper end of its interval, ms; null where there is none",
        "shown_to_differ": "whether the pairs show the difference, after correction over the reasons",
        "is_total": "whether it is the time as a whole",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return the steps of the cells that are asked for; none where the study's metric is not what they explain."""
        analysis = asked.analysis
        if analysis.metric.name not in {of.metric for of in MetricScope}:
            return pl.DataFrame(schema=_SCHEMA)
        wanted = [c for c in analysis.comparisons if asked.cell in (None, c.cell_id)]
        rows: list[dict[str, object]] = []
        for each in waterfalls(asked.study, wanted, analysis.alpha, analysis.metric.name):
            rows += steps_of(each, comparison_words.cell_name(each.comparison, analysis), analysis.alpha)
        return pl.DataFrame(rows, schema=_SCHEMA)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per bar; of several cells below each other."""
        figure = go.Figure()
        several = data["cell_title"].n_unique() > 1
        order = _rows(data, several=several)
        for shown in (True, False):
            bars = data.filter(pl.col("shown_to_differ") == shown)
            if bars.height:
                self._add(figure, bars, shown=shown, several=several)
        figure.update_layout(
            _style.base_layout(_FRAME_PX + _ROW_PX * len(order)), barmode="overlay", bargap=1 - _BAR_PX / _ROW_PX
        )
        other, baseline = (data[name].unique(maintain_order=True).to_list() for name in ("other", "baseline"))
        title = f"mean time of {_style.text(', '.join(other))} less that of {_style.text(', '.join(baseline))}, ms"
        figure.update_xaxes(title={"text": title}, zeroline=True, automargin=True, range=_range(data))
        figure.update_yaxes(
            type="category", showgrid=False, showticklabels=False, ticks="", zeroline=False, categoryorder="array",
            categoryarray=list(order), autorange=False, range=[len(order) - 0.5, -0.5],
        )  # fmt: skip
        for name, words in order.items():
            figure.add_annotation(
                x=0, xref="paper", xanchor="left", y=name, yref="y", yanchor="middle", yshift=_WORDS_PX, text=words,
                showarrow=False, align="left", font={"size": 12},
            )  # fmt: skip
        return figure

    def _add(self, figure: Any, bars: pl.DataFrame, *, shown: bool, several: bool) -> None:
        rows = list(bars.iter_rows(named=True))
        colours = [_style.arm_style(0 if row["difference_ms"] > 0 else 1).colour for row in rows]
        figure.add_bar(
            y=[_name(row, several=several) for row in rows],
            x=[row["difference_ms"] for row in rows],
            base=[0.0 if row["is_total"] else row["from_ms"] for row in rows],
            orientation="h",
            name="shown to differ" if shown else "not decided",
            marker={"color": colours if shown else [_style.pale(colour) for colour in colours]},
            hovertext=[f"{reason_name(row['reason'])}: {_difference_text(row)}" for row in rows],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )


def _range(data: pl.DataFrame) -> list[float]:
    """Ends of the axis."""
    begin = data.select(pl.when("is_total").then(0.0).otherwise("from_ms")).to_series()
    ends = pl.concat([begin, begin + data["difference_ms"], pl.Series([0.0])])
    low, high = float(ends.min() or 0), float(ends.max() or 0)  # type: ignore[arg-type]
    room = 0.03 * (high - low) or 1.0
    return [low - room, high + room]


def steps_of(waterfall: Waterfall, title: str, alpha: float) -> list[dict[str, object]]:
    """Rows of one cell's waterfall, small steps as one."""
    least = _SMALL * waterfall.gross_ms
    drawn = [step for step in waterfall.steps if abs(step.difference_ms) >= least]
    rest = sum(step.difference_ms for step in waterfall.steps if step not in drawn)
    common = {
        "cell_id": waterfall.comparison.cell_id,
        "cell_title": title,
        "baseline": waterfall.comparison.baseline.arm,
        "other": waterfall.comparison.other.arm,
    }
    rows: list[dict[str, object]] = []
    at = 0.0
    for step in drawn:
        rows.append({**common, **_ends(step.interval_ms), "reason": step.label.heading if step.label else ""})
        rows[-1] |= {"from_ms": at, "difference_ms": step.difference_ms, "is_total": False}
        rows[-1]["shown_to_differ"] = step.differs(alpha)
        at += step.difference_ms
    if rows:
        nothing = {"low_ms": None, "high_ms": None, "shown_to_differ": False, "is_total": False}
        rows.append({**common, **nothing, "reason": "all else", "from_ms": at, "difference_ms": rest})
        total = waterfall.total
        rows.append({**common, **_ends(total.interval_ms), "reason": waterfall.of.heading, "from_ms": 0.0})
        rows[-1] |= {"difference_ms": total.difference_ms, "shown_to_differ": total.differs(alpha), "is_total": True}
    return rows


def _ends(interval: Any) -> dict[str, float | None]:
    return {"low_ms": interval.low if interval else None, "high_ms": interval.high if interval else None}


def _name(row: Row, *, several: bool) -> str:
    reason = reason_name(row["reason"])
    return f"{_style.text(row['cell_title'])}: {reason}" if several else reason


def _rows(data: pl.DataFrame, *, several: bool) -> dict[str, str]:
    """Name of each row from top to bottom, with the words above its bar; of several cells each begins with its own."""
    rows: dict[str, str] = {}
    for row in data.iter_rows(named=True):
        if several:
            title = _style.text(row["cell_title"])
            rows.setdefault(title, f"<b>{title}</b>")
        rows[_name(row, several=several)] = f"{reason_name(row['reason'])}: {_difference_text(row)}"
    return rows


def _difference_text(row: Row) -> str:
    """`−1.39 s (−1.55 s … −1.23 s)`; the difference alone where there is no interval."""
    told = _signed(row["difference_ms"])
    ends = (row["low_ms"], row["high_ms"])
    if ends[0] is not None and ends[1] is not None and all(abs(end) < float("inf") for end in ends):
        told += f" ({_signed(ends[0])} … {_signed(ends[1])})"
    return told


def _signed(value_ms: float) -> str:
    told = f"{value_ms / 1000:+.2f} s" if abs(value_ms) >= 1000 else f"{value_ms:+.1f} ms"
    return told.replace("-", "−").replace("−0.0 ", "0.0 ").replace("+0.0 ", "0.0 ")
