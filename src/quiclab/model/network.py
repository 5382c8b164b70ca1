# SPDX-License-Identifier: Apache-2.0
"""A path and what its link does to packets, as frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from quiclab.model.addresses import Addresses
from quiclab.model.bounds import (
    Bounds,
    Burst,
    Instant,
    OneWayDelay,
    Period,
    Repetition,
    SlotGap,
)
from quiclab.model.losses import Loss
from quiclab.model.nat import Nat
from quiclab.model.queue_management import Aqm
from quiclab.model.units import Bitrate, ByteCount, Duration, Share


@dataclass(frozen=True)
class RandomRate:
    """A rate that is drawn anew in each period, uniformly from a range, by each direction's stream of the block's seed.

    All arms of a block meet the same rates at the same instants, whatever they send.
    """

    least: Bitrate
    """The lowest rate."""
    most: Bitrate
    """The highest rate."""
    every: Period
    """The period; the first one begins when the first packet reaches the link."""

    def __str__(self) -> str:
        return f"drawn between {self.least} and {self.most} every {self.every}"

    @property
    def mean(self) -> Bitrate:
        """Mean rate, half way between the two: a queue in BDP, the access rate and the plan's times are calculated with
        it."""
        return Bitrate((self.least.bit_per_s + self.most.bit_per_s) // 2)


@dataclass(frozen=True)
class Queue:
    """The queue before the bottleneck, droptail without `aqm`. Every bound that is given holds at once."""

    bdp: float | None = None
    """Multiples of the bandwidth-delay product of the base path (rate × base RTT), never below 32 full packets. With a
    trace or a random rate, the mean rate counts."""
    packets: int | None = None
    """Number of whole IP packets, including the one in service."""
    bytes: ByteCount | None = None
    """Number of IP packet bytes, including all of the packet in service."""
    time: Duration | None = None
    """Longest time from the arrival of a packet to the departure of its last bit."""


@dataclass(frozen=True)
class Block:
    """A transport that is blocked: every packet of it is dropped, before loss and queue."""

    protocol: Literal["udp", "tcp"]
    """Transport protocol; UDP carries QUIC."""
    after: Instant = Duration(0)
    """Start, counted from the first packet that reached the link; at once by default."""

    def __str__(self) -> str:
        return f"{self.protocol} blocked"


@dataclass(frozen=True)
class Police:
    """A transport whose rate is policed: a packet that finds too few tokens in a bucket is dropped, and none waits."""

    protocol: Literal["udp", "tcp"]
    """Transport protocol; UDP carries QUIC."""
    rate: Bitrate
    """Rate at which the bucket fills, in IP packet bytes."""
    burst: Burst
    """Size of the bucket, which may pass at once. The bucket is full at first, and holds at least one full packet."""
    after: Instant = Duration(0)
    """Start, counted from the first packet that reached the link; at once by default."""

    def __str__(self) -> str:
        return f"{self.protocol} policed to {self.rate} with bursts of {self.burst}"


@dataclass(frozen=True)
class Oversize:
    """A size above which packets are lost: the MTU of this link, where it is smaller than that of the ends' devices
    (`mtu`). Where all of them are lost and nothing says so, the path is a black hole to path MTU discovery (RFC
    2923)."""

    above: Annotated[ByteCount, Bounds(ByteCount(28), ByteCount(65_535), "a size", "1300 B")]
    """Largest IP packet that always passes."""
    probability: Share = Share(1.0)
    """Probability that a larger packet is lost; all of them by default."""
    after: Instant = Duration(0)
    """Start, counted from the first packet that reached the link; at once by default."""
    too_big: Literal["black hole", "icmp"] = "black hole"
    """Answer to the sender of a packet that is lost so. `icmp`: "fragmentation needed" (RFC 1191) or, over IPv6,
    "packet too big" (RFC 8201), with `above` as the next hop's MTU; IPv4 packets that may be fragmented then
    pass as they are. `black hole`: none."""

    def __str__(self) -> str:
        share = "" if self.probability.value == 1 else f"{self.probability} of "
        told = ", their sender is told (ICMP)" if self.too_big == "icmp" else ""
        return f"{share}packets above {self.above.bytes} B lost{told}"


@dataclass(frozen=True)
class Slot:
    """Slots behind the bottleneck, in which packets leave together, as Wi-Fi aggregates and DOCSIS grants have them
    (netem's `slot`). When they open, no packet changes: all arms of a block meet the same slots."""

    least: SlotGap
    """Shortest time from one opening to the next. The first one is at the first packet that reached the link, or at the
    change that brings the slots."""
    most: SlotGap | None = None
    """Longest such time, where they differ: each time in between is as likely. The shortest by default."""
    packets: Annotated[int, Bounds(1, 10**6)] | None = None
    """Most packets that leave in one slot; while as many are held, the next one waits in the queue. None by default."""
    bytes: Burst | None = None
    """Most IP packet bytes that leave in one slot, as `packets`. None by default."""

    def __str__(self) -> str:
        times = f"{self.least}" if self.most is None else f"{self.least} to {self.most}"
        limits = [f"{self.packets} packets"] * (self.packets is not None) + [str(self.bytes)] * (self.bytes is not None)
        return f"packets held and let out together every {times}" + (
            f", at most {' and '.join(limits)}" if limits else ""
        )


@dataclass(frozen=True)
class Jitter:
    """Variation of the delay."""

    distribution: Literal["uniform", "normal", "pareto", "paretonormal"]
    """Shape of the variation. `pareto` and `paretonormal` are netem's: rare, long delays."""
    scale: Duration
    """Half width of `uniform`, standard deviation of `normal`; `pareto` and `paretonormal` scale as in netem."""
    mode: Literal["inorder", "reorder"] = "inorder"
    """`inorder` never reorders, and keeps its distribution at all packet rates; `reorder` draws each packet's delay
    independently, as netem does without a rate."""
    half_life: OneWayDelay | None = None
    """Time after which half of the delay's correlation with itself is left, for `inorder`. Four times the scale by
    default."""


@dataclass(frozen=True)
class Reorder:
    """Reordering: a share of the packets, drawn independently, is delayed by `extra_delay` and overtaken."""

    probability: Share
    """Probability that a packet is delayed."""
    extra_delay: Duration
    """Additional delay of such a packet."""

    def __str__(self) -> str:
        return f"{self.probability} overtaken by {self.extra_delay}"


@dataclass(frozen=True)
class Change:
    """A scheduled change: at `at`, counted from the first packet that reached the link, the settings that are given
    take new values.

    `rate`, `loss`, `jitter`, `reorder`, `aqm`, `block`, `police`, `oversize` and `slot` end with "none". Jitter and
    outages that are set again go on with their random course. A policer that comes or changes has a full bucket. A
    change begins at `at`: `after` of `block`, `police` and `oversize` is only for those of the direction itself.
    """

    at: Duration
    """Time of the change, counted from the first packet that reached the link."""
    rate: Bitrate | Literal["none"] | None = None
    """Bottleneck rate over IP packet bytes; with "none" packets leave as fast as they come, and those in the queue at
    once. It cannot change where a trace gives it or where it is drawn by chance."""
    delay: Duration | None = None
    loss: Loss | Literal["none"] | None = None
    queue: Queue | None = None
    jitter: Jitter | Literal["none"] | None = None
    reorder: Reorder | Literal["none"] | None = None
    duplicate: Share | None = None
    corrupt: Share | None = None
    aqm: Aqm | Literal["none"] | None = None
    block: Block | Literal["none"] | None = None
    police: Police | Literal["none"] | None = None
    oversize: Oversize | Literal["none"] | None = None
    slot: Slot | Literal["none"] | None = None


@dataclass(frozen=True)
class Direction:
    """One direction of a link."""

    rate: Bitrate | RandomRate | None = None
    """Bottleneck rate over IP packet bytes, or a range in which it is drawn by chance; None is unlimited."""
    burst: Burst | None = None
    """Size of a token bucket that shapes the rate, as Linux's tbf: the bucket is full at first and fills at `rate`, and
    a packet is sent as soon as it has tokens for all of it. So a burst passes at once after a pause, and what follows
    waits in the queue. None by default: each packet takes its time at the rate."""
    peak_rate: Bitrate | None = None
    """Rate at which packets that have their tokens are sent, above `rate`. None by default: they take no time."""
    delay: Duration = Duration(0)
    """One-way delay, constant."""
    delay_trace: str | None = None
    """File of recorded one-way delays, absolute or relative to the spec, in place of `delay`: a line has an instant and
    the delay from then on, both in milliseconds. The last one stays, unless `repeat` begins anew. Packets keep their
    order. `delay` is the least of them then, which the base RTT counts with."""
    edge: Bitrate | None = None
    """Access rate before the bottleneck; None is no such limit. Where the spec gives a rate but no edge, it becomes
    max(1 Gbit/s, 10 × rate), so that bursts arrive as from a real network card."""
    overhead: ByteCount = ByteCount(0)
    """Framing bytes that each packet takes time for at edge and rate. Queues, policers and logs count IP bytes."""
    queue: Queue = field(default_factory=lambda: Queue(bdp=1.0))
    """Bounds of the queue before the bottleneck. One BDP by default, at least 32 full packets. Without a rate there is
    no queue."""
    aqm: Aqm | None = None
    """Management of the queue. None (droptail) by default. The queue's bounds hold as well, and none of them may be a
    time. Queues by flow (`fq_codel`) cannot come or go while a trial runs."""
    block: Block | None = None
    """Transport that is blocked, as some operators block UDP. None by default."""
    police: Police | None = None
    """Transport whose rate is policed. None by default."""
    oversize: Oversize | None = None
    """Size above which packets are lost, behind the policer and before `loss`. None by default."""
    slot: Slot | None = None
    """Slots behind the bottleneck, in which packets leave together. None by default."""
    jitter: Jitter | None = None
    """Variation of the delay. None by default."""
    loss: Loss | None = None
    """Random or listed loss. None by default; a full queue drops as well."""
    loss_at: Literal["entry", "exit"] = "entry"
    """Place of the loss: before the queue (`entry`) or behind it (`exit`)."""
    loss_as: Literal["drop", "ecn mark"] = "drop"
    """Fate of a packet that `loss` hits by chance. `ecn mark`: it is marked "congestion experienced" where it is
    ECN-capable, and is dropped else (netem's `ecn`). Packets of a list, and those of `drop`, are always dropped."""
    loss_by: Literal["index", "class", "bytes", "super-packet"] = "index"
    """Key by which packets of two arms share a draw of `loss`. `index`: their number in the direction. `class`: their
    number among those of their class, packets of at least 600 bytes or smaller ones. `bytes`: for those of at least 600
    bytes the 1500 bytes of such packets in which they begin, so that two or three of them may be lost together; for
    smaller ones as `class`. `super-packet`: all that the sender's host hands over as one (by TSO or GSO several
    segments), as Linux's netem draws; jitter by packet, `reorder` and `duplicate` are drawn so, too. Each packet is
    lost with the probability that `loss` gives, whatever stands here."""
    drop: Addresses | None = None
    """Packets that are lost beside those of `loss`, by what they are. None by default."""
    spare: Addresses | None = None
    """Packets that `loss` does not hit, by what they are: what would change without this loss? None by default."""
    reorder: Reorder | None = None
    """Packets that are overtaken on purpose. None by default."""
    duplicate: Share = Share(0.0)
    """Share of packets that arrive twice."""
    duplicate_correlation: Share | None = None
    """Probability that a packet arrives twice, or not, as the one before it did; the share stays `duplicate`. None by
    default."""
    corrupt: Share = Share(0.0)
    """Share of packets in which one bit is flipped."""
    corrupt_correlation: Share | None = None
    """Probability that a packet is corrupted, or not, as the one before it was; the share stays `corrupt`. None by
    default."""
    schedule: tuple[Change, ...] = ()
    """Changes while the trial runs; settings that a change does not name stay."""
    repeat: Repetition | None = None
    """Period of the schedule: after each such time from the first packet on, the settings that it changes have their
    first values again, and its changes come anew, as a satellite network of 15 s has it. None by default: changes come
    once."""
    trace: str | None = None
    """File with a Mahimahi trace, absolute or relative to the spec: it replaces `rate`."""


@dataclass(frozen=True)
class Link:
    """One of several links of a path. Keys given once hold for both directions; `up` and `down` override."""

    name: str
    """Name of the link, by which a proxy behind it is placed; the same name gives the same draws of loss and jitter."""
    up: Direction = Direction()
    """Client to server."""
    down: Direction = Direction()
    """Server to client."""
    profile: str = ""
    """Named path that provides the values to start with; `quiclab paths` lists all with their sources. Every other key
    overrides it."""
    nat: Nat | None = None
    """Translation of the client's ports at the link's client side. None by default."""


@dataclass(frozen=True)
class Path:
    """A named path. Its only link is described by keys of its own; several links in a row each by a `[[path.link]]`, in
    order from client to server, with a node between each two, which forwards IP. Keys given once hold for both
    directions; `up` and `down` override."""

    name: str
    """Name of the path in cells, files and commands."""
    up: Direction = Direction()
    """Client to server, over the link at the client."""
    down: Direction = Direction()
    """Server to client, over the link at the client."""
    mtu: int = 1500
    """Largest IP packet, in bytes."""
    ip_version: Literal[4, 6] = 4
    """IPv4 or IPv6; IPv6 needs an MTU of at least 1280."""
    title: str = ""
    """Title of the path in tables and figures; the profile's title or the name by default."""
    profile: str = ""
    """Named path that provides the values to start with; `quiclab paths` lists all with their sources. Every other key
    overrides it."""
    nat: Nat | None = None
    """Translation of the client's ports, at the link at the client. None by default."""
    link_name: str = "bottleneck"
    """Name of the link at the client."""
    more_links: tuple[Link, ...] = ()
    """Links behind the one at the client."""

    @property
    def links(self) -> tuple[Link, ...]:
        """All links, from client to server."""
        return Link(self.link_name, self.up, self.down, nat=self.nat), *self.more_links

    @property
    def base_rtt(self) -> Duration:
        """Round-trip time over all links without queueing or serialisation."""
        return Duration(sum(link.up.delay.ns + link.down.delay.ns for link in self.links))
