# SPDX-License-Identifier: Apache-2.0
"""Tables as figures: what has too many units for one axis, and still is to be printed, copied and kept as a picture."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from quiclab.figures import _style

_LINE_PX, _PADDING_PX = 17, 17


def draw(headings: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int], note: str) -> Any:
    """Plain texts as they are to be read; a column is as wide as its characters in `widths`, and longer texts wrap."""
    lines = [[_wrapped(text, width) for text, width in zip(row, widths, strict=True)] for row in (headings, *rows)]
    heights = [_LINE_PX * max(map(len, row)) + _PADDING_PX for row in lines]
    header, *cells = (["<br>".join(map(_style.text, cell)) for cell in row] for row in lines)
    look = {"align": "left", "line": {"color": _style.RULE, "width": 1}}
    figure = go.Figure(
        go.Table(
            columnwidth=[width + 2 for width in widths],
            header=look
            | {
                "values": [f"<b>{heading}</b>" for heading in header],
                "fill": {"color": _style.BLANK},
                "height": heights[0],
            },
            cells=look
            | {
                "values": [list(column) for column in zip(*cells, strict=True)],
                "fill": {"color": "rgba(0,0,0,0)"},
                "height": min(heights[1:], default=0),
            },
        )
    )
    figure.update_layout(_style.titled(sum(heights) + 34, [_style.text(note)]))
    return figure


def _wrapped(text: str, width: int) -> list[str]:
    return [line for part in text.replace(" %", "\u00a0%").split("\n") for line in (textwrap.wrap(part, width) or [""])]
