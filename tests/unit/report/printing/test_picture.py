# SPDX-License-Identifier: Apache-2.0
"""Pictures: what they show lies where it belongs, and what they cannot show is refused."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from plotly.graph_objects import Figure as Checked

from quiclab.model.errors import SpecError
from quiclab.model.units import Length
from quiclab.report.figures import _style
from quiclab.report.printing import PrintSize, printed
from quiclab.report.printing.labels import label
from quiclab.report.printing.picture import Drawing
from quiclab.report.printing.spread import quartiles
from quiclab.report.printing.symbols import SYMBOLS, symbol_path

LINE = {"type": "scatter", "x": [0, 10], "y": [0, 5], "mode": "lines", "name": "h2"}


def _figure(*traces: dict[str, Any], **layout: Any) -> dict[str, Any]:
    return {"data": list(traces) or [LINE], "layout": {"height": 300} | layout}


def _texts(figure: dict[str, Any]) -> list[str]:
    root = ElementTree.fromstring(printed(figure, "svg"))
    return ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize(
    ("figure", "told"),
    [
        (_figure({"type": "pie", "values": [1]}), "'pie'"),
        (_figure(LINE | {"fill": "tozeroy"}), "`fill` of a scatter trace"),
        (_figure(LINE | {"line": {"shape": "spline"}}), "'spline'"),
        (_figure(LINE | {"mode": "markers", "marker": {"symbol": "asterisk"}}), "'asterisk'"),
        (_figure({"type": "box", "x": [1, 2], "y": ["a", "a"], "orientation": "v", "boxpoints": "all"}), "'v'"),
        (_figure(xaxis={"type": "date"}), "'date'"),
        (_figure(yaxis={"ticksuffix": " ms"}), "`ticksuffix` of an axis"),
        (_figure(shapes=[{"type": "circle"}]), "'circle'"),
        (_figure(polar={"hole": 1}), "`polar.hole` of the layout"),
        (_figure(xaxis={"title": {"text": "<sup>2</sup>"}}), "<sup>"),
        (_figure(LINE | {"name": "名"}, LINE, showlegend=True), "U+540D"),
    ],
)
def test_what_no_picture_has_is_refused_by_its_name(figure: dict[str, Any], told: str) -> None:
    """The error names the property, and says that a page has all of it."""
    with pytest.raises(SpecError) as refused:
        printed(figure, "pdf")
    assert told in str(refused.value)
    assert ".html" in str(refused.value.hint)


@pytest.mark.parametrize("name", ["$x^2$", "a & b", "<i>", r"\alpha_1", "100 %", "“ü”", "a\N{NO-BREAK SPACE}b"])
def test_names_stay_as_they_are(name: str) -> None:
    """No letter of a name means anything to what draws it."""
    traces = [LINE | {"name": _style.text(name)}, LINE | {"name": "other"}]
    assert name in _texts(_figure(*traces, showlegend=True))


def test_a_pdf_is_the_same_each_time() -> None:
    """The file holds no date and no random name, so that a repository of a paper sees no change."""
    for kind in ("pdf", "svg", "png"):
        assert printed(_figure(), kind) == printed(_figure(), kind)


def test_values_lie_where_their_marks_are() -> None:
    """On linear, logarithmic and named axes, also where they run down."""
    drawing = Drawing(
        _figure(
            LINE | {"x": [1, 100], "y": ["a", "b"]}, xaxis={"type": "log"}, yaxis={"autorange": "reversed"}
        ), 760
    )  # fmt: skip
    x, y = drawing.axes["x"], drawing.axes["y"]
    assert x.at(10) == pytest.approx((x.at(1) + x.at(100)) / 2)
    assert y.at("a") < y.at("b")  # pixels go down
    assert [text for _, text in y.marks()] == ["a", "b"]
    assert all(drawing.plot.left <= x.pixel(place) <= drawing.plot.right for place, _ in x.marks())


@pytest.mark.parametrize(("mode", "ends"), [("stack", [3.0, 7.0]), ("group", [3.0, 4.0]), ("overlay", [3.0, 4.0])])
def test_bars_stand_on_or_beside_each_other(mode: str, ends: list[float]) -> None:
    """Each ends where its value says."""
    bars = [{"type": "bar", "x": ["a"], "y": [length], "name": str(length)} for length in (3.0, 4.0)]
    drawing = Drawing(_figure(*bars, barmode=mode), 760)
    ((_, group),) = drawing.bar_groups().items()
    drawn = [bar for place in (0, 1) for bar in group.placed(place, drawing.axes["x"])]
    assert [bar.end for bar in drawn] == ends
    assert (drawn[0].middle < drawn[1].middle) == (mode == "group")


def test_quartiles_are_plotlys() -> None:
    """Quartiles of 1 to 5 are 1.75 and 4.25, as in the example of plotly's documentation."""
    assert quartiles(np.array([1.0, 2, 3, 4, 5])) == (1.75, 3.0, 4.25)


def test_a_long_text_beyond_a_bar_stays_on_the_paper() -> None:
    """The range grows for it, also one that the figure asks for."""
    bar = {"type": "bar", "x": [1.0], "y": ["a"], "orientation": "h", "text": ["+1.0 ms (−16.2 … +18.2)"],
           "textposition": "outside"}  # fmt: skip
    canvas = Drawing(_figure(bar, xaxis={"range": [0, 1.05]}), 400).draw(1.0)
    assert not list(canvas.misfits())


def test_marks_of_a_narrow_axis_do_not_run_into_each_other() -> None:
    """There are fewer of them."""
    figure = _figure(LINE | {"x": [0, 10_000_000]})
    size = PrintSize.asked(Length.parse("3cm"), Length.parse("8pt"))
    assert printed(figure, "pdf", size)


def test_lines_break_between_words_and_not_before_a_unit() -> None:
    """`1 % loss` has one place to break at."""
    lines = label("10 Mbit/s, 1 % loss", 12, "#000000").wrapped(80).lines
    assert ["".join(run.text for run in line) for line in lines] == ["10 Mbit/s,", "1 % loss"]


@pytest.mark.parametrize("place", range(_style.ARM_STYLES))
def test_every_arm_has_a_symbol_and_a_dash_that_pictures_have(place: int) -> None:
    """Full and open, as plotly checks them too."""
    style = _style.arm_style(place)
    traces = []
    for symbol in (style.marker, f"{style.marker}-open"):
        assert symbol in SYMBOLS
        assert len(symbol_path(symbol).vertices) > 2
        traces.append(LINE | {"mode": "lines+markers", "line": {"dash": style.dash}, "marker": {"symbol": symbol}})
    assert Checked(traces)
    assert re.match(rb"%PDF-", printed(_figure(*traces), "pdf"))


def test_letters_of_an_asked_width_are_smaller_where_that_has_room() -> None:
    """Down to 6pt; a font that is asked for stays."""
    long = {"type": "heatmap", "x": ["a", "b"], "y": ["row"], "z": [[1, 2]], "text": [["inconclusive"] * 2],
            "texttemplate": "%{text}", "colorscale": [[0, "#e6e7e9"], [1, "#bfe6d9"]]}  # fmt: skip
    figure = _figure(long, xaxis={"type": "category"}, yaxis={"type": "category", "automargin": True})
    width = next(at for at in (Length.parse(f"{mm} mm") for mm in range(30, 90)) if _fits(figure, at, None))
    assert not _fits(figure, width, Length.parse("8 pt"))
    assert _fits(figure, width, Length.parse("6 pt"))


def test_where_no_letters_have_room_it_is_told_what_would() -> None:
    """A width and a font, each of which works."""
    wide = {"type": "heatmap", "x": list("abcde"), "y": ["row"], "z": [[1] * 5], "text": [["inconclusive"] * 5],
            "texttemplate": "%{text}", "colorscale": [[0, "#e6e7e9"], [1, "#bfe6d9"]]}  # fmt: skip
    figure = _figure(wide, xaxis={"type": "category"}, yaxis={"type": "category"}, margin={"l": 8, "r": 8})
    narrow = Length.parse("6 cm")
    with pytest.raises(SpecError, match=r"no room for its labels at 6\.0 cm in 6pt: inconclusive") as refused:
        printed(figure, "pdf", PrintSize.asked(narrow, None))
    told = re.fullmatch(r"give it --width ([0-9.]+cm) --font (6pt), or --font ([0-9.]+pt)", refused.value.hint)
    assert told is not None
    assert _fits(figure, Length.parse(told[1]), Length.parse(told[2]))
    assert _fits(figure, narrow, Length.parse(told[3]))


def _fits(figure: dict[str, Any], width: Length, font: Length | None) -> bool:
    try:
        printed(figure, "svg", PrintSize.asked(width, font))
    except SpecError:
        return False
    return True
