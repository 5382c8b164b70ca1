# SPDX-License-Identifier: Apache-2.0
"""The map of differences: networks by sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import polars as pl

from quiclab.compare.model import Conclusion
from quiclab.compare.rows import differences
from quiclab.model import number_text
from quiclab.model.errors import SpecError
from quiclab.model.tables import Row
from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style, _table
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked


class DifferenceMap(Figure):
    """Map of the better arm in each cell, and by how much: coloured where it matters, green where nothing does, grey
    where it is undecided, darker grey where it is not judged."""

    name = "differences"
    question = "Over which network and for which size is which arm faster, and by how much?"
    where = Where.PAGE
    of_one_arm = True
    tables = ("tables/trials.parquet", "metrics.parquet")
    columns: ClassVar = {
        "path_title": "network, the rows from top to bottom",
        "workload_title": "size, the columns from left to right",
        "baseline_arm": "arm that the difference is relative to",
        "other_arm": "the arm that is compared: one of them per figure",
        "difference_pct": "difference in the typical pair, per cent of the baseline's value: − is less",
        "significant": "whether the deciding test finds a difference",
        "conclusion": "what the cell amounts to beside what matters: its colour follows",
        "matters_pct": "smallest difference that matters, in %",
        "cell_text": "what stands in the cell: a difference that was found, or the conclusion",
        "details": "all numbers of the cell, a line each, for hovering",
        "faster": "the word for better: 'faster' or 'better'",
        "better_sign": "sign of a difference by which the other arm is better: − of a time",
        "alpha": "level of the deciding test after correction",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return the rows of one arm against the baseline: the arm that is asked for, else the first."""
        compared = differences(asked.analysis)
        rows = compared.filter(kind="main") if compared.height else compared
        arms = rows["other_arm"].unique(maintain_order=True).to_list() if rows.height else []
        if asked.other is not None and asked.other not in arms:
            told = f"there are {', '.join(arms) or 'none'}"
            raise SpecError(f"no arm {asked.other!r} is compared with the baseline", told)
        return rows.filter(other_arm=asked.other or arms[0]) if arms else rows

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per cell."""
        rows = data["path_title"].unique(maintain_order=True).to_list()
        columns = data["workload_title"].unique(maintain_order=True).to_list()
        cells = {(cell["path_title"], cell["workload_title"]): cell for cell in data.iter_rows(named=True)}

        def grid(value: Any) -> list[list[Any]]:
            return [
                [value(cells[row, column]) if (row, column) in cells else None for column in columns] for row in rows
            ]

        def heatmap(z: list[list[Any]], labels: list[list[Any]], **more: Any) -> go.Node:
            axes = {"x": [_style.text(c) for c in columns], "y": [_style.text(r) for r in rows]}
            gaps = {"xgap": 3, "ygap": 3, "showscale": False}
            return go.Heatmap(z=z, text=labels, texttemplate="%{text}", **axes, **gaps, **more)

        shown = [abs(cell["difference_pct"] or 0) for cell in cells.values() if _coloured(cell)]
        reach = min(100.0, max(10.0, *shown, 0.0))

        better = 1 if data.height and data["better_sign"][0] == "+" else -1
        """Turns a difference into its place on the scale, which ends in the colour of the other arm."""

        def word(cell: Row) -> str:
            share = (better * cell["difference_pct"] / reach + 1) / 2
            return _style.cell_word(_style.DIFFERENCE_SCALE, share, _style.text(cell["cell_text"]))

        plain = grid(lambda cell: None if _coloured(cell) else _shade(cell))
        hover: dict[str, object] = {
            "customdata": grid(lambda cell: _style.text(cell["details"]).replace("\n", "<br>")),
            "hovertemplate": "%{customdata}<extra></extra>",
            "hoverongaps": False,
        }
        figure = go.Figure(
            [
                heatmap(
                    plain,
                    grid(lambda cell: "" if _coloured(cell) else _style.text(cell["cell_text"])),
                    colorscale=[[0, _style.CELL_BLANK], [0.5, _style.CELL_ALIKE], [1, _style.CELL_NOT_JUDGED]],
                    zmin=0,
                    zmax=2,
                    textfont={"size": 12, "color": _style.CELL_WORD},
                    **hover,
                ),
                heatmap(
                    grid(lambda cell: better * cell["difference_pct"] if _coloured(cell) else None),
                    grid(lambda cell: word(cell) if _coloured(cell) else ""),
                    colorscale=_style.DIFFERENCE_SCALE,
                    textfont={"size": 13},
                    zmid=0,
                    zmin=-reach,
                    zmax=reach,
                    **hover,
                ),
            ]
        )
        figure.update_layout(_style.noted(60 + _style.MAP_ROW_PX * len(rows), self._convention(data)))
        figure.update_layout(
            margin={"t": figure.layout.margin.t + 24},  # the names of the columns
            meta={"least_px": _style.map_width_px(figure.data)},
        )
        figure.update_xaxes(
            type="category",
            side="top",
            tickangle=0,
            tickfont={"size": 13},
            showgrid=False,
            ticks="",
            zeroline=False,
            fixedrange=True,
            automargin=True,
        )
        figure.update_yaxes(
            type="category",
            autorange="reversed",
            tickfont={"size": 13},
            showgrid=False,
            ticks="",
            zeroline=False,
            fixedrange=True,
            automargin=True,
        )
        return figure

    def table(self, data: pl.DataFrame) -> Any:
        """One row of `data` per cell: medians, the difference with its interval, p and what the cell amounts to."""
        baseline, other, unit = data["baseline_arm"][0], data["other_arm"][0], data["unit"][0]
        headings = ["network", "workload", baseline, other, "difference", "interval", "p", "pairs", "conclusion"]
        rows = [
            [
                row["path_title"], row["workload_title"],
                number_text.quantity(row["baseline_median"], unit), number_text.quantity(row["other_median"], unit),
                _signed(row["difference_pct"]),
                _between(row["interval_low_pct"], row["interval_high_pct"]),
                number_text.p_text(row["adjusted_p"]) or "–", str(row["pairs"]), Conclusion(row["conclusion"]).text,
            ]
            for row in data.iter_rows(named=True)
        ]  # fmt: skip
        confidences = data["interval_confidence_pct"].drop_nulls()
        sure = (
            f"with an interval of {min(confidences.to_list()):.1f} % confidence or more; " if confidences.len() else ""
        )
        notes = [
            f"{data['metric'][0]}: medians, and what {other} has more or less in the typical pair",
            f"{sure}p is corrected over all cells",
        ]
        return _table.draw(headings, rows, words=2, note="\n".join(notes))

    @staticmethod
    def _convention(data: pl.DataFrame) -> list[str]:
        """The sign convention, on the figure itself so that it stays with a copy of it."""
        baseline, other, word = (_style.text(data[column][0]) for column in ("baseline_arm", "other_arm", "faster"))
        better, worse = ("−", "+") if data["better_sign"][0] == "−" else ("+", "−")
        what = " time" if word == "faster" else ""
        matters, said = f"{data['matters_pct'][0]:g} %", set(data["conclusion"])
        lines = [
            f"<b>{better}, orange: {other} is {word}</b> ({better}12 %: 12 % {_MORE[better]}{what})",
            f"<b>{worse}, blue: {baseline} is {word}</b> ({worse}12 %: 12 % {_MORE[worse]}{what})",
        ]
        if said & set(_NO_DIFFERENCE):
            lines.append(f"green: no difference of {matters} or more")
        lines += [words.format(matters=matters) for conclusion, words in _WORDS if conclusion in said]
        if Conclusion.UNDECIDED.value in said:
            lines.append(f"grey: inconclusive, these trials cannot tell whether there is one of {matters}")
        if Conclusion.NOT_JUDGED.value in said:
            lines.append("darker grey: not judged, disturbed by this machine")
        return lines


def _signed(share_pct: float | None) -> str:
    """`+15.2 %`, `−0.3 %`; a dash where it is not known."""
    return "–" if share_pct is None else f"{round(share_pct, 1) + 0.0:+.1f} %".replace("-", "−").replace("+0.0", "0.0")


def _between(low: float | None, high: float | None) -> str:
    return "–" if low is None and high is None else f"{_signed(low)} … {_signed(high)}"


_MORE = {"−": "less", "+": "more"}
"""Sign → what the other arm has of the value."""
_NO_DIFFERENCE = (Conclusion.SMALL.value, Conclusion.ALIKE.value, Conclusion.MEDIAN_ALIKE.value)
"""Conclusions by which no difference that matters is there."""
_WORDS = (
    (Conclusion.SMALL.value, "small: a difference, but less than {matters}"),
    (Conclusion.MEDIAN_ALIKE.value, "median equivalent: the slowest trials may still differ"),
    (Conclusion.PERHAPS_SMALL.value, "small?: a difference, perhaps less than {matters}"),
)
"""Words of cells that do not explain themselves."""


def _shade(cell: Mapping[str, object]) -> int:
    """Place of a cell without a difference to colour in the scale of plain ones."""
    return 2 if cell["conclusion"] == Conclusion.NOT_JUDGED.value else int(cell["conclusion"] in _NO_DIFFERENCE)


def _coloured(cell: Mapping[str, object]) -> bool:
    """True if a difference was found that matters, or perhaps does, and that has a number."""
    found = (Conclusion.DIFFERENT.value, Conclusion.PERHAPS_SMALL.value)
    return cell["conclusion"] in found and cell["difference_pct"] is not None
