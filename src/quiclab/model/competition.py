# SPDX-License-Identifier: Apache-2.0
"""`competition`: the other flows that use the link while a workload runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from quiclab.model.units import Bitrate, ByteCount, Duration

MOST_FLOWS = 50
"""Most flows of a competition beside the measured one."""


@dataclass(frozen=True)
class Competitor:
    """Downloads that compete: clients and servers of their own, behind the same link as the measured ones."""

    arm: str
    """Name of the arm whose programs and TCP settings the competitor has."""
    workload: str | None = None
    """Name of the workload that the competitor runs. None is the workload that it competes with."""
    count: int = 1
    """Number of competitors of this kind."""
    start: Duration = Duration(0)
    """Time from the start of the competition to the competitor's request."""


@dataclass(frozen=True)
class Background:
    """Traffic that is not HTTP, from server to client, by small programs of our own."""

    kind: Literal["udp", "on_off", "short_flows"]
    """`udp`: datagrams at a constant rate. `on_off`: such datagrams for `on`, then nothing for `off`, over and over.
    `short_flows`: TCP connections that begin at random (a Poisson process) and carry `flow_size` each."""
    rate: Bitrate
    """Rate in IP packet bytes while datagrams are sent; for short flows the long-run rate of their payload, all flows
    together."""
    packet: ByteCount = ByteCount(1200)
    """Payload of each datagram."""
    on: Duration = Duration(10**9)
    """Time for which `on_off` sends at a time."""
    off: Duration = Duration(10**9)
    """Time for which `on_off` is silent at a time."""
    flow_size: ByteCount = ByteCount(20_000)
    """Payload of each connection of `short_flows`."""
    count: int = 1
    """Number of such sources of traffic."""
    start: Duration = Duration(0)
    """Time from the start of the competition to the start of the traffic."""


@dataclass(frozen=True)
class Competition:
    """Several flows through one bottleneck. The arm whose turn it is in the block runs the measured flow; all arms of a
    block meet the same other flows."""

    duration: Duration | None = None
    """Time after which all flows are ended, which is no failure: give the workload a `size` that cannot be transferred
    in that time. None: the competition lasts until the measured client has ended, and the others must have enough to
    do until then."""
    start: Duration = Duration(0)
    """Time from the start of the competition to the request of the measured client."""
    start_spread: Duration = Duration(0)
    """Bound of the random delay by which each of the other flows starts later, the same for all arms of a block."""
    competitors: tuple[Competitor, ...] = ()
    """Competing downloads, each by an arm of the spec."""
    background: tuple[Background, ...] = ()
    """Traffic that is not HTTP."""

    @property
    def others(self) -> tuple[Competitor | Background, ...]:
        """All flows beside the measured one, as the spec groups them."""
        return *self.competitors, *self.background

    @property
    def flows(self) -> int:
        """Number of flows beside the measured one."""
        return sum(each.count for each in self.others)
