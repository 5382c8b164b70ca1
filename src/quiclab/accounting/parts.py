# SPDX-License-Identifier: Apache-2.0
"""The parts of a transfer's time, each defined by what the packets show and by nothing else."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Part(enum.StrEnum):
    """One part of the time to the last byte, in the order in which they are reported."""

    SET_UP = "set_up"
    REQUEST = "request"
    BUSY = "busy"
    IDLE_AWAITING = "idle_awaiting"
    IDLE_AWAITING_AFTER_LOSS = "idle_awaiting_after_loss"
    IDLE_UNPROMPTED = "idle_unprompted"
    LAST_FLIGHT = "last_flight"

    @property
    def heading(self) -> str:
        """Name of the part for readers, as in a heading."""
        return _WORDS[self].heading

    @property
    def definition(self) -> str:
        """What is observed where time belongs to this part, in a sentence."""
        return _WORDS[self].definition


PROMPT_NS = 1_000_000
"""Longest time from a packet's arrival at the server to a packet that the server sent because of it.

A choice, which docs/explanation/account.md holds against what was measured.
"""


@dataclass(frozen=True)
class _Words:
    heading: str
    definition: str


_WORDS = {
    Part.SET_UP: _Words(
        "set-up",
        "From the client's first packet to its first packet that can carry the request (setup_ms).",
    ),
    Part.REQUEST: _Words(
        "request",
        "From there until the bottleneck begins to serve the first packet of the server that followed the request's "
        "arrival.",
    ),
    Part.BUSY: _Words(
        "bottleneck busy",
        "The bottleneck serves packets towards the client: data, headers, and what is sent again or lost behind it.",
    ),
    Part.IDLE_AWAITING: _Words(
        "idle, awaiting ACKs",
        "The bottleneck has nothing to serve until a packet of the client reaches the server, which sends within 1 ms "
        "of it; nothing of the response has been lost so far. The server waits for acknowledgments or credit.",
    ),
    Part.IDLE_AWAITING_AFTER_LOSS: _Words(
        "idle, awaiting ACKs after loss",
        "The same, after the first loss of a packet of the response.",
    ),
    Part.IDLE_UNPROMPTED: _Words(
        "idle, server unprompted",
        "The bottleneck has nothing to serve until the server sends more than 1 ms after the last packet that reached "
        "it: pacing, a loss timer, the program or the processor, which packets alone do not tell apart.",
    ),
    Part.LAST_FLIGHT: _Words(
        "last flight",
        "From the end of service of the packet that completes the response to its arrival at the client.",
    ),
}
