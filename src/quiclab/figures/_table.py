# SPDX-License-Identifier: Apache-2.0
"""A table as a figure, so that it can be exported like one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from quiclab.figures import _style

_ROW_PX, _HEAD_PX, _LINE_PX = 26, 40, 15
_LETTERS = 122
"""Of a row in a figure's width, at the size of the text."""
_UNBROKEN = "\N{NO-BREAK SPACE}"
"""Between a number and its unit."""


def draw(headings: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1) -> Any:
    """Columns as wide as their longest text; the first `words` columns are words, the others numbers."""
    rows = [[text if n < words else text.replace(" ", _UNBROKEN) for n, text in enumerate(row)] for row in rows]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in headings]
    longest = [
        max(map(len, (*column, *heading.split()))) + 4 for heading, column in zip(headings, columns, strict=True)
    ]
    widths = [min(length, 34) for length in longest]
    lines = [max(_lines(text, width, sum(widths)) for text, width in zip(row, widths, strict=True)) for row in rows]
    align = ["left" if place < words else "right" for place in range(len(headings))]
    common = {"align": align, "line": {"color": _style.BLANK, "width": 1}}
    figure = go.Figure(
        go.Table(
            columnwidth=widths,
            header={
                "values": [f"<b>{_style.text(heading)}</b>" for heading in headings],
                "fill": {"color": _style.BLANK}, "height": _HEAD_PX, "font": {"size": 11}, **common,
            },
            cells={
                "values": [[_style.text(text) for text in column] for column in columns],
                "fill": {"color": "rgba(0, 0, 0, 0)"}, "height": _ROW_PX, "font": {"size": 11}, **common,
            },
        )
    )  # fmt: skip
    figure.update_layout(_style.base_layout(30 + _HEAD_PX + sum(_ROW_PX + _LINE_PX * (n - 1) for n in lines)))
    return figure


def _lines(text: str, width: int, whole: int) -> int:
    """How many lines a text takes in its column."""
    return max(1, -(-len(text) // max(1, int(_LETTERS * width / whole))))
