# SPDX-License-Identifier: Apache-2.0
"""The map of causes: which mechanism takes how much of the difference, in which cells of a study."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quiclab.model import number_text
from quiclab.model.errors import SpecError
from quiclab.model.tables import Row
from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.why.account import MetricScope
from quiclab.why.causes import Status, Verdict
from quiclab.why.explanation import Explanation, explanations

_SCHEMA = {
    **dict.fromkeys(("cell_id", "cell_title", "baseline", "other", "cause", "cause_title", "status"), pl.String),
    **dict.fromkeys(("difference_ms", "low_ms", "high_ms", "difference_pct"), pl.Float64),
    "cell_text": pl.String,
}
_ROW_PX, _FRAME_PX = 34, 130
_NAMES_PX, _CELL_PX = 230, 78
"""Least room of the causes' names, and of a cell, in which its numbers can be read."""


class Causes(Figure):
    """Map of the verdicts: a row for each cause, a column for each cell; coloured where the pairs show a difference."""

    name = "causes"
    question = "Which causes take how much of the difference, and in which cells?"
    where = Where.STUDY
    of_one_arm = True
    tables = ("resolved.json", "tables/account_totals/*.parquet", "tables/mechanism_facts/*.parquet", "metrics.parquet")
    columns: ClassVar = {
        "cause_title": "cause: a row each",
        "cell_id": "cell: a column each",
        "cell_title": "the cell in words, for hovering",
        "baseline": "arm that the difference is relative to",
        "other": "the arm that is compared: one of them per figure",
        "status": "the verdict's status",
        "difference_ms": "mean of the other's time less the baseline's, ms: − is less time",
        "difference_pct": "the same in per cent of the baseline's mean time to the last byte: − is less time",
        "cell_text": "what stands in the cell",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return a row for each verdict of the arm that is asked for, else of the first; none of another metric."""
        analysis = asked.analysis
        main = [each for each in analysis.comparisons if each.kind == "main"]
        arms = list(dict.fromkeys(each.other.arm for each in main))
        if asked.other is not None and asked.other not in arms:
            raise SpecError(f"no arm {asked.other!r} is compared with the baseline", f"there are {', '.join(arms)}")
        wanted = [each for each in main if each.other.arm == (asked.other or arms[0])] if arms else []
        if analysis.metric.name not in {of.metric for of in MetricScope}:
            return pl.DataFrame(schema=_SCHEMA)
        found = explanations(asked.study, analysis, wanted, foretold=False)
        rows = [row_of(verdict, each) for each in found for verdict in each.causes]
        return pl.DataFrame(rows, schema=_SCHEMA)

    def is_worth_showing(self, asked: Asked, data: pl.DataFrame) -> bool:
        """Return whether some cause is told of two cells or more: of one cell the sentences say it all."""
        return data["cell_id"].n_unique() > 1

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per coloured or grey square; where a cause is not told of a cell there is none."""
        order = data.group_by("cause_title").agg(pl.col("difference_ms").abs().sum()).sort("difference_ms")
        causes = order["cause_title"].to_list()[::-1]
        cells = data["cell_id"].unique(maintain_order=True).to_list()
        squares = {(row["cause_title"], row["cell_id"]): row for row in data.iter_rows(named=True)}

        def grid(value: Any, empty: str | None = None) -> list[list[Any]]:
            return [
                [value(squares[cause, cell]) if (cause, cell) in squares else empty for cell in cells]
                for cause in causes
            ]

        coloured = [abs(row["difference_pct"]) for row in squares.values() if _coloured(row)]
        reach = min(100.0, max(10.0, *coloured, 0.0))

        def word(row: Row) -> str:
            share = (1 - row["difference_pct"] / reach) / 2
            return _style.cell_word(_style.DIFFERENCE_SCALE, min(1.0, max(0.0, share)), _style.text(row["cell_text"]))

        axes = {
            "x": [_style.text(cell).replace("/", "<br>", 1) for cell in cells],
            "y": [_style.text(cause) for cause in causes],
        }
        common = {**axes, "xgap": 3, "ygap": 3, "showscale": False, "texttemplate": "%{text}", "hoverongaps": False}
        hover = {
            "customdata": grid(lambda row: _style.text(f"{row['cell_title']}: {row['cell_text']}, {row['status']}")),
            "hovertemplate": "%{y}<br>%{customdata}<extra></extra>",
        }
        plain = go.Heatmap(
            z=grid(lambda row: None if _coloured(row) else int(row["status"] == str(Status.IN_BOTH))),
            text=grid(lambda row: "" if _coloured(row) else _style.text(row["cell_text"]), ""),
            colorscale=[[0, _style.CELL_BLANK], [1, _style.CELL_ALIKE]],
            zmin=0,
            zmax=1,
            textfont={"size": 11, "color": _style.CELL_WORD},
            **common,
            **hover,
        )
        differing = go.Heatmap(
            z=grid(lambda row: -row["difference_pct"] if _coloured(row) else None),
            text=grid(lambda row: word(row) if _coloured(row) else "", ""),
            colorscale=_style.DIFFERENCE_SCALE,
            zmid=0,
            zmin=-reach,
            zmax=reach,
            textfont={"size": 12},
            **common,
            **hover,
        )
        figure = go.Figure([plain, differing])
        # As in the map of differences: each arm's colour is where it is faster.
        other, baseline = _style.text(data["other"][0]), _style.text(data["baseline"][0])
        convention = [
            f"<b>−, orange: {other} takes less</b> by this",
            f"<b>+, blue: {other} takes longer</b>, {baseline} is faster",
            "grey: not decided; green: as much in both; empty: less than 3 % of what moved",
        ]
        figure.update_layout(_style.noted(_FRAME_PX + _ROW_PX * len(causes), convention))
        figure.update_layout(
            margin={"t": figure.layout.margin.t + 40}, meta={"least_px": _NAMES_PX + _CELL_PX * len(cells)}
        )
        bare = {"type": "category", "showgrid": False, "ticks": "", "zeroline": False, "automargin": True}
        figure.update_xaxes(side="top", fixedrange=True, tickangle=0, **bare)
        figure.update_yaxes(autorange="reversed", fixedrange=True, **bare)
        return figure


def _coloured(row: Row) -> bool:
    return Status(row["status"]).found


def row_of(verdict: Verdict, explanation: Explanation) -> dict[str, object]:
    """Return a verdict as a row of the figure's data."""
    step, interval = verdict.step, verdict.step.interval_ms
    sign = "+" if step.difference_ms > 0 else "−"
    told = f"{sign}{number_text.quantity(abs(step.difference_ms), 'ms')}"
    baseline_ms = explanation.waterfall.total.baseline_ms
    return {
        "cell_id": explanation.comparison.cell_id,
        "cell_title": explanation.cell_name,
        "baseline": explanation.comparison.baseline.arm,
        "other": explanation.comparison.other.arm,
        "cause": verdict.name,
        # A wait may have the name of a mechanism, and the row of a figure is found by its title.
        "cause_title": f"{verdict.title} (several causes)" if verdict.rivals else verdict.title,
        "status": str(verdict.status),
        "difference_ms": step.difference_ms,
        "low_ms": interval.low if interval else None,
        "high_ms": interval.high if interval else None,
        "difference_pct": 100 * step.difference_ms / baseline_ms if baseline_ms else 0.0,
        "cell_text": "both" if verdict.status is Status.IN_BOTH else told,
    }
