# SPDX-License-Identifier: Apache-2.0
"""`competition`: the other flows that use the link while a workload runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from quiclab.model.units import Bitrate, ByteCount, Duration
from quiclab.spec import kinds
from quiclab.spec.nodes import Kind, Node, ReportedError, build

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


COMPETITOR_KEYS: Mapping[str, Kind[Any]] = {
    "arm": kinds.NAME,
    "workload": kinds.NAME,
    "count": kinds.whole(1, MOST_FLOWS),
    "start": kinds.INSTANT,
}
BACKGROUND_KEYS: Mapping[str, Kind[Any]] = {
    "kind": kinds.choice(("udp", "on_off", "short_flows")),
    "rate": kinds.quantity(Bitrate, "a rate", "2 Mbit/s", Bitrate(1000), Bitrate(10**9)),
    "packet": kinds.quantity(ByteCount, "a size", "1200 B", ByteCount(16), ByteCount(9000)),
    "on": kinds.TIME,
    "off": kinds.TIME,
    "flow_size": kinds.quantity(ByteCount, "a size", "20 KB", ByteCount(1), ByteCount(10**9)),
    "count": kinds.whole(1, MOST_FLOWS),
    "start": kinds.INSTANT,
}
_ONLY: Mapping[str, tuple[str, ...]] = {
    "packet": ("udp", "on_off"),
    "on": ("on_off",),
    "off": ("on_off",),
    "flow_size": ("short_flows",),
}
_COMPETITOR: Kind[Competitor] = Kind(
    'a table such as {arm = "h2"}', lambda node: build(Competitor, node, COMPETITOR_KEYS)
)


def _read_background(node: Node) -> Background:
    background = build(Background, node, BACKGROUND_KEYS)
    wrong = [key for key, of in _ONLY.items() if key in node.value and background.kind not in of]
    for key in wrong:
        node.child(key).report(f'it is for {" and ".join(_ONLY[key])}, not for "{background.kind}"; leave it out')
    if wrong:
        raise ReportedError
    return background


_BACKGROUND: Kind[Background] = Kind('a table such as {kind = "udp", rate = "2 Mbit/s"}', _read_background)
COMPETITION_KEYS: Mapping[str, Kind[Any]] = {
    "duration": kinds.TIMEOUT,
    "start": kinds.INSTANT,
    "start_spread": kinds.TIME,
    "competitors": kinds.several(_COMPETITOR, 'an array of tables such as [{arm = "h2", count = 2}]'),
    "background": kinds.several(_BACKGROUND, 'an array of tables such as [{kind = "udp", rate = "2 Mbit/s"}]'),
}


def _read_competition(node: Node) -> Competition:
    competition = build(Competition, node, COMPETITION_KEYS)
    if competition.flows > MOST_FLOWS:
        node.report(f"there are {competition.flows} flows beside the measured one; at most {MOST_FLOWS} are possible")
    if competition.duration is not None:
        starts = [competition.start, *(each.start + competition.start_spread for each in competition.others)]
        if max(starts) >= competition.duration:
            node.report(
                f"a flow starts at {max(starts)}, and all end at {competition.duration}; write an earlier start"
            )
    elif not competition.flows:
        node.report('it is empty; write "duration", "competitors" or "background"')
    return competition


COMPETITION: Kind[Competition] = Kind(
    'a table such as {duration = "60 s", competitors = [{arm = "h2", count = 2}]}', _read_competition
)
