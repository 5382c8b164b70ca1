# SPDX-License-Identifier: Apache-2.0
"""Colours and markers of all figures, kept in this one place.

Arms take the colour-blind safe set of Okabe and Ito (2008), the baseline first: blue for it and vermilion for the
other arm, which are also the two ends of the map of differences. Violet stands for their orange and yellow, which are
faint on paper, and darkened look like vermilion to a reader who sees no green. Beyond six arms the colours come
again, with other markers, dashes and patterns, so that nothing is told by colour alone.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from quiclab.report.figures._canvas import Spec


@dataclass(frozen=True)
class ArmStyle:
    """Look of one arm in every figure."""

    colour: str
    marker: str
    dash: str
    pattern: str
    """Pattern of bars; empty is a full bar."""
    hatch: str
    """Pattern of the bars of the same arm in another state, such as through a proxy."""


_COLOURS = ("#2b7bba", "#d55e00", "#009e73", "#cc79a7", "#8a3ffc", "#56b4e9")
_MARKERS = (
    "circle", "diamond", "square", "triangle-up", "star", "hexagon",
    "cross", "x", "triangle-down", "bowtie", "hourglass", "triangle-left",
    "triangle-right", "pentagon", "star-diamond", "star-square", "star-triangle-up", "triangle-ne",
)  # fmt: skip
"""Full ones: open ones mean that something is not there. Three of each colour, which have little in common."""
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_PATTERNS, _HATCHES = ("", "x", "-"), ("/", "\\", "|")
ARM_STYLES = len(_COLOURS) * len(_DASHES)
"""Arms that can each have a colour and dash of their own; half as many also have their own marker and pattern."""


@dataclass(frozen=True)
class ProtocolStyle:
    """Look of one version of HTTP where protocols are told apart within an arm."""

    colour: str
    pattern: str


_PROTOCOLS = {
    "HTTP/1.1": ProtocolStyle("#b58900", "x"),
    "HTTP/2": ProtocolStyle("#cc79a7", "/"),
    "HTTP/3": ProtocolStyle("#009e73", ""),
}

DIFFERENCE_SCALE = [[0.0, "#1f63a0"], [0.35, "#8dbbdd"], [0.5, "#eceae6"], [0.65, "#f2ab7e"], [1.0, "#bf4a00"]]
"""Colours of the map of differences, from the baseline's blue to the other arm's red."""
BLANK = "rgba(128, 128, 128, 0.13)"
"""A cell without an answer, on light and on dark paper."""
CELL_BLANK, CELL_ALIKE, CELL_NOT_JUDGED = "#e6e7e9", "#bfe6d9", "#c3c6c9"
"""A cell of a map without an answer, one in which no difference that matters is, and one that the laboratory spoiled:
the same on both papers, as the coloured cells are, so that the words in them have one contrast."""
CELL_TEXT = {"light": "#ffffff", "dark": "#000000"}
"""Colours of words in a coloured cell: of any colour one of the two has a contrast of at least 4.5 to 1 (WCAG AA)."""
CELL_WORD = "#3d4348"
"""Colour of words in a cell without a colour of its own."""
BEHIND_SCALE = [[0.0, "#f4e3d7"], [0.4, "#f2ab7e"], [1.0, "#bf4a00"]]
"""Colours of the map of distances to the best arm, from the best to far behind it."""
RULE = "rgba(128, 128, 128, 0.4)"
"""Lines of a table, on both papers."""
BLANK_TEXT = "#7f848a"
"""Colour of text that is readable on both papers."""
FAILED_MARKER = "x-thin-open"

THEMES: dict[str, dict[str, str]] = {
    "light": {
        "paper": "#ffffff", "raised": "#f5f5f3", "ink": "#1c1e21", "muted": "#5c6168", "line": "#dcdcd8",
        "baseline": "#1f63a0", "other": "#b34700", "caution": "#7a5a00",
    },
    "dark": {
        "paper": "#15171a", "raised": "#1e2125", "ink": "#e8e8e6", "muted": "#a3a8ae", "line": "#363b41",
        "baseline": "#7db8e8", "other": "#ff9a57", "caution": "#e0b94a",
    },
}  # fmt: skip
"""Names of page colours, as CSS variables and for the figures' fonts and grids."""


def in_order(data: pl.DataFrame, arms: Sequence[str]) -> pl.DataFrame:
    """Return the data of a figure with its arms as an enumeration of all `arms` of the study, the baseline first: so
    that an arm has its colour also where another one has nothing to show."""
    if "arm" not in data.columns:
        return data
    known = dict.fromkeys([*arms, *data["arm"].drop_nulls().unique(maintain_order=True).cast(pl.String).to_list()])
    return data.with_columns(pl.col("arm").cast(pl.String).cast(pl.Enum(list(known))))


def arms(data: pl.DataFrame, first: int = 0) -> list[tuple[str, ArmStyle]]:
    """Return the arms of a figure as they occur, each in its colours: by the place in the study that `in_order` gave
    it, else by its place in the figure, whose first arm is the study's `first` one."""
    names: list[str] = data["arm"].unique(maintain_order=True).cast(pl.String).to_list()
    kind = data.schema["arm"]
    places = list(kind.categories) if isinstance(kind, pl.Enum) else [""] * first + names
    return [(name, arm_style(places.index(name))) for name in names]


def arm_name(name: str, style: ArmStyle) -> str:
    """An arm's name in its colour, where no line or bar of that colour says whose row or panel it is."""
    return f"<b><span style='color:{style.colour}'>{text(name)}</span></b>"


def arm_style(index: int) -> ArmStyle:
    """Style of the arm at this place, the baseline at 0. Colours come again with other dashes, markers and patterns."""
    place, turn = index % len(_COLOURS), index // len(_COLOURS)
    return ArmStyle(
        _COLOURS[place],
        _MARKERS[index % len(_MARKERS)],
        _DASHES[(place + 2 * turn + turn // 3) % len(_DASHES)],  # 36 times none again with its colour
        _PATTERNS[turn % len(_PATTERNS)],
        _HATCHES[turn % len(_HATCHES)],
    )


def bar(style: ArmStyle, *, hatched: bool = False) -> dict[str, object]:
    """The marker of an arm's bars."""
    shape = style.hatch if hatched else style.pattern
    pattern = {"shape": shape, "fillmode": "overlay", "size": 6, "solidity": 0.35}
    return {"color": style.colour, "line": {"color": style.colour, "width": 1}, "pattern": pattern}


def pale(colour: str) -> str:
    """Colour that lets the paper through, for the same thing in another state."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.35)"


STREAM_COLOURS = 2 * len(_COLOURS)


def stream_colour(place: int, arm: ArmStyle, *, alone: bool = False) -> str:
    """Return the colour of a stream by its place among its arm's streams: neighbours differ, and colours come again.
    Where each arm has a single stream, that is `alone` and has its arm's colour."""
    if alone:
        return arm.colour
    colour = _COLOURS[place % len(_COLOURS)]
    return pale(colour) if place // len(_COLOURS) % 2 else colour


def protocol_style(name: str) -> ProtocolStyle:
    """Style of a version of HTTP."""
    return _PROTOCOLS.get(name, ProtocolStyle("#7f848a", "."))


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two colours, `#rrggbb`, as WCAG 2.2 defines it: 1 to 21."""
    dim, bright = sorted((_luminance(first), _luminance(second)))
    return (bright + 0.05) / (dim + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def colour_at(scale: Sequence[Sequence[Any]], share: float) -> str:
    """Colour of a scale at a share of its way, as plotly mixes it."""
    share = min(1.0, max(0.0, share))
    upper = next(at for at, (place, _) in enumerate(scale) if place >= share)
    (low, first), (high, second) = scale[max(0, upper - 1)], scale[upper]
    way = (share - low) / (high - low) if high > low else 0.0
    mixed = [round((1 - way) * int(first[at : at + 2], 16) + way * int(second[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def cell_word(scale: Sequence[Sequence[Any]], share: float, words: str) -> str:
    """Words in bold for a coloured cell, in the colour that is readable on it."""
    colour = max(CELL_TEXT.values(), key=lambda each: contrast(each, colour_at(scale, share)))
    return f"<b><span style='color:{colour}'>{words}</span></b>"


def css_variables(theme: str) -> str:
    """The theme as CSS declarations."""
    return " ".join(f"--{name}: {value};" for name, value in THEMES[theme].items())


def text(value: object) -> str:
    """Escape a name for plotly, which reads a subset of HTML in every label."""
    return html.escape(str(value), quote=False)


_MOST_TICKS = 7


def log_axis(low: float, high: float) -> dict[str, object]:
    """A logarithmic axis from `low` to `high` with marks at 1, 2, 5, 10 …, or at powers of ten where those are many,
    and each written out: plotly writes the 2 of 2000 as a small 2."""
    room = 0.05 * max(0.2, math.log10(high / low))
    start, end = math.log10(low) - room, math.log10(high) + room
    ticks: list[float] = []
    for steps in (range(1, 10), (1, 2, 5), (1,)):
        ticks = [step * 10.0**power for power in range(math.floor(start), math.ceil(end)) for step in steps]
        ticks = [tick for tick in ticks if start <= math.log10(tick) <= end]
        if len(ticks) <= _MOST_TICKS:
            break
    return {"type": "log", "tickvals": ticks, "ticktext": list(map(short, ticks)), "range": [start, end]}


def short(value: float) -> str:
    """A number on an axis: `0.5`, `2000`, `100 k`, `5 M`."""
    for factor, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= max(factor, 1e4):
            return f"{value / factor:g}{letter}"
    return f"{value:g}"


MAP_ROW_PX = 58
_LETTER_PX, _BETWEEN_PX = 6.3, 12


def map_width_px(traces: Sequence[Spec]) -> int:
    """Least width of a map, whose cells are of several traces, in which its words and names stand beside each other."""
    words = [text for trace in traces for row in trace["text"] for text in row if text]
    across, down = traces[0]["x"], traces[0]["y"]
    column = _longest_line([*words, *across]) * _LETTER_PX + _BETWEEN_PX
    return round(_longest_line(down) * _LETTER_PX + column * len(across)) + _BETWEEN_PX


def fit_map(spec: Spec) -> None:
    """Give a map whose words were broken into lines the width and the height that these need."""
    traces, layout = spec["data"], spec["layout"]
    lines = max(
        (len(text.split("<br>")) for trace in traces for row in trace["text"] for text in row if text), default=1
    )
    more = max(0, 16 * lines + 10 - MAP_ROW_PX) * len(traces[0]["y"])
    height = layout["height"]
    layout["height"] = height + more
    layout["title"]["y"] *= height / layout["height"]  # it is so many pixels above the lower edge
    layout["meta"] = {"least_px": map_width_px(traces)}


def _longest_line(texts: Sequence[str]) -> int:
    """Letters of the longest line, without what only marks them up."""
    lines = (html.unescape(re.sub("<[^>]*>", "", line)) for text in texts for line in text.split("<br>"))
    return max(map(len, lines), default=0)


def base_layout(height_px: int) -> Spec:
    """Layout that all figures share. Labels and titles make their own room, so that a phone's width is enough."""
    return {
        "height": height_px,
        "margin": {"l": 8, "r": 12, "t": 8, "b": 14},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": False,
        "dragmode": "zoom",
        "template": None,
    }


def with_legend(height_px: int) -> dict[str, object]:
    """`base_layout` with a legend above the plot, where it takes nothing of a phone's width."""
    legend = {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"}
    return base_layout(height_px) | {"showlegend": True, "legend": legend}


def titled(height_px: int, lines: list[str]) -> dict[str, object]:
    """`base_layout` with a title of short lines above the plot: plotly breaks no lines and makes no room by itself."""
    title_px = 18 * len(lines)
    layout = base_layout(height_px + title_px)
    layout["margin"] |= {"t": title_px + 14}
    layout["title"] = {
        "text": "<br>".join(lines), "font": {"size": 13}, "x": 0, "xref": "container", "xanchor": "left",
        "y": 1 - 16 / layout["height"], "yref": "container", "yanchor": "middle", "pad": {"l": 8},  # of the first line
    }  # fmt: skip
    return layout


def noted(height_px: int, lines: list[str]) -> dict[str, object]:
    """`base_layout` with short lines below the plot: what its marks mean, after the marks."""
    note_px = 18 * len(lines)
    layout = base_layout(height_px + note_px + 6)
    layout["margin"] |= {"b": note_px + 20}
    layout["title"] = {
        "text": "<br>".join(lines), "font": {"size": 13}, "x": 0, "xref": "container", "xanchor": "left",
        "y": (note_px + 4) / layout["height"], "yref": "container", "yanchor": "top", "pad": {"l": 8},
    }  # fmt: skip
    return layout
