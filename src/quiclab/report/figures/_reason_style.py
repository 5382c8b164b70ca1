# SPDX-License-Identifier: Apache-2.0
"""The look of each reason why time passes: the same in the waterfall, in the timeline and in their tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from quiclab.report.figures import _style
from quiclab.why.account import PLAYING, Why


@dataclass(frozen=True)
class ReasonStyle:
    """How one reason looks."""

    colour: str
    pattern: str = ""
    """Pattern of bars; empty is a full bar."""

    @property
    def ink(self) -> str:
        """Colour of words on it: the one that stands out more."""
        red, green, blue = (int(self.colour[place : place + 2], 16) for place in (1, 3, 5))
        return "#111111" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"

    @property
    def marker(self) -> dict[str, Any]:
        """The marker of its bars."""
        return {"color": self.colour, "line": {"width": 0}} | (
            {"pattern": {"shape": self.pattern, "fillmode": "overlay", "size": 6, "solidity": 0.3, "fgcolor": self.ink}}
            if self.pattern
            else {}
        )


_OTHER = ReasonStyle("#7f848a", "x")
_NO_WAIT = {PLAYING: ReasonStyle("#f3f5f7")}
_BY_NAME = _NO_WAIT | {name: ReasonStyle(why.colour, why.pattern) for why in Why for name in (str(why), why.heading)}


def reason_style(name: str) -> ReasonStyle:
    """The look of a reason, by its label or its heading; one for everything else."""
    return _BY_NAME.get(name, _OTHER)


def reason_name(heading: str) -> str:
    """A reason's heading for plotly's labels, behind a square in its colour; only the heading of what is no reason."""
    square = f"<span style='color:{_BY_NAME[heading].colour}'>■</span> " if heading in _BY_NAME else ""
    return square + _style.text(heading)


def reason_colour(name: str) -> str:
    """Colour of a reason, by its label or its heading."""
    return reason_style(name).colour
