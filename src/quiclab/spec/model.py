# SPDX-License-Identifier: Apache-2.0
"""The resolved spec as frozen dataclasses. The text under each field is its reference: meaning, unit, why this default.

A spec is a matrix: every workload over every path by every arm, `blocks` times. Nothing here reads files or knows a
program; `quiclab.spec.read` turns TOML into these, and `quiclab.plan` turns these into trials.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from quiclab.spec.competition import Background, Competition, Competitor
from quiclab.spec.network import (
    Aqm,
    Bernoulli,
    Block,
    Bursts,
    Change,
    CoDel,
    Direction,
    DropList,
    FqCoDel,
    GilbertElliott,
    Jitter,
    Link,
    Loss,
    Path,
    Police,
    Queue,
    RandomRate,
    Reorder,
    Step,
)
from quiclab.spec.program import PLACEHOLDERS, Knobs, Program
from quiclab.spec.video import Video
from quiclab.spec.workload import OCTETS, Workload
from quiclab.units import ByteCount, Duration

# Parts of the model that have files of their own.
__all__ = [
    "OCTETS",
    "PLACEHOLDERS",
    "Aqm",
    "Background",
    "Bernoulli",
    "Block",
    "Bursts",
    "Change",
    "CoDel",
    "Competition",
    "Competitor",
    "Direction",
    "DropList",
    "FqCoDel",
    "GilbertElliott",
    "Jitter",
    "Knobs",
    "Link",
    "Loss",
    "Path",
    "Police",
    "Program",
    "Queue",
    "RandomRate",
    "Reorder",
    "Step",
    "Video",
    "Workload",
]

Protocol = Literal["h1", "h2", "h3"]
"""Versions of HTTP, as ALPN names them except for h1. Arms compare h2 and h3; h1 is what a proxy may speak behind."""
Role = Literal["client", "server", "proxy"]


@dataclass(frozen=True)
class Tcp:
    """Linux TCP as both ends' namespaces get it: every value is pinned, none is the machine's default."""

    congestion_control: str
    """`reno`, `cubic` or `bbr`. Has no default: the machine's own differs from host to host."""
    client_congestion_control: str | None = None
    """The client's, where it is another one."""
    proxy_congestion_control: str | None = None
    """The proxy's, on both its legs, where it is another one."""
    server_congestion_control: str | None = None
    """The server's, where it is another one."""
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
    ecn: bool | None = None
    """Negotiate ECN (RFC 3168). Where the spec does not say: over paths that mark, and over no others."""
    slow_start_after_idle: bool = False
    """Forget the window after an idle time (RFC 2861)."""
    dsack: bool = True
    """Report duplicates (RFC 2883)."""
    rack: bool = True
    """Loss detection by time (RFC 8985) beside duplicate acknowledgements."""
    reordering: int = 3
    """Duplicate acknowledgements that mean a loss, to begin with (tcp_reordering)."""
    pacing: bool = False
    """Spread packets over the round trip: without the fq queue Linux does so by itself once a socket has a rate limit
    (SO_MAX_PACING_RATE), which the listening sockets of server and proxy then get. `bbr` always does."""

    def congestion_control_of(self, role: Role) -> str:
        """What a program in this role gets."""
        own: str | None = getattr(self, f"{role}_congestion_control")
        return own or self.congestion_control


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
    """Stands before the server: the client speaks to it, and the server is its origin."""
    proxy_at: str = "server"
    """Where: beside the server, or behind the link of this name, on the node between that link and the next one. A
    proxy near the client stands behind a short first link. Where an arm has no proxy, the node merely forwards."""
    origin_protocol: Protocol = "h1"
    """What the proxy speaks to its origin, over TLS."""
    certificate: Certificate = Certificate()
    """Of the server, and of the proxy."""
    only_for: Literal["competition"] | None = None
    """It makes no cells of its own: only competitors are of this kind. None: it is compared with the others."""

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
    def proxy_beside_server(self) -> bool:
        """Whether there is a proxy that shares the server's end, so that it speaks with it over the loopback."""
        return self.proxy is not None and self.proxy_at == Arm.proxy_at

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
    a full packet's own time of service at the bottleneck: what is finer than the link's grain changes no order. Also
    if an end waited for a processor for longer than this, than 5 ms and than a fifth of the transfer's time."""
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
    """Rows of the matrix, and what only competitors run."""
    paths: tuple[Path, ...]
    """Networks of the matrix."""
    arms: tuple[Arm, ...]
    """What is compared, two or more, and what only competes."""
    baseline: str
    """Name of the arm that the others are compared with; the first H2 arm by default."""
    aa: AaControl
    """Where the A/A control runs."""
    question: str = ""
    """What the study is to answer, in a sentence."""
    alpha: float = 0.05
    """Level of the deciding test after correction."""
    metric: str | None = None
    """What is compared: map, test and answer are about it. Any metric with a better side
    ([all metrics](metrics.md)). `quiclab report --metric` writes a report about another."""
    captures: Literal["whole", "headers"] = "whole"
    """What the captures of both ends (pcapng) keep: whole packets, or only 200 bytes of all but the first 128. Whole
    packets by default in studies whose captures take at most 2 GB that way."""
    count_system_calls: bool = False
    """After the timed trials, count the system calls of client, server and proxy in one more trial of each arm (first
    workload, first path) that is not timed. Needs strace."""
    limits: Limits = Limits()
    """Time limits and void rules."""
    only_blocks: tuple[str, ...] = ()
    """Run these blocks of the plan only, by their ids; `quiclab bundle` writes it, so that a block can be run again."""

    @property
    def measured_workloads(self) -> tuple[Workload, ...]:
        """Rows of the matrix: without those that only competitors run."""
        return tuple(workload for workload in self.workloads if workload.only_for is None)

    @property
    def measured_arms(self) -> tuple[Arm, ...]:
        """What is compared: without those that only compete."""
        return tuple(arm for arm in self.arms if arm.only_for is None)

    def runs(self) -> tuple[tuple[Arm, tuple[Workload, ...]], ...]:
        """Every arm with the workloads that it runs in some trial, measured or as a competitor."""
        run: dict[str, dict[str, Workload]] = {arm.name: {} for arm in self.arms}
        by_name = {workload.name: workload for workload in self.workloads}
        for workload in self.measured_workloads:
            for arm in self.measured_arms:
                run[arm.name][workload.name] = workload
            for competitor in workload.competition.competitors if workload.competition else ():
                other = by_name[competitor.workload or workload.name]
                run[competitor.arm][other.name] = other
        return tuple((arm, tuple(run[arm.name].values())) for arm in self.arms)
