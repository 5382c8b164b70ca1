# SPDX-License-Identifier: Apache-2.0
"""The look of each reason why time passes: the same in the waterfall, in the timeline and in their tables."""

from __future__ import annotations

from quiclab.model.cause import BarStyle
from quiclab.report.figures import _style
from quiclab.report.figures._canvas import Spec
from quiclab.why.account import PLAYING, Why
from quiclab.why.account.levels import Part

_OTHER = BarStyle("#7f848a", "x")
_NO_WAIT = {PLAYING: BarStyle("#f3f5f7")}
LABELS = (*map(str, Why), *(part.label for part in Part))
"""All labels of stretches, in the order in which legends have them: reasons, and parts that one end can tell."""
_HEADINGS = {str(why): why.heading for why in Why} | {part.label: part.heading for part in Part}
_BY_NAME = (
    _NO_WAIT
    | {part.label: part.style for part in Part}
    | {name: why.style for why in Why for name in (str(why), why.heading)}
)


def reason_style(name: str) -> BarStyle:
    """The look of a reason, by its label or its heading; one for everything else."""
    return _BY_NAME.get(name, _OTHER)


def reason_heading(label: str) -> str:
    """Name of a label for readers; what is none stays as it is."""
    return _HEADINGS.get(label, label)


def ink(style: BarStyle) -> str:
    """Colour of words on a bar: the one that stands out more."""
    red, green, blue = (int(style.colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#111111" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"


def marker(style: BarStyle) -> Spec:
    """The marker of plotly's bars."""
    plain = {"color": style.colour, "line": {"width": 0}}
    if not style.pattern:
        return plain
    shape = {"shape": style.pattern, "size": style.spacing, "solidity": 0.3, "fgcolor": ink(style)}
    return plain | {"pattern": {"fillmode": "overlay"} | shape}


def reason_name(heading: str) -> str:
    """A reason's heading for plotly's labels, behind a square in its colour; only the heading of what is no reason."""
    square = f"<span style='color:{_BY_NAME[heading].colour}'>■</span> " if heading in _BY_NAME else ""
    return square + _style.text(heading)


def reason_colour(name: str) -> str:
    """Colour of a reason, by its label or its heading."""
    return reason_style(name).colour
