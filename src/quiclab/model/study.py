# SPDX-License-Identifier: Apache-2.0
"""The resolved spec as frozen dataclasses. The text under each field is its reference: meaning, unit, and the reason
for the default.

A spec is a matrix: every workload over every path by every arm, `blocks` times. Nothing here reads files or knows a
program; `quiclab.spec.read` turns TOML into these, and `quiclab.plan` turns these into trials.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from quiclab.model.addresses import Addresses
from quiclab.model.competition import Background, Competition, Competitor
from quiclab.model.losses import Bernoulli, Bursts, DropList, GilbertElliott, Loss, LossTrace
from quiclab.model.network import Block, Change, Direction, Jitter, Link, Path, Police, Queue, RandomRate, Reorder, Slot
from quiclab.model.program import PLACEHOLDERS, Knobs, Program
from quiclab.model.queue_management import Aqm, CoDel, DualPi2, FqCoDel, Pie, Step
from quiclab.model.units import ByteCount, Duration, Share
from quiclab.model.video import Video
from quiclab.model.workload import OCTETS, Workload

# Parts of the model that have files of their own.
__all__ = [
    "OCTETS",
    "PLACEHOLDERS",
    "Addresses",
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
    "DualPi2",
    "FqCoDel",
    "GilbertElliott",
    "Jitter",
    "Knobs",
    "Link",
    "Loss",
    "LossTrace",
    "Path",
    "Pie",
    "Police",
    "Program",
    "Queue",
    "RandomRate",
    "Reorder",
    "Slot",
    "Step",
    "Video",
    "Workload",
]

Protocol = Literal["h1", "h2", "h3"]
"""Versions of HTTP, as ALPN names them except for h1. Arms compare h2 and h3; a proxy may speak h1 to its origin."""
Role = Literal["client", "server", "proxy"]
ONLY_WHERE_SET: Mapping[str, bool] = MappingProxyType({"only_where_set": True})
"""Metadata of a field that a resolved spec has only where it is not None."""


@dataclass(frozen=True)
class Tcp:
    """Settings of Linux TCP in the namespaces of both ends: every value is pinned, none is the machine's default."""

    congestion_control: str
    """Congestion control: `reno`, `cubic`, `bbr` or another of Linux. It has no default, because the machine's own
    differs from host to host."""
    client_congestion_control: str | None = None
    """Congestion control of the client, where it differs."""
    proxy_congestion_control: str | None = None
    """Congestion control of the proxy on both its legs, where it differs."""
    server_congestion_control: str | None = None
    """Congestion control of the server, where it differs."""
    initial_window: int = 10
    """Initial congestion window in packets (RFC 6928), set on the route at both ends."""
    receive_buffer: tuple[ByteCount, ByteCount, ByteCount] = (ByteCount(4096), ByteCount(131072), ByteCount(6291456))
    """Receive buffer (tcp_rmem): minimum, default and maximum. The defaults are Linux's own."""
    send_buffer: tuple[ByteCount, ByteCount, ByteCount] = (ByteCount(4096), ByteCount(16384), ByteCount(4194304))
    """Send buffer (tcp_wmem): minimum, default and maximum. The defaults are Linux's own."""
    sack: bool = True
    """Selective acknowledgements (RFC 2018)."""
    timestamps: bool = True
    """TCP timestamps (RFC 7323)."""
    ecn: bool | None = None
    """Negotiate ECN (RFC 3168). By default: over paths that mark, and over no others."""
    slow_start_after_idle: bool = False
    """Reset the congestion window after an idle time (RFC 2861)."""
    dsack: bool = True
    """Report duplicate segments (D-SACK, RFC 2883)."""
    rack: bool = True
    """Loss detection by time (RACK, RFC 8985) in addition to duplicate acknowledgements."""
    reordering: int = 3
    """Number of duplicate acknowledgements that mean a loss, at first (tcp_reordering)."""
    pacing: bool = False
    """Spread packets over the round trip: Linux does so without the fq queue once a socket has a rate limit
    (SO_MAX_PACING_RATE), which the listening sockets of server and proxy then get. `bbr` always paces."""

    def congestion_control_of(self, role: Role) -> str:
        """Congestion control of the program in this role."""
        own: str | None = getattr(self, f"{role}_congestion_control")
        return own or self.congestion_control


@dataclass(frozen=True)
class Certificate:
    """Certificate that the server presents; one CA per study signs all certificates."""

    key: Literal["ecdsa-p256", "rsa-2048", "rsa-4096", "ed25519"] = "ecdsa-p256"
    """Type of the keys in the whole chain."""
    intermediates: int = 0
    """Number of intermediate CAs between the study's CA and the server's certificate. A long chain costs QUIC a round
    trip, because a server may send only three times what it received until the address is validated (RFC 9000 section
    8.1)."""


@dataclass(frozen=True)
class Arm:
    """One side of a comparison: protocol, client, server, perhaps a proxy, certificate, and TCP's settings."""

    name: str
    """Name in tables and figures."""
    protocol: Protocol
    """HTTP/1.1 or HTTP/2 over TCP, or HTTP/3 over QUIC. A trial that negotiated anything else fails."""
    client: Program
    """Program that sends the requests."""
    server: Program
    """Program that answers the client, or the proxy if there is one."""
    tcp: Tcp
    """Required for h1 and h2; an h3 arm takes it from the baseline, or from the first arm that has it. A study of h3
    arms alone needs it only for a proxy that speaks to its origin over TCP."""
    proxy: Program | None = None
    """Proxy before the server: the client speaks to the proxy, and the server is its origin."""
    proxy_at: str = "server"
    """Place of the proxy: beside the server (`server`), or behind the link of this name, on the node between that link
    and the next one. A proxy near the client stands behind a short first link. Where an arm has no proxy, the node
    merely forwards."""
    origin_protocol: Protocol = "h1"
    """Protocol that the proxy speaks to its origin, over TLS."""
    certificate: Certificate = Certificate()
    """Certificate of the server, and of the proxy."""
    only_for: Literal["competition"] | None = None
    """Restricts the arm to competitors: it makes no cells of its own. None: it is compared with the others."""
    baseline: str | None = field(default=None, metadata=ONLY_WHERE_SET)
    """Name of the arm that this one is compared with, by default `study.baseline`; of an arm with lists, its variant
    with the same programs. An arm that another one names is compared with nothing. `resolved.json` has this key in all
    arms that are compared, where these have several baselines."""

    def programs(self) -> tuple[tuple[Role, Program, Protocol], ...]:
        """Every program of the arm with its role and its protocol; a server behind a proxy speaks that of the
        origin."""
        if self.proxy is None:
            return ("client", self.client, self.protocol), ("server", self.server, self.protocol)
        return (
            ("client", self.client, self.protocol),
            ("proxy", self.proxy, self.protocol),
            ("server", self.server, self.origin_protocol),
        )

    @property
    def proxy_beside_server(self) -> bool:
        """True if a proxy shares the server's end, so that the two speak over the loopback."""
        return self.proxy is not None and self.proxy_at == Arm.proxy_at

    @property
    def front(self) -> Program:
        """Program that answers the client: the proxy if there is one, else the server."""
        return self.proxy or self.server


@dataclass(frozen=True)
class AaControl:
    """A/A control: cells in which each arm is compared with itself, which measures the noise floor."""

    workload: str
    """Workload of the A/A control; the smallest by default."""
    path: str
    """Path of the A/A control; the first by default."""
    blocks: int
    """Blocks of each A/A cell. By default as many as the other cells have, or fewer, so that the control is at most a
    fifth of all trials; none where those are too few for an interval (6 blocks with the usual alpha). With 0 there is
    no control, and the report says that the noise floor is unknown."""


LEAST_TOLERATED = Share(0.01)
"""Share of its time that the laboratory may always add to a trial, unless the spec says otherwise."""


def default_tolerated(matters: Share) -> Share:
    """Share of its time that the laboratory may add to a trial where the spec names none, by the smallest difference
    that matters."""
    return Share(max(LEAST_TOLERATED.value, matters.value / 2))


@dataclass(frozen=True)
class Limits:
    """Limits after which the laboratory gives up, or distrusts itself."""

    trial: Duration = Duration(60 * 10**9)
    """Time limit of a trial. A client that has not ended by then is stopped, and the trial has failed and ranks
    worst."""
    ready: Duration = Duration(10 * 10**9)
    """Time within which a server must be ready."""
    disturbance: Share | None = None
    """Share of its time that the laboratory may add to a trial, by packets that leave late and by waits of its programs
    for a processor on the trial's critical path. A trial beyond that is void, and its block is run again. By default
    the larger of 1 % and half of `matters`."""
    lateness_p99: Duration | None = None
    """Has no effect any more, and is read because earlier versions had it: `disturbance` takes its place."""
    attempts: int = 4
    """Number of times that a void block is tried in a row. One that stayed void is tried twice more when all others are
    over, and twice more whenever the study is run again."""


@dataclass(frozen=True)
class Study:
    """The whole resolved spec."""

    name: str
    """Name of the study directory."""
    seed: int
    """Seed of all randomness: order, loss, jitter."""
    blocks: int
    """Blocks per cell; with two arms a block is a pair, with a single one a trial."""
    workloads: tuple[Workload, ...]
    """Workloads of the matrix, and those that only competitors run."""
    paths: tuple[Path, ...]
    """Paths of the matrix."""
    arms: tuple[Arm, ...]
    """Arms: those that are compared, or a single one that is measured alone, and those that only compete."""
    baseline: str
    """Name of the arm that the others are compared with; the first H2 arm by default, else the first over TCP. Of an
    arm with lists every variant is a baseline, of the arms with the same programs."""
    aa: AaControl
    """Cells of the A/A control."""
    question: str = ""
    """Question that the study is to answer, in a sentence."""
    alpha: float = 0.05
    """Significance level of the deciding test, after correction."""
    matters: Share = Share(0.02)
    """Smallest difference that matters to the question, as a change of the ratio of the arms' values: a difference of
    less is told as such, however certain it is, and arms are alike where the whole interval lies within it."""
    metric: str | None = None
    """Metric that is compared: map, test and answer are about it. Any metric with a better side
    ([all metrics](metrics.md)). `quiclab report --metric` writes a report about another."""
    captures: Literal["whole", "headers"] = "whole"
    """Content of the captures of both ends (pcapng): whole packets, or of all packets but the first 128 only 200 bytes.
    The default is whole packets if the captures of the study then take at most 2 GB."""
    count_system_calls: bool | int | Literal["every block"] = False
    """Count the system calls of client, server and proxy, in trials that are not timed, after all others. `true`: in
    one more trial of each arm (first workload, first path), for the report alone. `"every block"`, or a number of
    blocks of each cell: in one more trial beside each timed one, as metrics of it (`client_system_calls`,
    `server_system_calls`) in which arms are compared. This needs strace."""
    limits: Limits = Limits()
    """Time limits and void rules."""
    only_blocks: tuple[str, ...] = ()
    """Ids of the only blocks of the plan that are to run. `quiclab bundle` writes this key, so that a block can be run
    again."""

    @property
    def tolerated(self) -> Share:
        """Share of its time that the laboratory may add to a trial that counts."""
        return self.limits.disturbance or default_tolerated(self.matters)

    @property
    def measured_workloads(self) -> tuple[Workload, ...]:
        """Workloads of the matrix, without those that only competitors run."""
        return tuple(workload for workload in self.workloads if workload.only_for is None)

    @property
    def measured_arms(self) -> tuple[Arm, ...]:
        """Arms that are compared, without those that only compete."""
        return tuple(arm for arm in self.arms if arm.only_for is None)

    def baseline_of(self, arm: Arm) -> str:
        """Name of the arm that an arm is compared with; its own where it is a baseline."""
        return arm.baseline or self.baseline

    @property
    def compared_arms(self) -> tuple[Arm, ...]:
        """Arms that are compared with a baseline: each is one comparison in every cell."""
        return tuple(arm for arm in self.measured_arms if arm.name != self.baseline_of(arm))

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
