# SPDX-License-Identifier: Apache-2.0
"""The look of each reason why time passes: the same in the waterfall, in the timeline and in their tables.

Reasons of one family share a hue: windows orange, credit and buffers blue, losses and timers red, the sender itself
green, set-up violet. A busy link is grey, since nothing waits then but for the link. Any two reasons have another
pattern or another lightness, so that none is told by its hue alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from quiclab.report.figures import _style
from quiclab.why.account import PLAYING, Why


@dataclass(frozen=True)
class ReasonStyle:
    """Look of one reason."""

    colour: str
    pattern: str = ""
    """Pattern of bars; empty is a full bar."""
    spacing: int = 6
    """Distance of the pattern's lines or dots, in pixels."""

    @property
    def ink(self) -> str:
        """Colour of words on it: the one that stands out more."""
        red, green, blue = (int(self.colour[place : place + 2], 16) for place in (1, 3, 5))
        return "#111111" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"

    @property
    def marker(self) -> dict[str, Any]:
        """The marker of its bars."""
        plain = {"color": self.colour, "line": {"width": 0}}
        if not self.pattern:
            return plain
        shape = {"shape": self.pattern, "size": self.spacing, "solidity": 0.3, "fgcolor": self.ink}
        return plain | {"pattern": {"fillmode": "overlay"} | shape}


_STYLES = {
    Why.TCP_HANDSHAKE: ReasonStyle("#6a3fb5", "/"),
    Why.TLS_ROUND_TRIP: ReasonStyle("#9b7bd4", "x"),
    Why.QUIC_HANDSHAKE: ReasonStyle("#6a3fb5", "|"),
    Why.HELLO_RETRY_REQUEST: ReasonStyle("#9b7bd4", "+"),
    Why.RETRY: ReasonStyle("#9b7bd4", "."),
    Why.AMPLIFICATION_LIMIT: ReasonStyle("#4b2a86", "."),
    Why.SET_UP: ReasonStyle("#6a3fb5", "/", 12),
    Why.SET_UP_LOSS: ReasonStyle("#7d1128", "x"),
    Why.REQUEST: ReasonStyle("#14746f", "/"),
    Why.BROWSER: ReasonStyle("#8d6e63", "."),
    Why.PLAYER: ReasonStyle("#5d4037", "/"),
    Why.CHANGE_OF_ADDRESS: ReasonStyle("#5d4037", "\\"),
    Why.ORIGIN: ReasonStyle("#8d6e63", "\\"),
    Why.LINK_BUSY: ReasonStyle("#c3c8ce"),
    Why.SLOW_START: ReasonStyle("#f2b04c", "/"),
    Why.WINDOW_AFTER_LOSS: ReasonStyle("#d55e00"),
    Why.WINDOW_AFTER_EXIT: ReasonStyle("#d55e00", "|"),
    Why.WINDOW: ReasonStyle("#e58a3c", "x"),
    Why.STREAM_CREDIT: ReasonStyle("#1f63a0"),
    Why.CONNECTION_CREDIT: ReasonStyle("#1f63a0", "-"),
    Why.LATER_REQUEST: ReasonStyle("#14746f", "|"),
    Why.STREAM_LIMIT: ReasonStyle("#16456f"),
    Why.RECEIVE_WINDOW: ReasonStyle("#56b4e9"),
    Why.SEND_BUFFER: ReasonStyle("#56b4e9", "\\"),
    Why.CONTESTED: ReasonStyle("#7f7fbf", "/", 12),
    Why.LOSS_DETECTION: ReasonStyle("#cc79a7"),
    Why.AWAITING_ACKS: ReasonStyle("#a67c52", "-"),
    Why.LOSS_TIMER: ReasonStyle("#b3123f", "\\"),
    Why.PROBE_TIMER: ReasonStyle("#b3123f", "+"),
    Why.PACING: ReasonStyle("#009e73", "\\"),
    Why.NAGLE: ReasonStyle("#009e73", "\\", 12),
    Why.CORK: ReasonStyle("#009e73", "x", 12),
    Why.KEPT_IN_KERNEL: ReasonStyle("#009e73", "-", 12),
    Why.APPLICATION: ReasonStyle("#006b4e", "x"),
    Why.SCHEDULING: ReasonStyle("#7ccfb2", "x"),
    Why.PACING_OR_PROGRAM: ReasonStyle("#7ccfb2", "\\"),
    Why.PROCESSOR: ReasonStyle("#8a6d1f", "x"),
    Why.LABORATORY: ReasonStyle("#5c5c5c", "."),
    Why.UNEXPLAINED: ReasonStyle("#33363b", "/"),
    Why.LAST_FLIGHT: ReasonStyle("#7f848a", "/"),
    Why.ANSWER: ReasonStyle("#14746f", "/", 12),
}
_OTHER = ReasonStyle("#7f848a", "x")
_NO_WAIT = {PLAYING: ReasonStyle("#f3f5f7")}
_BY_NAME = _NO_WAIT | {name: style for why, style in _STYLES.items() for name in (str(why), why.heading)}


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
