# SPDX-License-Identifier: Apache-2.0
"""Expected length of a trial, by arithmetic: an estimate for plans and progress bars, never a result."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from quiclab.model.plan_row import PlanRow
from quiclab.model.program import BROWSERS
from quiclab.model.study import Arm, Direction, Jitter, Path, Study
from quiclab.model.units import Bitrate, ByteCount, Duration
from quiclab.plan.blocked import blocked, transport
from quiclab.spec.link import reference_rate
from quiclab.spec.outage import mean_loss

OVERHEAD = Duration(300_000_000)
"""Time of one trial that is not the transfer: namespaces, processes, readiness and warm-up."""
BROWSER = Duration(1_000_000_000)
"""Time for the start and end of a browser, in addition to the server's start."""
PAGE_WHOLE = Duration(600_000_000)
"""Time until a page is known to request nothing more, and its trace is written."""
FIRST_VISIT = Duration(4_000_000_000)
"""Time of a browser's first visit, until it has dealt with the change to the trial's network."""
HEADER_BYTES = 60
"""Bytes of IP, transport and framing in a full packet, about the same for both protocols."""
UNLIMITED = Bitrate(10**9)
"""Rate that stands in for that of a path without one."""
PACKET_THRESHOLD = 3
"""Number of packets that may overtake one before QUIC takes it for lost (RFC 9002 section 6.1.1)."""
HANDSHAKE_RTTS = {"h1": 2, "h2": 2, "h3": 1}
"""Round trips before the request can leave: TCP and then TLS 1.3, or QUIC with TLS inside (RFC 9001 section 4)."""


@dataclass(frozen=True)
class Sender:
    """Reaction of a sender to loss, if it is not Reno's."""

    ignores_loss: bool = False
    """True if it goes on at the rate that it has measured, as BBR does."""
    least_window: ByteCount = ByteCount(0)
    """Window below which no loss reduces it."""


USUAL = Sender()
Senders = Mapping[str, Sender]
"""Arm → its sender; one that is not named is a usual one."""


def expected_duration(row: PlanRow, study: Study, senders: Senders = MappingProxyType({})) -> Duration:
    """Estimate of one trial: handshakes, request, slow start, all bytes at the rate that loss allows, overhead.

    Objects that wait for others are requested a round trip later, in rounds.
    """
    sender = senders.get(row.arm_name, USUAL)
    arm = next(arm for arm in study.arms if arm.name == row.arm_name)
    path = next(path for path in study.paths if path.name == row.path)
    workload = next(workload for workload in study.workloads if workload.name == row.workload)
    if workload.page is not None:
        before = BROWSER if arm.client.knobs.session is None else BROWSER + FIRST_VISIT
        return min(_transfer(arm, path, workload.total, sender), study.limits.trial) + before + PAGE_WHOLE + OVERHEAD
    if workload.video is not None:
        return workload.video.shown_length + BROWSER + OVERHEAD
    if workload.competition is not None and workload.competition.duration is not None:
        return workload.competition.duration + OVERHEAD
    rounds = -(-len(workload.object_sizes) // workload.at_once)
    between = Duration((rounds - 1) * path.base_rtt.ns)
    transfer = _transfer(arm, path, workload.total, sender) + between
    span = blocked(arm, path)
    if span is not None and span.start < transfer:
        transfer = study.limits.trial if span.end is None else transfer + span.end
    browser = BROWSER if arm.client.name in BROWSERS else Duration(0)
    return min(transfer, study.limits.trial) + browser + OVERHEAD


def _transfer(arm: Arm, path: Path, size: ByteCount, sender: Sender) -> Duration:
    payload_bytes = path.mtu - HEADER_BYTES
    remaining = size.bytes * path.mtu / payload_bytes
    rtt_s = path.base_rtt.s
    rate = _rate_bit_per_s(arm, path, payload_bytes, sender)
    window = float(arm.tcp.initial_window * path.mtu)
    seconds = (HANDSHAKE_RTTS[arm.protocol] + 1) * rtt_s
    while window < remaining and window * 8 < rate * rtt_s:
        remaining -= window
        window *= 2
        seconds += rtt_s
    return Duration.from_s(seconds + remaining * 8 / rate)


def _rate_bit_per_s(arm: Arm, path: Path, payload_bytes: int, sender: Sender) -> float:
    """The bottleneck's rate, or less where a policer, loss, or what QUIC takes for loss holds the window down.

    Rate of a Reno under random loss p: payload / RTT × sqrt(3 / 2p) (Mathis et al., CCR 27(3), 1997).
    """
    downs = [link.down for link in path.links]
    rate = min(_reference(arm, down) for down in downs)
    loss = 1 - math.prod(1 - mean_loss(down.loss) for down in downs)
    if arm.protocol == "h3":
        threshold = arm.front.knobs.packet_threshold or PACKET_THRESHOLD
        displaced_s = threshold * path.mtu * 8 / rate
        for down in downs:
            if down.reorder is not None and down.reorder.extra_delay.s > displaced_s:
                loss = min(1.0, loss + down.reorder.probability.value)
        spread_s = max(_spread_s(down.jitter) for down in downs)
        if spread_s > displaced_s:
            # With pacing: a window so small that no packet is displaced by the threshold within the spread of the
            # jitter.
            rate = min(rate, threshold * payload_bytes * 8 / spread_s)
    if sender.ignores_loss:
        return rate * (1 - min(loss, 0.9))  # what is lost is sent again
    if loss and path.base_rtt.ns:
        allowed = payload_bytes * math.sqrt(1.5 / loss)
        rate = min(rate, max(allowed, sender.least_window.bytes) * 8 / path.base_rtt.s)
    return rate


def _reference(arm: Arm, direction: Direction) -> float:
    """Rate of one link in bit/s, with regard to a policer of the arm's transport."""
    rate = float((reference_rate(direction) or UNLIMITED).bit_per_s)
    if direction.police is not None and direction.police.protocol == transport(arm):
        rate = min(rate, direction.police.rate.bit_per_s)
    return rate


def _spread_s(jitter: Jitter | None) -> float:
    """Time by which a jitter that reorders separates packets: twice its scale, and as much again for the recovery of a
    window that is halved each time."""
    return 4 * jitter.scale.s if jitter is not None and jitter.mode == "reorder" else 0.0
