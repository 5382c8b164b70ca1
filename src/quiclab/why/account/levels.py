# SPDX-License-Identifier: Apache-2.0
"""Levels of evidence: what recordings an account can be made from, and which parts of the time each can tell.

Each part is a union of the reasons of the full account. That of a lower level is the sum of these, within the
uncertainty that it states; `coarsening.py` holds one against the other.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from quiclab.model.cause import UNIONS, BarStyle, Why


class Level(enum.StrEnum):
    """Evidence of one transfer, from the most to the least."""

    # A lookup by name has none of the words: `Level("E1")`.
    def __new__(cls, name: str, recorded: str = "") -> Level:
        member = str.__new__(cls, name)
        member._value_, member.recorded = name, recorded
        return member

    recorded: str
    """Records of this level, as the rest of a sentence."""

    E0 = "E0", "both ends, the link's log and the endpoints' logs"
    E1 = "E1", "the client's capture with its keys"
    E2 = "E2", "the client's capture without keys"
    E3 = "E3", "the client's qlog or NetLog alone"
    E4 = "E4", "the server's qlog alone"
    E5 = "E5", "a capture between client and server, or at the server"


class Part(enum.StrEnum):
    """A part of the time that can be told from one end, in the order in which parts are reported."""

    # A lookup by name has none of the words: `Part("waits")`.
    def __new__(
        cls, name: str, heading: str = "", phrase: str = "", definition: str = "", like: Why = Why.UNEXPLAINED
    ) -> Part:
        member = str.__new__(cls, name)
        member._value_, member.heading, member.phrase, member.definition = name, heading, phrase, definition
        member.style = like.style
        return member

    heading: str
    """Name of the part for readers."""
    phrase: str
    """A difference in it, as a clause: `{}` stands for `12 ms longer`, two further ones for the bytes of both."""
    definition: str
    """Observation where time belongs to the part, in a sentence."""
    style: BarStyle
    """Style of the part in figures: that of the label that most of it has in a full account."""

    @property
    def label(self) -> str:
        """Label of the part in figures, where those of a full account may stand beside it."""
        return f"part-{self}"

    SET_UP = (
        "set_up", "handshake", "the handshake takes {}",
        "From the client's first packet to the first of its packets that can carry a request.",
        Why.SET_UP,
    )  # fmt: skip
    CLIENT = (
        "client", "client before its request", "the client takes {} to send its request",
        "From the end of the handshake at the client, where the recording shows when the request was sent, until then: "
        "nothing of the path. Where it does not show that, this is in `set_up` and `request`.",
        Why.BROWSER,
    )  # fmt: skip
    REQUEST = (
        "request", "request to answer", "the way from the request to the answer takes {}",
        "From there until the answer's first packet is served by the path: both ways, and the server.",
        Why.REQUEST,
    )  # fmt: skip
    ARRIVING = (
        "arriving", "data arriving", "data arrive for {} ({} against {})",
        "The time that the bytes of the answer take at the path's rate.",
        Why.LINK_BUSY,
    )  # fmt: skip
    ANSWER = (
        "answer", "whole answer", "the answer takes {} from its first byte to its last",
        "From its first packet to its last byte, undivided: packets came in bunches, or may have waited beyond the "
        "recording, so that nothing shows the path's rate, which would tell arriving data from waits.",
        Why.LAST_FLIGHT,
    )  # fmt: skip
    WAITS = (
        "waits", "waits", "waits in which nothing arrives take {}",
        "The rest, until the last byte: nothing of the answer was being served.",
        Why.AWAITING_ACKS,
    )  # fmt: skip
    WINDOW_FULL = (
        "window_full", "congestion window full", "waits for a full congestion window take {}",
        "Waits that ended with a packet for which the congestion window had had no room.",
        Why.WINDOW,
    )  # fmt: skip
    CREDIT_USED_UP = (
        "credit_used_up", "flow-control limited", "waits for flow-control credit take {}",
        "Waits that ended with a packet for which stream or connection had had no credit.",
        Why.CONNECTION_CREDIT,
    )  # fmt: skip
    OTHER_WAITS = (
        "other_waits", "other waits", "other waits take {}",
        "Waits that ended otherwise: a timer, pacing, the server's program, or no log says.",
    )  # fmt: skip


BEFORE_ANSWER = (Part.SET_UP, Part.CLIENT, Part.REQUEST)
"""Parts before the answer, in their order."""

_SET_UP = (*UNIONS[Why.SET_UP], Why.SET_UP, Why.AMPLIFICATION_LIMIT, Why.SET_UP_LOSS)
_REQUEST = (Why.REQUEST, Why.LAST_FLIGHT)
_ARRIVING = (Why.LINK_BUSY,)
_WAITS = tuple(why for why in Why if why not in (*_SET_UP, *_REQUEST, *_ARRIVING))
_WINDOW = (*UNIONS[Why.WINDOW], Why.WINDOW)
_CREDIT = (Why.STREAM_CREDIT, Why.CONNECTION_CREDIT)
_OTHER = tuple(why for why in _WAITS if why not in (*_WINDOW, *_CREDIT))
_ONE_END = {Part.SET_UP: _SET_UP, Part.REQUEST: _REQUEST, Part.ARRIVING: _ARRIVING}

PARTS: Mapping[Level, Mapping[Part, tuple[Why, ...]]] = {
    Level.E1: {**_ONE_END, Part.WAITS: _WAITS},
    Level.E2: {**_ONE_END, Part.WAITS: _WAITS},
    Level.E3: {**_ONE_END, Part.WAITS: _WAITS},
    Level.E4: {**_ONE_END, Part.WINDOW_FULL: _WINDOW, Part.CREDIT_USED_UP: _CREDIT, Part.OTHER_WAITS: _OTHER},
    Level.E5: {**_ONE_END, Part.WAITS: _WAITS},
}
"""Level → its parts, each with the reasons of the full account that it sums up. Every reason is in one part."""


def members(level: Level, part: Part) -> tuple[Why, ...]:
    """The reasons that a part sums up. `ANSWER` stands for all after the request, where packets show no rate; `CLIENT`
    divides what is before it, and no reason is its own."""
    if part is Part.CLIENT:
        return ()
    return PARTS[level].get(part, (*_ARRIVING, *_WAITS))


@dataclass(frozen=True)
class Shared:
    """A part that two levels can tell, and the parts of each that it sums up."""

    part: Part
    of_first: tuple[Part, ...]
    of_second: tuple[Part, ...]


def shared(first: Level, second: Level) -> list[Shared]:
    """The finest parts that both levels support: a difference of anything finer would be one of logging."""
    groups: list[tuple[set[Why], set[Part], set[Part]]] = []
    for own, other, parts in ((0, 1, PARTS[first]), (1, 0, PARTS[second])):
        for part, whys in parts.items():
            sides: list[set[Part]] = [set(), set()]
            sides[own], sides[other] = {part}, set()
            joined = (set(whys), sides[0], sides[1])
            for group in [each for each in groups if each[0] & joined[0]]:
                groups.remove(group)
                joined = (joined[0] | group[0], joined[1] | group[1], joined[2] | group[2])
            groups.append(joined)
    order = list(Part)
    found = [
        Shared(_name(of_first | of_second), _in_order(of_first), _in_order(of_second))
        for _, of_first, of_second in groups
    ]
    return sorted(found, key=lambda each: order.index(each.part))


def _name(parts: set[Part]) -> Part:
    return next(iter(parts)) if len(parts) == 1 else Part.WAITS


def _in_order(parts: set[Part]) -> tuple[Part, ...]:
    return tuple(part for part in Part if part in parts)
