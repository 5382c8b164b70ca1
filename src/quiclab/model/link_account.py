# SPDX-License-Identifier: Apache-2.0
"""A link's account of a trial, as link.json and the member `link` of trial.json have it."""

from __future__ import annotations

import msgspec

Number = int | float


class ChosenPacket(msgspec.Struct, frozen=True):
    """A packet that the spec chose, by its number among those of its kind."""

    of: str
    """Kind of packets that are counted."""
    number: int


class ChosenPackets(msgspec.Struct, frozen=True):
    """Packets that were to be dropped or spared."""

    missed: tuple[ChosenPacket, ...] = ()
    """Packets among them that never came."""


class LinkSide(msgspec.Struct, frozen=True):
    """One direction of a link."""

    packets_in: int | None = None
    bytes_in: int | None = None
    delivered: int | None = None
    delivered_bytes: int | None = None
    marked: int | None = None
    """Packets that were marked with CE."""
    corrupted: int | None = None
    dropped: dict[str, int] = msgspec.field(default_factory=dict)
    """Packets by the reason for which they were dropped."""
    drop: ChosenPackets = ChosenPackets()
    spare: ChosenPackets = ChosenPackets()


class LinkDirections(msgspec.Struct, frozen=True):
    """Both directions of one link."""

    up: LinkSide = LinkSide()
    down: LinkSide = LinkSide()
    lateness: dict[str, Number] = msgspec.field(default_factory=dict)
    """Percentiles of how late packets left (`p99_ns`), their number and their largest lateness."""


class LinkAccount(LinkDirections, frozen=True):
    """The account of the first link, with those of the others in it. Empty where the link left none."""

    sound: bool | None = None
    """False if the link did not do what it was to do: a trial over it is void. None in an empty account."""
    unsound_reasons: tuple[str, ...] = ()
    slice_ns: int | None = None
    """The scheduler's slice that the link got."""
    gave_way_ns: int | None = None
    """Instant at which the link gave up its precedence over other programs."""
    shared: bool = False
    """True if the link's process served several trials at a time."""
    runs_at_once: int = 1
    """Number of trials that the link's process served at a time, at most."""
    more_links: tuple[LinkDirections, ...] = ()

    @property
    def is_told(self) -> bool:
        """False of an empty account."""
        return self.sound is not None

    @property
    def each_link(self) -> tuple[LinkDirections, ...]:
        """All links of the trial, the client's first."""
        return (self, *self.more_links)
