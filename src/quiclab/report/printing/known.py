# SPDX-License-Identifier: Apache-2.0
"""The part of plotly's figures that pictures have: anything else is refused, so that no picture lacks it unseen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from quiclab.model.errors import SpecError
from quiclab.report.figures._canvas import Spec
from quiclab.report.printing.labels import INSTEAD
from quiclab.report.printing.symbols import DASHES, HATCHES, SYMBOLS

_ON_SCREEN = {
    "hoverinfo", "hoverlabel", "hovermode", "hoveron", "hoverongaps", "hovertemplate", "hovertext", "customdata",
    "meta", "dragmode", "fixedrange", "selectedpoints", "legendrank", "uid", "template", "simplify", "uniformtext",
    "offsetgroup", "alignmentgroup", "constraintext", "scalegroup", "hoverdistance", "ticks", "automargin",
    "legendgroup",
}  # fmt: skip
"""Properties of a figure that is looked at on a screen, or that a picture follows in any case, such as `automargin`."""

_AXES = {"xaxis", "yaxis"}
_NAME = {"type", "name", "showlegend", "visible"}
_SYMBOL = {"marker.color", "marker.size", "marker.symbol", "marker.opacity", "marker.line.color", "marker.line.width",
           "marker.angleref"}  # fmt: skip
_BAR = {"marker.color", "marker.line.color", "marker.line.width", "marker.opacity", "marker.pattern.shape",
        "marker.pattern.fillmode", "marker.pattern.size", "marker.pattern.solidity",
        "marker.pattern.fgcolor"}  # fmt: skip
_SPREAD = {"x", "y", "orientation", "width", "jitter", "pointpos", "line.color", "line.width", "fillcolor"}
_ERRORS = {f"error_y.{name}" for name in ("type", "symmetric", "array", "arrayminus", "thickness", "width", "visible")}
_FONT = {"font.size", "font.color"}

TRACES: dict[str, set[str]] = {
    "scatter": {"x", "y", "mode", "text", "textposition", "textfont.size", "textfont.color", "line.color", "line.width",
                "line.dash", "line.shape", "opacity", "cliponaxis", "connectgaps"}
    | _ERRORS | _SYMBOL | _NAME | _AXES,
    "bar": {"x", "y", "base", "width", "orientation", "text", "textposition", "textangle", "insidetextanchor",
            "insidetextfont.color", "insidetextfont.size", "textfont.size", "textfont.color", "cliponaxis", "opacity"}
    | _ERRORS | _BAR | _NAME | _AXES,
    "box": {"boxpoints"} | _SPREAD | _SYMBOL | _NAME | _AXES,
    "violin": {"points", "spanmode", "meanline.visible"} | _SPREAD | _SYMBOL | _NAME | _AXES,
    "heatmap": {"x", "y", "z", "zmin", "zmax", "zmid", "colorscale", "showscale", "text", "texttemplate", "xgap",
                "ygap", "textfont.size", "textfont.color"}
    | _NAME | _AXES,
    "table": {"columnwidth"} | _NAME
    | {f"{part}.{name}" for part in ("header", "cells")
       for name in ("values", "align", "height", "fill.color", "line.color", "line.width", "font.size")},
}  # fmt: skip
"""Properties of each kind of trace that are drawn."""

_AXIS = {
    "anchor", "autorange", "categoryarray", "categoryorder", "domain", "dtick", "matches", "nticks", "position",
    "range", "rangemode", "showgrid", "showticklabels", "side", "tickangle", "tickfont.size", "ticktext", "tickvals",
    "tickmode", "title.text", "title.standoff", "type", "visible", "zeroline", "zerolinewidth", "gridcolor",
    "linecolor", "zerolinecolor",
} | {f"title.{name}" for name in _FONT}  # fmt: skip
_LAYOUT = {
    "height", "width", "margin.l", "margin.r", "margin.t", "margin.b", "paper_bgcolor", "plot_bgcolor", "showlegend",
    "barmode", "bargap", "bargroupgap", "font.color", "font.size",
    *(f"legend.{name}" for name in ("orientation", "x", "y", "xanchor", "yanchor", "traceorder")),
    *(f"title.{name}" for name in ("text", "x", "y", "xref", "yref", "xanchor", "yanchor", "pad.l", *_FONT)),
    *(f"annotations[].{name}" for name in (
        "text", "x", "y", "xref", "yref", "xanchor", "yanchor", "xshift", "yshift", "showarrow", "align", "ax", "ay",
        "axref", "ayref", "arrowhead", "arrowsize", "arrowwidth", "arrowcolor", *_FONT)),
    *(f"shapes[].{name}" for name in (
        "type", "x0", "x1", "y0", "y1", "xref", "yref", "layer", "fillcolor", "line.width", "line.color")),
    *(f"images[].{name}" for name in (
        "source", "x", "y", "xref", "yref", "xanchor", "yanchor", "sizex", "sizey", "sizing", "layer")),
}  # fmt: skip

_SIDES = frozenset(f"{down} {across}" for down in ("top", "middle", "bottom") for across in ("left", "center", "right"))
_WORDS: dict[str, frozenset[object]] = {
    "scatter.mode": frozenset(
        {"lines", "markers", "text", "lines+markers", "markers+text", "lines+text", "lines+markers+text"}
    ),
    "scatter.textposition": _SIDES,
    "scatter.line.shape": frozenset({"linear", "hv"}),
    "scatter.line.dash": frozenset(DASHES),
    "scatter.connectgaps": frozenset({False}),
    "scatter.marker.angleref": frozenset({"previous"}),
    "scatter.error_y.type": frozenset({"data"}),
    "bar.error_y.type": frozenset({"data"}),
    "bar.textposition": frozenset({"inside", "outside", "none", "auto"}),
    "bar.insidetextanchor": frozenset({"middle"}),
    "bar.textangle": frozenset({0}),
    "bar.marker.pattern.shape": frozenset(HATCHES),
    "bar.marker.pattern.fillmode": frozenset({"overlay"}),
    "box.boxpoints": frozenset({"all"}),
    "box.orientation": frozenset({"h"}),
    "violin.points": frozenset({"all"}),
    "violin.spanmode": frozenset({"hard"}),
    "violin.orientation": frozenset({"h"}),
    "heatmap.texttemplate": frozenset({"%{text}"}),
    "heatmap.showscale": frozenset({False}),
    "axis.type": frozenset({"-", "linear", "log", "category", "multicategory"}),
    "axis.autorange": frozenset({True, False, "reversed"}),
    "axis.rangemode": frozenset({"normal", "tozero", "nonnegative"}),
    "axis.categoryorder": frozenset({"array", "trace"}),
    "axis.tickmode": frozenset({"array", "auto", "linear"}),
    "axis.tickangle": frozenset({0, "auto"}),
    "axis.anchor": frozenset({"free"}),
    "barmode": frozenset({"overlay", "group", "stack"}),
    "legend.orientation": frozenset({"h"}),
    "legend.traceorder": frozenset({"normal"}),
    "title.xref": frozenset({"container"}),
    "title.yref": frozenset({"container"}),
    "annotations[].arrowhead": frozenset({2}),
    "shapes[].type": frozenset({"rect"}),
    "shapes[].layer": frozenset({"below"}),
    "images[].sizing": frozenset({"contain"}),
}
"""Values that are drawn, of properties that are words."""
_AXIS_NAME = re.compile(r"([xy])axis(\d*)")


def check(figure: Spec) -> None:
    """Raise SpecError for the first thing in a figure that no picture has."""
    for trace in figure["data"]:
        kind = trace.get("type", "scatter")
        if kind not in TRACES:
            raise _refused(f"a trace of the kind {kind!r}")
        for path, value in _flat(trace):
            if path not in TRACES[kind]:
                raise _refused(f"`{path}` of a {kind} trace")
            symbols = value if isinstance(value, list) else [value]
            if path == "marker.symbol" and not SYMBOLS.issuperset(symbols):
                raise _refused(f"the symbol {next(each for each in symbols if each not in SYMBOLS)!r}")
            _check_word(f"{kind}.{path}", value)
    for key, value in figure["layout"].items():
        axis = _AXIS_NAME.fullmatch(key)
        for path, part in _flat(value if axis else {key: value}):
            if path not in (_AXIS if axis else _LAYOUT):
                raise _refused(f"`{path}` of {'an axis' if axis else 'the layout'}")
            if axis and path == "anchor" and re.fullmatch(r"[xy]\d*", str(part)):
                continue
            _check_word(f"axis.{path}" if axis else path, part)


def _flat(node: Spec, above: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in node.items():
        path = f"{above}{name}"
        if name in _ON_SCREEN or value is None:
            continue
        if isinstance(value, dict):
            yield from _flat(value, f"{path}.")
        elif isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            for each in value:
                yield from _flat(each, f"{path}[].")
        else:
            yield path, value


def _check_word(path: str, value: Any) -> None:
    words = _WORDS.get(path)
    if words is not None and (isinstance(value, list | dict) or value not in words):
        raise _refused(f"{path.replace('.', ' ')} {str(value)[:40]!r}")


def _refused(what: str) -> SpecError:
    return SpecError(f"pictures cannot have {what}, which this figure has", INSTEAD)
