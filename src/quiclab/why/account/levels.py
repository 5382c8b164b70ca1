# SPDX-License-Identifier: Apache-2.0
"""Levels of evidence: what recordings an account can be made from, and which parts of the time each can tell.

Each part is a union of the reasons of the full account. That of a lower level is the sum of these, within the
uncertainty that it states; `coarsening.py` holds one against the other.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from quiclab.model.cause import UNIONS, Why


class Level(enum.StrEnum):
    """Evidence of one transfer, from the most to the least."""

    E0 = "E0"
    E1 = "E1"
    E2 = "E2"
    E3 = "E3"
    E4 = "E4"

    @property
    def recorded(self) -> str:
        """Records of this level, as the rest of a sentence."""
        return _TITLES[self]


class Part(enum.StrEnum):
    """A part of the time that can be told from one end, in the order in which parts are reported."""

    SET_UP = "set_up"
    REQUEST = "request"
    ARRIVING = "arriving"
    ANSWER = "answer"
    WAITS = "waits"
    WINDOW_FULL = "window_full"
    CREDIT_USED_UP = "credit_used_up"
    OTHER_WAITS = "other_waits"

    @property
    def heading(self) -> str:
        """Name of the part for readers."""
        return _HEADINGS[self]

    @property
    def definition(self) -> str:
        """Observation where time belongs to the part, in a sentence."""
        return _DEFINITIONS[self]


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
}
"""Level → its parts, each with the reasons of the full account that it sums up. Every reason is in one part."""


def members(level: Level, part: Part) -> tuple[Why, ...]:
    """The reasons that a part sums up. `ANSWER` stands for all after the request, where packets show no rate."""
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


_TITLES = {
    Level.E0: "both ends, the link's log and the endpoints' logs",
    Level.E1: "the client's capture with its keys",
    Level.E2: "the client's capture without keys",
    Level.E3: "the client's qlog or NetLog alone",
    Level.E4: "the server's qlog alone",
}
_HEADINGS = {
    Part.SET_UP: "set-up",
    Part.REQUEST: "request to answer",
    Part.ARRIVING: "data arriving",
    Part.ANSWER: "answer",
    Part.WAITS: "waits",
    Part.WINDOW_FULL: "congestion window full",
    Part.CREDIT_USED_UP: "credit used up",
    Part.OTHER_WAITS: "other waits",
}
_DEFINITIONS = {
    Part.SET_UP: "From the client's first packet to the first of its packets that can carry a request.",
    Part.REQUEST: "From there until the answer's first packet is served by the path: both ways, and the server.",
    Part.ARRIVING: "The time that the bytes of the answer take at the path's rate.",
    Part.ANSWER: "Both of these, where packets came in bunches, which show no rate.",
    Part.WAITS: "The rest, until the last byte: nothing of the answer was being served.",
    Part.WINDOW_FULL: "Waits that ended with a packet for which the congestion window had had no room.",
    Part.CREDIT_USED_UP: "Waits that ended with a packet for which stream or connection had had no credit.",
    Part.OTHER_WAITS: "Waits that ended otherwise: a timer, pacing, the server's program, or no log says.",
}
