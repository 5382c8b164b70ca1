# SPDX-License-Identifier: Apache-2.0
"""A table as a figure: what has too many units for one axis, and is still to be printed, copied and kept.

A page shows it as a table of its own, from the `meta` of its layout; a picture has it as plotly draws it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style

_LINE_PX, _PADDING_PX = 16, 14
_LETTER_PX, _BOLD_PX = 6.2, 7.2
"""Width of a letter, of which most are a little narrower."""
_WIDEST = 30
"""Characters of a column; longer texts wrap."""
_NUMBER_PARTS = str.maketrans({" ": "\N{NO-BREAK SPACE}"})
"""A number and its unit stay together."""


def draw(headings: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1, note: str | None = None) -> Any:
    """Plain texts as they are to be read; the first `words` columns are words, the others numbers with their units."""
    plain = {"headings": list(headings), "rows": [list(row) for row in rows], "words": words, "note": note or ""}
    rows = [[text if n < words else text.translate(_NUMBER_PARTS) for n, text in enumerate(row)] for row in rows]
    widths = [_width(heading, [row[n] for row in rows]) for n, heading in enumerate(headings)]
    pixels = [
        max(_LETTER_PX * width, _BOLD_PX * max(map(len, heading.split()), default=0)) + _PADDING_PX + 10
        for heading, width in zip(headings, widths, strict=True)
    ]
    lines = [[_wrapped(text, width) for text, width in zip(row, widths, strict=True)] for row in (headings, *rows)]
    heights = [_LINE_PX * max(map(len, row)) + _PADDING_PX for row in lines]
    header, *cells = (["<br>".join(map(_style.text, cell)) for cell in row] for row in lines)
    look = {
        "align": ["left" if n < words else "right" for n in range(len(headings))],
        "line": {"color": _style.RULE, "width": 1},
        "font": {"size": 11},
    }
    table = {
        "type": "table",
        "columnwidth": pixels,
        "header": look
        | {
            "values": [f"<b>{heading}</b>" for heading in header],
            "fill": {"color": _style.BLANK},
            "height": heights[0],
        },
        "cells": look
        | {
            "values": [list(column) for column in zip(*cells, strict=True)] or [[] for _ in headings],
            "fill": {"color": "rgba(0,0,0,0)"},
            "height": min(heights[1:], default=0),  # the least: rows grow with their texts
        },
    }
    figure = go.Figure()
    figure.add_trace(table)
    height = sum(heights) + 44
    figure.update_layout(_style.base_layout(height) if note is None else _style.titled(height, [_style.text(note)]))
    figure.update_layout(meta={"table": plain, "least_px": round(sum(pixels)) + 24})
    return figure


def _width(heading: str, texts: Sequence[str]) -> int:
    longest = max((len(line) for text in (*texts, *heading.split()) for line in text.split("\n")), default=1)
    return min(longest, _WIDEST)


def _wrapped(text: str, width: int) -> list[str]:
    return [line for part in text.split("\n") for line in (textwrap.wrap(part, width) or [""])]
