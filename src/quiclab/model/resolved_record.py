# SPDX-License-Identifier: Apache-2.0
"""A resolved spec, as a study's resolved.json has it: the members that are read of it. `quiclab.spec.resolved` writes
it, with every key of a spec.

A member that an earlier version of quiclab did not write has its default here. One that is null in the file is not set.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from quiclab.model.link_account import Number


class ResolvedLoss(msgspec.Struct, frozen=True):
    """A model of loss."""

    model: str | None = None
    probability_pct: Number | None = None
    """Probability of every packet; None of a model that has no single one."""


class ResolvedJitter(msgspec.Struct, frozen=True):
    """A delay that is drawn by chance."""

    distribution: str | None = None
    scale_ns: Number | None = None
    mode: str | None = None
    """`reorder` where packets may pass each other."""


class ResolvedQueue(msgspec.Struct, frozen=True):
    """Bounds of a queue; those that are None do not hold."""

    bdp: Number | None = None
    packets: int | None = None
    bytes: int | None = None
    time_ns: Number | None = None


class ResolvedReordering(msgspec.Struct, frozen=True):
    """Packets that pass others."""

    probability_pct: Number | None = None


class DrawnRate(msgspec.Struct, frozen=True):
    """A rate that is drawn by chance."""

    least_bit_per_s: Number
    most_bit_per_s: Number


class ResolvedChange(msgspec.Struct, frozen=True):
    """A change during the trial; a setting that is None stays as it is."""

    rate_bit_per_s: Number | None = None
    rate: str | None = None
    """`none` takes the rate away."""
    delay_ns: Number | None = None
    loss: str | ResolvedLoss | None = None
    """`none` ends it."""
    queue: ResolvedQueue | None = None
    jitter: str | ResolvedJitter | None = None
    """`none` ends it."""


class ResolvedDirection(msgspec.Struct, frozen=True):
    """One direction of a link."""

    rate_bit_per_s: Number | None = None
    """Rate over IP packet bytes; None where it is unlimited, is drawn by chance, or a trace has it."""
    rate: DrawnRate | None = None
    delay_ns: Number | None = None
    loss: ResolvedLoss | None = None
    queue: ResolvedQueue | None = None
    jitter: ResolvedJitter | None = None
    reorder: ResolvedReordering | None = None
    drop: dict[str, object] | None = None
    """Packets that are dropped by what they are."""
    spare: dict[str, object] | None = None
    """Packets that no loss hits, by what they are."""
    loss_by: str | None = None
    """Key by which packets of two arms share a draw of the loss."""
    overhead_bytes: int | None = None
    burst_bytes: int | None = None
    """Bytes of a token bucket that shapes the rate."""
    peak_rate_bit_per_s: Number | None = None
    """Rate of a burst; None where it passes at once."""
    trace: str | None = None
    """File with a trace, which has the rate."""
    delay_trace: str | None = None
    """File with recorded delays; `delay_ns` is the least of them."""
    schedule: tuple[ResolvedChange, ...] = ()


class ResolvedLink(msgspec.Struct, frozen=True):
    """One link. A direction that is not told is None."""

    name: str | None = None
    up: ResolvedDirection | None = None
    down: ResolvedDirection | None = None


class ResolvedPath(msgspec.Struct, frozen=True):
    """A path: its first link, and the others behind it."""

    name: str
    title: str | None = None
    link_name: str | None = None
    """Name of the first link."""
    up: ResolvedDirection | None = None
    down: ResolvedDirection | None = None
    more_links: tuple[ResolvedLink, ...] = ()
    mtu: int | None = None
    ip_version: int | None = None

    @property
    def links(self) -> tuple[ResolvedLink, ...]:
        """All links, the client's first."""
        return (ResolvedLink(self.link_name, self.up, self.down), *self.more_links)

    @property
    def is_told(self) -> bool:
        """True if both directions of its first link are told."""
        return self.up is not None and self.down is not None

    def directions(self, side: Literal["up", "down"]) -> tuple[ResolvedDirection, ...]:
        """Effects of every link on packets `up` or `down`, the client's link first."""
        return tuple((link.up if side == "up" else link.down) or ResolvedDirection() for link in self.links)

    @property
    def every_direction(self) -> Iterator[ResolvedDirection]:
        """Effects of every link on packets up, then on those down."""
        yield from self.directions("up")
        yield from self.directions("down")


class ResolvedVideo(msgspec.Struct, frozen=True):
    """The video of a workload."""

    decode: bool = True
    """False where no decoder plays it."""


class ResolvedCompetition(msgspec.Struct, frozen=True):
    """The competition of a workload."""

    duration_ns: int | None = None
    """Time after which it is over; None where the measured flow ends it."""


class ResolvedWorkload(msgspec.Struct, frozen=True):
    """A workload."""

    name: str
    kind: str | None = None
    """`object`, `page` or `video`."""
    direction: str | None = None
    """`download` or `upload`."""
    only_for: str | None = None
    """`competition` where only competitors run it."""
    size_bytes: int | None = None
    count: int | None = None
    concurrency: int | None = None
    sizes_bytes: tuple[int, ...] = ()
    """Sizes of objects that are not of one size."""
    video: ResolvedVideo | None = None
    address_change: dict[str, object] | None = None
    competition: ResolvedCompetition | None = None


class ResolvedKnobs(msgspec.Struct, frozen=True):
    """Settings of a program that are read."""

    session: str | None = None
    """`fresh`, `resumed` or `early_data`."""
    tls_version: str | None = None
    congestion_control: str | None = None
    max_window_bytes: int | None = None


class ResolvedProgram(msgspec.Struct, frozen=True):
    """A client, a server or a proxy."""

    name: str | None = None
    argv: tuple[str, ...] = ()
    """Command of a user's own program."""
    prefix: str | None = None
    knobs: ResolvedKnobs = ResolvedKnobs()

    @property
    def command(self) -> str | None:
        """The program by its file, where it is a user's own, else by its name."""
        return self.argv[0].rpartition("/")[2] if self.argv else self.name


class ResolvedTcp(msgspec.Struct, frozen=True):
    """Settings of Linux TCP that are read."""

    timestamps: bool = False
    pacing: bool = False
    congestion_control: str | None = None
    client_congestion_control: str | None = None
    server_congestion_control: str | None = None
    proxy_congestion_control: str | None = None

    @property
    def congestion_controls(self) -> tuple[str, ...]:
        """Congestion control of both ends, and of those that differ."""
        own = (self.client_congestion_control, self.server_congestion_control, self.proxy_congestion_control)
        return tuple(each for each in (self.congestion_control, *own) if each)


class ResolvedArm(msgspec.Struct, frozen=True):
    """An arm."""

    name: str
    protocol: str | None = None
    only_for: str | None = None
    """`competition` where it only competes."""
    baseline: str | None = None
    """Arm that it is compared with, its own name of a baseline; None where all have the study's."""
    client: ResolvedProgram | None = None
    server: ResolvedProgram | None = None
    proxy: ResolvedProgram | None = None
    proxy_at: str | None = None
    """`server`, or the link behind which the proxy stands."""
    tcp: ResolvedTcp | None = None

    @property
    def front(self) -> ResolvedProgram:
        """Program that answers the client; one of which nothing is known where none is told."""
        return self.proxy or self.server or ResolvedProgram()

    @property
    def programs(self) -> Iterator[tuple[str, ResolvedProgram]]:
        """Each program that has a name, with its role."""
        for role, program in (("client", self.client), ("proxy", self.proxy), ("server", self.server)):
            if program is not None and program.name:
                yield role, program


class ArmsSummary(msgspec.Struct, frozen=True):
    """The arms in a sentence, and what they differ in."""

    text: str | None = None
    differences: tuple[str, ...] = ()


class ResolvedLimits(msgspec.Struct, frozen=True):
    """Limits after which the laboratory gives up, or distrusts itself."""

    trial_ns: int | None = None
    ready_ns: int | None = None
    lateness_p99_ns: int | None = None
    attempts: int | None = None
    disturbance_pct: Number | None = None


class ProbedTarget(msgspec.Struct, frozen=True):
    """A server that a probe asks, which is not the laboratory's."""

    name: str | None = None
    url: str | None = None


class ProbeOfSpec(msgspec.Struct, frozen=True):
    """The servers of a probe that can be compared."""

    targets: tuple[ProbedTarget, ...] = ()


class KeptTarget(msgspec.Struct, frozen=True):
    """A server of a probe, with what a first look found of it."""

    name: str
    url: str
    address: str
    """The one address (IPv4) that all trials ask."""
    looks: dict[str, int]
    """Arm → bytes of the body."""


class KeptLooks(msgspec.Struct, frozen=True):
    """First looks at the servers of a probe, as a run keeps them."""

    targets: tuple[KeptTarget, ...]
    left_out: dict[str, dict[str, str] | str]
    """URL that cannot be compared → reason, by arm; a text in early versions."""


class ResolvedSpec(msgspec.Struct, frozen=True):
    """The resolved spec of a study; one of which nothing is known has every default."""

    name: str | None = None
    question: str | None = None
    baseline: str | None = None
    metric: str | None = None
    seed: Number | None = None
    blocks: Number | None = None
    alpha: Number | None = None
    matters_pct: Number | None = None
    count_system_calls: bool | int | str = False
    only_blocks: tuple[str, ...] = ()
    workloads: tuple[ResolvedWorkload, ...] = ()
    paths: tuple[ResolvedPath, ...] = ()
    arms: tuple[ResolvedArm, ...] = ()
    arms_summary: ArmsSummary | None = None
    limits: ResolvedLimits | None = None
    earlier_limits: tuple[ResolvedLimits, ...] = ()
    """Limits that earlier runs of the study had, oldest first."""
    probe: ProbeOfSpec | None = None

    @property
    def measured_workloads(self) -> tuple[ResolvedWorkload, ...]:
        """Workloads without those that only competitors run."""
        return tuple(each for each in self.workloads if not each.only_for)

    @property
    def planned_blocks(self) -> int | None:
        """Blocks of each cell of a whole plan; None where that is not told, and of single blocks, such as a bundle."""
        return self.blocks if isinstance(self.blocks, int) and not self.only_blocks else None
