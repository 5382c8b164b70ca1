# SPDX-License-Identifier: Apache-2.0
"""A mechanism: a way in which a transfer loses time, how a trial shows it, and what takes it away."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._trial import Trial


class Family(enum.StrEnum):
    """Part of a transfer in which a mechanism takes time, in the order in which mechanisms are listed."""

    SET_UP = "handshake"
    WINDOW = "congestion window"
    CREDIT = "flow control and buffers"
    RECOVERY = "loss recovery"
    BYTES = "wire overhead"
    PATH = "the path"
    PROGRAMS = "the programs"


@dataclass(frozen=True)
class Rival:
    """A mechanism that looks alike, and what tells the two apart."""

    name: str
    """Name of the other mechanism."""
    told_apart_by: str
    """Observation that only one of the two explains, as a clause."""


@dataclass(frozen=True)
class Setting:
    """A key of a spec that moves a mechanism: what a run without it changes."""

    table: str
    """Table of the key: `sender` (the program that sends the bodies), `receiver`, `client`, `server`, `proxy`, `tcp`,
    `certificate` or `path`."""
    key: str
    """Name of the knob, of TCP's setting, or of the path's effect."""
    value: str | int | float | bool | tuple[str, ...]
    """Value at which the mechanism is gone, or as small as it gets."""
    gain: str
    """Purpose, as a user would set it: one sentence."""
    also_changes: tuple[str, ...] = ()
    """Other effects of the change, each as a clause: nothing that is listed here is proof by itself."""
    doses: tuple[str | int | float, ...] = ()
    """Values between which the mechanism shrinks in order, from the most of it to the least; empty of a switch."""
    levels: bool = False
    """True if the mechanism stays there, and only what an arm has more of it than another one goes."""


def settings_of_both_transports(
    key: str,
    value: str | int | float | bool,
    gain: str,
    also_changes: tuple[str, ...] = (),
    doses: tuple[str | int | float, ...] = (),
) -> tuple[Setting, Setting]:
    """A key that has the same name and meaning as a knob of the bodies' sender over QUIC and as a setting of TCP."""
    sender, tcp = (Setting(table, key, value, gain, also_changes, doses) for table in ("sender", "tcp"))
    return sender, tcp


@dataclass(frozen=True)
class Fact:
    """A number that a trial shows of a mechanism."""

    name: str
    """Identifier within the mechanism, such as `losses`."""
    value: float
    unit: str
    """Unit of `value`; empty of counts."""


@dataclass(frozen=True)
class Claim:
    """Evidence of a mechanism in one trial."""

    edges: pl.Series
    """Flags of the account's edges, true for each whose time is the mechanism's: Boolean, in their order."""
    facts: tuple[Fact, ...] = ()
    against: str = ""
    """Evidence against it, or what was looked for in vain, as a sentence; "" where nothing was."""


@dataclass(frozen=True)
class Follows:
    """Condition on which a mechanism's time may differ between two arms for another one's sake: an edge of the graph of
    causes.

    Where none of the numbers of a trial (`_measures.py`) differs between the arms that way, the mechanism is itself as
    much in one as in the other, and a mechanism upstream that takes longer in the same arm is what differs.
    """

    upstream: tuple[str, ...]
    """Mechanisms that lengthen it, or make it more frequent."""
    more: tuple[str, ...] = ()
    """Numbers that are larger where the mechanism itself takes more."""
    less: tuple[str, ...] = ()
    """Numbers that are smaller there."""
    any_sender: bool = False
    """True where its time does not depend on what sends, so that arms with different senders are compared, too."""


@dataclass(frozen=True)
class Divides:
    """Mechanisms whose time one is a part of, and the number by which it is told from them.

    It claims no edge of an account. Where that number of a trial (`_measures.py`) is smaller in the arm that has more
    of it, its part of their time is its own: what they share is no difference between the arms.
    """

    mechanisms: tuple[str, ...]
    by: str
    """Name of the number."""


class Transport(enum.StrEnum):
    """Transport below HTTP."""

    TCP = "TCP"
    QUIC = "QUIC"


class Each(enum.StrEnum):
    """Time of one unit of a counted fact."""

    ROUND_TRIP = "round trip"
    """The least round trip of the path."""
    BYTE = "byte"
    """Service of it at the bottleneck."""


@dataclass(frozen=True)
class Counted:
    """A count of a mechanism that protocols and settings fix, and no chance: where the arms differ by as much in every
    pair, and time goes with it, the records show the difference by themselves."""

    fact: str
    """Name of the fact."""
    each: Each
    unit: str = ""
    """Unit of the fact; empty of counts."""


@dataclass(frozen=True)
class Mechanism:
    """Everything that quiclab says of one mechanism, and how a trial's time is held against it."""

    name: str
    """Identifier in tables and on the command line."""
    title: str
    """Name for readers, as a noun phrase: "reduction of the window at a loss of the path"."""
    family: Family
    what: str
    """Event in the transfer, in a sentence or two."""
    shows: str
    """Evidence in the records, in a sentence: which edges of the account are its time."""
    level: Level
    """Least evidence that can show it."""
    source: str
    """RFC section, paper or thread that describes it."""
    claim: Callable[[Trial], Claim]
    """Finds the mechanism's part of a trial's account. An edge belongs to the first mechanism of the registry that
    claims it."""
    rivals: tuple[Rival, ...] = ()
    settings: tuple[Setting, ...] = ()
    """Settings that take it away, the one that changes least else first; empty where no program here has one."""
    follows: Follows | None = None
    """Mechanisms upstream of it; None where its time is always its own."""
    reasons: tuple[Why, ...] = ()
    """Reasons whose time its claim can take. Where the records show no more than a union of some (`UNIONS`), it is one
    of those that may have taken the time."""
    activities: tuple[What, ...] = ()
    """Activities whose time its claim takes, whatever the reason is; empty of a mechanism that reasons tell."""
    needs: str = ""
    """A number of a trial (`_measures.py`) without which it takes no time; empty where none is."""
    transports: frozenset[Transport] = frozenset(Transport)
    """Transports that can have it at all: it cannot be given to an arm over another one."""
    counted: Counted | None = None
    """Part of it that protocols and settings fix; None where chance has a part in all of it."""
    divides: Divides | None = None
    """Mechanisms whose time it is a part of; None of one that claims edges for itself."""
