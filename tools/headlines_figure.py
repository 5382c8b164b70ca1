# SPDX-License-Identifier: Apache-2.0
"""A picture of one paper's headlines: what was measured here beside what the paper says, as ratios on one axis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from headlines_results import BETTER, CellResults, Headline, rows_of
from headlines_row import SPREAD

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP, _BOTTOM = 900, 330, 110, 20, 40, 46
_MOST = 16.0
"""Ratios beyond this, and below its inverse, stand at the edge, with an arrow."""
_TICKS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16)
_COLOURS = {"agrees": "#0072b2", "differs": "#d55e00"}
_UNDECIDED = "#767676"
_STYLE = "font: 12px sans-serif"


@dataclass(frozen=True)
class Mark:
    """One claim in one cell. All numbers are ratios: to the paper's number, or of the second arm to the first."""

    label: str
    verdict: str
    change: bool
    """True if it is a ratio of two arms."""
    ours: float
    low: float
    high: float
    says_low: float
    """Lower end of the paper's range …"""
    says_high: float
    """… to here, with what is declared as near enough."""


def mark(headline: Headline, row: Mapping[str, Any], expected: Mapping[str, Any], matters: float) -> Mark | None:
    """Place a claim on the axis; None where it has no ratio: a difference in seconds, a count, a spread, or what has
    no value here."""
    if row["unit"] == "cells" or row.get("statistic") == SPREAD:
        return None
    if row["ours"] is None or expected.get("range") or (row["unit"] == "%") != (expected.get("unit", "%") == "%"):
        return None
    low, high = (row["ours"] if row[end] is None else row[end] for end in ("low", "high"))
    name = f"{headline.id} {row['claim']}"
    cell = ", ".join(filter(None, (row["workload"], row["path"])))
    label = name if len(name) + len(cell) > 50 else f"{name} ({cell})"

    def placed(values: Sequence[float], low: float, high: float, *, change: bool) -> Mark:
        return Mark(label, row["verdict"], change, *values, low, high)

    if "direction" in expected:
        says = {
            "lower": (0.0, 1.0), "higher": (1.0, math.inf), "same": (1 / (1 + matters), 1 + matters),
            "not lower": (1 / (1 + matters), math.inf), "not higher": (0.0, 1 + matters),
        }[expected["direction"]]  # fmt: skip
        return placed([1 + each / 100 for each in (row["ours"], low, high)], *says, change=True)
    if row["second_arm"]:
        if row["unit"] != "%":
            return None
        sign = -1 if BETTER[row["metric"]] == "lower" else 1
        values = [1 + sign * each / 100 for each in (row["ours"], low, high, expected["low"], expected["high"])]
        return placed([values[0], *sorted(values[1:3])], *sorted(values[3:]), change=True)
    if expected["value"] <= 0:
        return None
    low, high, says_low, says_high = (
        each / expected["value"] for each in (low, high, expected["low"], expected["high"])
    )
    return placed([row["ours"] / expected["value"], low, high], says_low, says_high, change=False)


def marks(headlines: Sequence[Headline], results: Mapping[str, CellResults]) -> list[Mark]:
    """All claims of some headlines that can be placed, in order, but those that were measured before their spec
    changed."""
    found = (
        mark(each, row, results[cell].expected[row["claim"]], results[cell].matters)
        for each in headlines
        for cell, row in rows_of(each, results, before=False)
        if row["claim"] in results[cell].expected
    )
    return [each for each in found if each is not None]


def picture(title: str, placed: Sequence[Mark]) -> str:
    """The picture as SVG."""
    height = _TOP + _ROW * len(placed) + _BOTTOM
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'role="img" style="{_STYLE}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="10" y="20" font-weight="bold">{escape(title)}</text>',
        *_axis(height),
        *(line for at, each in enumerate(placed) for line in _row(each, _TOP + _ROW * at + _ROW / 2)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _x(ratio: float) -> float:
    share = math.log(min(max(ratio, 1 / _MOST), _MOST)) / math.log(_MOST)
    return _LEFT + (1 + share) / 2 * (_WIDTH - _LEFT - _RIGHT)


def _axis(height: int) -> Iterator[str]:
    foot = height - _BOTTOM + 4
    for tick in _TICKS:
        x, name = _x(tick), f"{tick:g}" if tick >= 1 else f"1/{1 / tick:g}"
        colour = "#000" if tick == 1 else "#ddd"
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 6}" y2="{foot}" stroke="{colour}"/>'
        yield f'<text x="{x:.1f}" y="{foot + 14}" text-anchor="middle">{name}</text>'
    told = (
        "Ratios: ● measured here to the paper's number · ◆ second arm to first · shaded: what the paper says · "
        "▸ beyond the scale"
    )
    yield f'<text x="10" y="{foot + 34}">{escape(told)}</text>'


def _row(each: Mark, y: float) -> Iterator[str]:
    colour = _COLOURS.get(each.verdict, _UNDECIDED)
    left, right = _x(each.says_low), _x(each.says_high)
    yield f'<text x="{_LEFT - 10}" y="{y + 4}" text-anchor="end">{escape(each.label)}</text>'
    yield (
        f'<rect x="{left:.1f}" width="{max(right - left, 3):.1f}" y="{y - 7}" height="14" fill="#f0e442" '
        'fill-opacity="0.55"/>'
    )
    yield (
        f'<line x1="{_x(each.low):.1f}" x2="{_x(each.high):.1f}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2"/>'
    )
    x = _x(each.ours)
    fill = colour if each.verdict in _COLOURS else "#fff"
    if each.change:
        corners = f"{x - 5:.1f},{y} {x:.1f},{y - 5} {x + 5:.1f},{y} {x:.1f},{y + 5}"
        yield f'<polygon points="{corners}" fill="{fill}" stroke="{colour}"/>'
    else:
        yield f'<circle cx="{x:.1f}" cy="{y}" r="4.5" fill="{fill}" stroke="{colour}"/>'
    yield from _arrows(each.says_low, each.says_high, y, "#b8a800")
    yield from _arrows(each.low, each.high, y, colour)
    yield f'<text x="{_WIDTH - _RIGHT + 12}" y="{y + 4}" fill="{colour}">{escape(each.verdict)}</text>'


def _arrows(low: float, high: float, y: float, colour: str) -> Iterator[str]:
    for beyond, x, tip in ((low < 1 / _MOST, _x(1 / _MOST), -7), (high > _MOST, _x(_MOST), 7)):
        if beyond:
            yield f'<polygon points="{x:.1f},{y - 5} {x + tip:.1f},{y} {x:.1f},{y + 5}" fill="{colour}"/>'
