# SPDX-License-Identifier: Apache-2.0
"""Ends of links: at every place there are a device for each of its links, the place's addresses, and routes to all
other places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from quiclab.lab.testbed.namespace import NetworkNamespace, RouteMetrics

Side = Literal["client", "server"]
"""Side of a link: the end nearer to the client, or the other one."""
SIDES: tuple[Side, ...] = ("client", "server")
PREFIXES = {4: 24, 6: 64}


@dataclass(frozen=True)
class LinkPlace:
    """A place where programs run, or packets are forwarded."""

    namespace: NetworkNamespace
    own: Mapping[int, str]
    """Addresses of the place by IP version."""
    route: RouteMetrics | None
    """TCP's settings on its routes."""
    more: Sequence[str] = ()
    """Further addresses of the place."""
    later: Sequence[str] = ()
    """Addresses of the place once it has changed its network."""

    @property
    def all(self) -> list[str]:
        """All addresses by which the place is reached."""
        return [*self.own.values(), *self.more, *self.later]


@dataclass(frozen=True)
class Span:
    """The two places that a link connects, by their numbers from client to server."""

    number: int
    """Number of the link, from 0."""
    client: int
    server: int

    @property
    def device(self) -> str:
        """Name of the device at both ends."""
        return f"link{self.number}"

    def ends_at(self, place: int) -> bool:
        """True if one of the link's ends is at that place."""
        return place in (self.client, self.server)

    def mac(self, side: Side, of: Literal["end", "link", "near"]) -> str:
        """The Ethernet address of an end, of the link as this end sees it, or of the near device of the pair to it.

        The link reads what an end sends before it goes through the pair. It is not addressed to the device there, so
        that the kernel drops it as soon as it sees it.
        """
        return f"02:00:00:{self.number:02x}:0{SIDES.index(side) + 1}:0{('end', 'link', 'near').index(of) + 1}"


@dataclass(frozen=True)
class Ends:
    """The ends of all links of a path."""

    places: Sequence[LinkPlace]
    """Places in order from client to server."""
    row: Sequence[Span]
    """Links between the places, in the same order."""
    mtu: int
    later: Span | None = None
    """The client's link once it has changed its network, which ends where its first one does."""
    ethernet: bool = False
    """True if the devices have Ethernet addresses."""

    @property
    def spans(self) -> list[Span]:
        """Spans of all links, in the order of their numbers."""
        return [*self.row, *([] if self.later is None else [self.later])]

    def configure(self) -> None:
        """Bring all devices up, with addresses and routes: a client has none yet in the network that it changes to."""
        for number, place in enumerate(self.places):
            for span in self.spans:
                if not span.ends_at(number):
                    continue
                far = self._behind(span, number)
                if span is self.later:
                    routed = [] if number == 0 else far
                    place.namespace.configure_node(span.device, mtu=self.mtu, own=[], far=routed, route=place.route)
                elif number in (0, len(self.places) - 1):
                    own = {address: PREFIXES[version] for version, address in place.own.items()}
                    place.namespace.configure(span.device, mtu=self.mtu, addresses=own, route=place.route)
                    if place.more:
                        place.namespace.add_addresses(span.device, place.more)
                else:
                    own_here = [*place.own.values(), *place.more]
                    place.namespace.configure_node(span.device, mtu=self.mtu, own=own_here, far=far, route=place.route)
                if self.ethernet:
                    mac = span.mac("client" if number == span.client else "server", "link")
                    for address in far:
                        place.namespace.neighbour(span.device, address, mac)

    def _behind(self, span: Span, number: int) -> list[str]:
        """Addresses that lie behind a link, as one of the places at its ends sees it."""
        if number == span.client:
            return [address for place in self.places[span.server :] for address in place.all]
        client, *others = self.places[: span.client + 1]
        if self.later is None or number != self.later.server:
            return [address for place in (client, *others) for address in place.all]
        return list(client.later) if span is self.later else list(client.own.values())
