# SPDX-License-Identifier: Apache-2.0
"""A path and what its link does to packets, as frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from quiclab.units import Bitrate, ByteCount, Duration, Share


@dataclass(frozen=True)
class RandomRate:
    """A rate drawn anew in each period, each of the range as likely, by each direction's stream of the block's seed.

    All arms of a block meet the same rates at the same instants, whatever they send.
    """

    least: Bitrate
    """The smallest."""
    most: Bitrate
    """The largest."""
    every: Duration
    """The period; the first one begins when the first packet reaches the link."""

    @property
    def mean(self) -> Bitrate:
        """Half way between the two: what a queue in BDP, the access rate and the plan's times count with."""
        return Bitrate((self.least.bit_per_s + self.most.bit_per_s) // 2)


@dataclass(frozen=True)
class Queue:
    """The queue before the bottleneck, droptail without `aqm`: every bound that is given holds at once."""

    bdp: float | None = None
    """Multiples of the bandwidth-delay product of the base path (rate × base RTT), never below 32 full packets. Of a
    trace and of a random rate the mean counts."""
    packets: int | None = None
    """Whole IP packets, the one in service included."""
    bytes: ByteCount | None = None
    """IP packet bytes, all of the packet in service included."""
    time: Duration | None = None
    """Longest time from the arrival of a packet to the departure of its last bit."""


@dataclass(frozen=True)
class CoDel:
    """Controlled delay (RFC 8289): drops, or marks, while every packet of an interval waited longer than the target."""

    target: Duration = Duration(5_000_000)
    """A standing queue of so much time is accepted."""
    interval: Duration = Duration(100_000_000)
    """For how long it may be longer; of the order of a round trip."""
    ecn: bool = False
    """Packets of senders that understand ECN are marked "congestion experienced" where others are dropped."""


@dataclass(frozen=True)
class FqCoDel:
    """Flows take turns, each with a queue of its own under CoDel; a new flow goes first (RFC 8290)."""

    target: Duration = CoDel.target
    """As in `codel`."""
    interval: Duration = CoDel.interval
    """As in `codel`."""
    ecn: bool = False
    """As in `codel`."""
    quantum: ByteCount = ByteCount(1514)
    """What a flow may send in a turn."""
    flows: int = 1024
    """Number of queues: addresses, ports and protocol of a packet say by a hash which one it joins."""


@dataclass(frozen=True)
class Step:
    """As L4S wants it (RFC 9331): marks every ECT(1) packet that waited longer than a threshold; drops none of them."""

    threshold: Duration = Duration(1_000_000)
    """Longest time in the queue without a mark."""


Aqm = CoDel | FqCoDel | Step


@dataclass(frozen=True)
class Block:
    """A transport that is not let in: every packet of it is dropped, before loss and queue."""

    protocol: Literal["udp", "tcp"]
    """UDP carries QUIC."""
    after: Duration = Duration(0)
    """From when on, counted from the first packet that reached the link; from the start by default."""


@dataclass(frozen=True)
class Police:
    """A transport whose rate is policed: a packet that finds too few tokens in a bucket is dropped, and none waits."""

    protocol: Literal["udp", "tcp"]
    """UDP carries QUIC."""
    rate: Bitrate
    """How fast the bucket fills, over IP packet bytes."""
    burst: ByteCount
    """What the bucket holds: as much may pass at once. It is full at first, and holds at least one full packet."""
    after: Duration = Duration(0)
    """From when on, counted from the first packet that reached the link; from the start by default."""


@dataclass(frozen=True)
class Jitter:
    """Variation of the delay."""

    distribution: Literal["uniform", "normal", "pareto", "paretonormal"]
    """Shape of the variation. `pareto` and `paretonormal` are netem's: rare, long delays."""
    scale: Duration
    """Half width of `uniform`, standard deviation of `normal`; `pareto` and `paretonormal` scale as in netem."""
    mode: Literal["inorder", "reorder"] = "inorder"
    """`inorder` never reorders, and keeps its distribution at all packet rates; `reorder` draws each packet by itself,
    as netem does without a rate."""
    half_life: Duration | None = None
    """`inorder`: the time after which half of the delay's correlation with itself is left. Four times the scale by
    default."""


@dataclass(frozen=True)
class Bernoulli:
    """Each packet is lost by itself with this probability."""

    probability: Share
    """Of each packet."""


@dataclass(frozen=True)
class GilbertElliott:
    """Two states, one transition draw per packet: bursts are counted in packets."""

    good_to_bad: Share
    """Probability, per packet, of leaving the good state."""
    bad_to_good: Share
    """Probability, per packet, of leaving the bad state: its inverse is the mean burst in packets."""
    loss_good: Share = Share(0.0)
    """Probability of loss in the good state."""
    loss_bad: Share = Share(1.0)
    """Probability of loss in the bad state."""


@dataclass(frozen=True)
class Bursts:
    """Gilbert–Elliott in continuous time: both protocols meet the same outages, whatever their packet rates."""

    mean_good: Duration
    """Mean length of a good period; lengths are exponential."""
    mean_bad: Duration
    """Mean length of a bad period; lengths are exponential."""
    loss_good: Share = Share(0.0)
    """Probability of loss in the good state."""
    loss_bad: Share = Share(1.0)
    """Probability of loss in the bad state."""


@dataclass(frozen=True)
class DropList:
    """Exactly these packets are lost: numbers of IP packets of the workload in this direction, from 0."""

    packets: tuple[int, ...]
    """Numbers of the packets."""


Loss = Bernoulli | GilbertElliott | Bursts | DropList


@dataclass(frozen=True)
class Reorder:
    """This share of packets, by itself, gets `extra_delay` and is overtaken."""

    probability: Share
    """Of each packet."""
    extra_delay: Duration
    """How much later such a packet arrives."""


@dataclass(frozen=True)
class Change:
    """At `at` (since the first packet reached the link) the settings that are given take new values.

    `aqm`, `block` and `police` end with "none". A policer that comes or changes has a full bucket; its and a block's
    `after` are for the direction's own, as a change begins at `at`.
    """

    at: Duration
    """When, counted from the first packet that reached the link."""
    rate: Bitrate | None = None
    """Bottleneck rate over IP packet bytes. It cannot change where a trace gives it or where it is drawn by chance."""
    delay: Duration | None = None
    loss: Loss | None = None
    queue: Queue | None = None
    jitter: Jitter | None = None
    reorder: Reorder | None = None
    duplicate: Share | None = None
    corrupt: Share | None = None
    aqm: Aqm | Literal["none"] | None = None
    block: Block | Literal["none"] | None = None
    police: Police | Literal["none"] | None = None


@dataclass(frozen=True)
class Direction:
    """One direction of a link."""

    rate: Bitrate | RandomRate | None = None
    """Bottleneck rate over IP packet bytes, or a range in which it is drawn by chance; None is unlimited."""
    delay: Duration = Duration(0)
    """One way, constant."""
    edge: Bitrate | None = None
    """Access rate before the bottleneck: None means none. Where a rate is set and the spec is silent, the reader
    puts max(1 Gbit/s, 10 × rate) here, so that bursts arrive as from a real network card."""
    overhead: ByteCount = ByteCount(0)
    """Framing added to each packet in the rate and the queue."""
    queue: Queue = field(default_factory=lambda: Queue(bdp=1.0))
    """Before the bottleneck. One BDP by default, at least 32 full packets. Without a rate there is no queue."""
    aqm: Aqm | None = None
    """How the queue is managed. None, droptail, by default; the queue's bounds hold besides, and none may be a time.
    Queues by flow (`fq_codel`) cannot come or go while a trial runs."""
    block: Block | None = None
    """A transport that is not let in, as some operators do with UDP. None by default."""
    police: Police | None = None
    """A transport whose rate is policed. None by default."""
    jitter: Jitter | None = None
    """Variation of the delay. None by default."""
    loss: Loss | None = None
    """Random or listed loss. None by default; a full queue drops as well."""
    loss_at: Literal["entry", "exit"] = "entry"
    """Whether loss stands before the queue or behind it."""
    reorder: Reorder | None = None
    """Packets that are overtaken on purpose. None by default."""
    duplicate: Share = Share(0.0)
    """Share of packets that arrive twice."""
    corrupt: Share = Share(0.0)
    """Share of packets in which one bit is flipped."""
    schedule: tuple[Change, ...] = ()
    """Changes while the trial runs; whatever a change does not name stays."""
    trace: str | None = None
    """Path of a Mahimahi trace, absolute or beside the spec: replaces `rate`."""


@dataclass(frozen=True)
class Link:
    """One of several links of a path. Keys given once hold for both directions; `up` and `down` override."""

    name: str
    """Names it where a proxy stands behind it; the same name gives the same draws of loss and jitter."""
    up: Direction = Direction()
    """Client to server."""
    down: Direction = Direction()
    """Server to client."""
    profile: str = ""
    """The named path that it begins with: `quiclab paths` lists them with their sources. Every other key overrides."""


@dataclass(frozen=True)
class Path:
    """A named path. Its only link is described by keys of its own; several links in a row each by a `[[path.link]]`, in
    order from client to server, with a node between two that forwards IP. Keys given once hold for both directions;
    `up` and `down` override."""

    name: str
    """Name in cells, files and commands."""
    up: Direction = Direction()
    """Client to server, over the link at the client."""
    down: Direction = Direction()
    """Server to client, over the link at the client."""
    mtu: int = 1500
    """Bytes of an IP packet."""
    ip_version: Literal[4, 6] = 4
    """IPv4 or IPv6; IPv6 needs an MTU of at least 1280."""
    title: str = ""
    """What tables and figures call it; the profile's title or the name by default."""
    profile: str = ""
    """The named path that it begins with: `quiclab paths` lists them with their sources. Every other key overrides."""
    link_name: str = "bottleneck"
    """Name of the link at the client."""
    more_links: tuple[Link, ...] = ()
    """The links behind it."""

    @property
    def links(self) -> tuple[Link, ...]:
        """All links, from client to server."""
        return Link(self.link_name, self.up, self.down), *self.more_links

    @property
    def base_rtt(self) -> Duration:
        """Round-trip time over all links without queueing or serialisation."""
        return Duration(sum(link.up.delay.ns + link.down.delay.ns for link in self.links))
