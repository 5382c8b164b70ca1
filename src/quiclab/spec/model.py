# SPDX-License-Identifier: Apache-2.0
"""The resolved spec as frozen dataclasses. The text under each field is its reference: meaning, unit, why this default.

A spec is a matrix: every workload over every path by every arm, `blocks` times. Nothing here reads files or knows a
program; `quiclab.spec.read` turns TOML into these, and `quiclab.plan` turns these into trials.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from quiclab.spec.program import PLACEHOLDERS, Knobs, Program
from quiclab.units import Bitrate, ByteCount, Duration, Share

__all__ = ["PLACEHOLDERS", "Knobs", "Program"]  # part of the model, in a file of their own

Protocol = Literal["h1", "h2", "h3"]
"""Versions of HTTP, as ALPN names them except for h1. Arms compare h2 and h3; h1 is what a proxy may speak behind."""
Role = Literal["client", "server", "proxy"]


@dataclass(frozen=True)
class Queue:
    """The queue before the bottleneck: droptail; every bound that is given holds at once."""

    bdp: float | None = None
    """Multiples of the bandwidth-delay product of the base path (rate × base RTT), never below 32 full packets."""
    packets: int | None = None
    """Whole IP packets, the one in service included."""
    bytes: ByteCount | None = None
    """IP packet bytes, all of the packet in service included."""
    time: Duration | None = None
    """Longest time from the arrival of a packet to the departure of its last bit."""


@dataclass(frozen=True)
class Jitter:
    """Variation of the delay."""

    distribution: Literal["uniform", "normal", "pareto", "paretonormal"]
    """Shape of the variation. `pareto` and `paretonormal` are netem's: rare, long delays."""
    scale: Duration
    """Half width of `uniform`, standard deviation of `normal`; `pareto` and `paretonormal` scale as in netem."""
    mode: Literal["inorder", "reorder"] = "inorder"
    """`inorder` never reorders; `reorder` draws each packet by itself, as netem does without a rate."""
    half_life: Duration = Duration(0)
    """`inorder`: how fast the delay forgets itself; 0 draws every packet by itself."""


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
    """At `at` (since the first packet reached the link) the settings that are given take new values."""

    at: Duration
    """When, counted from the first packet that reached the link."""
    rate: Bitrate | None = None
    delay: Duration | None = None
    loss: Loss | None = None
    queue: Queue | None = None
    jitter: Jitter | None = None
    reorder: Reorder | None = None
    duplicate: Share | None = None
    corrupt: Share | None = None


@dataclass(frozen=True)
class Direction:
    """One direction of a link."""

    rate: Bitrate | None = None
    """Bottleneck rate over IP packet bytes; None is unlimited."""
    delay: Duration = Duration(0)
    """One way, constant."""
    edge: Bitrate | None = None
    """Access rate before the bottleneck: None means none. Where a rate is set and the spec is silent, the reader
    puts max(1 Gbit/s, 10 × rate) here, so that bursts arrive as from a real network card."""
    overhead: ByteCount = ByteCount(0)
    """Framing added to each packet in the rate and the queue."""
    queue: Queue = field(default_factory=lambda: Queue(bdp=1.0))
    """Before the bottleneck. One BDP by default, at least 32 full packets. Without a rate there is no queue."""
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
class Path:
    """A named path of one link. Keys given once hold for both directions; `up` and `down` override."""

    name: str
    """Name in cells, files and commands."""
    up: Direction = Direction()
    """Client to server."""
    down: Direction = Direction()
    """Server to client."""
    mtu: int = 1500
    """Bytes of an IP packet."""
    ip_version: Literal[4, 6] = 4
    """IPv4 or IPv6; IPv6 needs an MTU of at least 1280."""
    title: str = ""
    """What tables and figures call it; the name by default."""

    @property
    def base_rtt(self) -> Duration:
        """Round-trip time without queueing or serialisation."""
        return self.up.delay + self.down.delay


@dataclass(frozen=True)
class Workload:
    """What one trial transfers: one object, downloaded once."""

    name: str
    """Name in cells, files and commands."""
    size: ByteCount
    """Bytes of the object; 0 is an empty body."""
    kind: Literal["object"] = "object"
    """One object over one new connection."""


@dataclass(frozen=True)
class Tcp:
    """Linux TCP as both ends' namespaces get it: every value is pinned, none is the machine's default."""

    congestion_control: str
    """`reno`, `cubic` or `bbr`. Has no default: the machine's own differs from host to host."""
    initial_window: int = 10
    """Packets (RFC 6928), set on the route at both ends."""
    receive_buffer: tuple[ByteCount, ByteCount, ByteCount] = (ByteCount(4096), ByteCount(131072), ByteCount(6291456))
    """tcp_rmem: minimum, default, maximum. Linux's own defaults."""
    send_buffer: tuple[ByteCount, ByteCount, ByteCount] = (ByteCount(4096), ByteCount(16384), ByteCount(4194304))
    """tcp_wmem."""
    sack: bool = True
    """Selective acknowledgements (RFC 2018)."""
    timestamps: bool = True
    """RFC 7323."""
    ecn: bool = False
    """Negotiate ECN (RFC 3168)."""
    slow_start_after_idle: bool = False
    """Forget the window after an idle time (RFC 2861)."""
    dsack: bool = True
    """Report duplicates (RFC 2883)."""
    rack: bool = True
    """Loss detection by time (RFC 8985) beside duplicate acknowledgements."""
    reordering: int = 3
    """Duplicate acknowledgements that mean a loss, to begin with (tcp_reordering)."""
    max_window: int | None = None
    """Most packets in the congestion window, fixed on the route (`cwnd lock`). None is no bound."""
    pacing: bool = False
    """Spread packets over the round trip: without the fq queue Linux does so by itself once a socket has a rate limit
    (SO_MAX_PACING_RATE), which the listening sockets of server and proxy then get. `bbr` always does."""


@dataclass(frozen=True)
class Certificate:
    """What the server shows; one CA per study signs all of them."""

    key: Literal["ecdsa-p256", "rsa-2048", "rsa-4096", "ed25519"] = "ecdsa-p256"
    """Type of the keys in the whole chain."""
    intermediates: int = 0
    """CAs between the study's own and the server's certificate. A long chain costs QUIC a round trip, as a server may
    send only three times what it received before the address is validated (RFC 9000 section 8.1)."""


@dataclass(frozen=True)
class Arm:
    """What is compared: protocol, client, server, a proxy before it, and TCP's settings."""

    name: str
    """Name in tables and figures."""
    protocol: Protocol
    """HTTP/2 over TCP, or HTTP/3 over QUIC. A trial that negotiated anything else fails."""
    client: Program
    """Who downloads."""
    server: Program
    """Who serves."""
    tcp: Tcp
    """Required for h2; an h3 arm takes it from the baseline, or from the first arm that has it."""
    proxy: Program | None = None
    """Stands before the server, at the same end of the path: the client speaks to it, and the server is its origin."""
    origin_protocol: Protocol = "h1"
    """What the proxy speaks to its origin, over TLS."""
    certificate: Certificate = Certificate()
    """Of the server, and of the proxy."""

    def programs(self) -> tuple[tuple[Role, Program, Protocol], ...]:
        """Who plays in it, and which protocol each speaks: a server behind a proxy that of the origin."""
        if self.proxy is None:
            return ("client", self.client, self.protocol), ("server", self.server, self.protocol)
        return (
            ("client", self.client, self.protocol),
            ("proxy", self.proxy, self.protocol),
            ("server", self.server, self.origin_protocol),
        )

    @property
    def front(self) -> Program:
        """Who answers the client."""
        return self.proxy or self.server


@dataclass(frozen=True)
class AaControl:
    """The A/A cells: each arm against itself, which measures the noise floor."""

    workload: str
    """The smallest by default."""
    path: str
    """The first by default."""
    blocks: int
    """As many as in the other cells by default."""


@dataclass(frozen=True)
class Limits:
    """When the laboratory gives up or distrusts itself."""

    trial: Duration = Duration(60 * 10**9)
    """A client that has not ended by then is stopped; the trial failed and ranks worst."""
    ready: Duration = Duration(10 * 10**9)
    """A server must be ready by then."""
    lateness_p99: Duration = Duration(100_000)
    """A trial is void if 1 % of its packets left the link later than this, and than 2 % of the one-way delay, and than
    a full packet's own time of service at the bottleneck: what is finer than the link's grain changes no order."""
    attempts: int = 4
    """How often a block that was void is run again."""


@dataclass(frozen=True)
class Study:
    """The whole resolved spec."""

    name: str
    """Name of the study directory."""
    seed: int
    """All randomness follows from it: order, loss, jitter."""
    blocks: int
    """Blocks (pairs, with two arms) per cell."""
    workloads: tuple[Workload, ...]
    """Rows of the matrix."""
    paths: tuple[Path, ...]
    """Networks of the matrix."""
    arms: tuple[Arm, ...]
    """What is compared, two or more."""
    baseline: str
    """Name of the arm that the others are compared with; the first H2 arm by default."""
    aa: AaControl
    """Where the A/A control runs."""
    question: str = ""
    """What the study is to answer, in a sentence."""
    alpha: float = 0.05
    """Level of the deciding test after correction."""
    captures: Literal["whole", "headers"] = "whole"
    """What the captures of both ends (pcapng) keep: whole packets, or only 200 bytes of all but the first 128. Whole
    packets by default in studies whose captures take at most 2 GB that way."""
    count_system_calls: bool = False
    """After the timed trials, count the system calls of client, server and proxy in one more trial of each arm (first
    workload, first path) that is not timed. Needs strace."""
    limits: Limits = Limits()
    """Time limits and void rules."""
