# SPDX-License-Identifier: Apache-2.0
"""Reasons for which a link drops packets, each with its kind: everything that sorts losses by their cause asks here.

The link declares the same reasons (crates/link-core/src/verdict.rs), and tests hold both against each other.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass


class DropKind(enum.StrEnum):
    """Cause of a packet's loss."""

    LOSS = "loss"
    """Loss that the spec asks of the path: a model, a list, an outage."""
    QUEUE = "queue"
    """A full queue."""
    AQM = "aqm"
    """Active queue management, before the queue is full."""
    POLICER = "policer"
    """A policer: the transport exceeds its rate."""
    BLOCK = "block"
    """A block: the transport is not let in."""
    SIZE = "size"
    """A size that the path does not pass."""
    NAT = "nat"
    """An address translation that knows no such flow any more."""
    CORRUPTION = "corruption"
    """Flipped bits: the link delivers the packet, and nobody takes it."""


class Stage(enum.StrEnum):
    """Place of a drop in a link, seen from the bottleneck's queue."""

    BEFORE = "before"
    """The packet never stood in the queue."""
    WITHIN = "within"
    """The packet had joined the queue, and was not sent."""
    BEHIND = "behind"
    """The bottleneck had sent the packet."""
    EITHER = "either"
    """One of the two, as `loss_at` says: behind the queue where the packet's service took time."""


@dataclass(frozen=True)
class DropReason:
    """One reason, as `link_packets` and the link's account name it."""

    name: str
    number: int
    """Number in packet logs."""
    kind: DropKind
    stage: Stage
    former_name: str | None = None
    """Name in the accounts (link.json, trial.json) of earlier versions, where that was another one."""


DROP_REASONS = (
    DropReason("loss_entry", 1, DropKind.LOSS, Stage.BEFORE, former_name="loss"),
    DropReason("queue_full", 2, DropKind.QUEUE, Stage.BEFORE, former_name="queue"),
    DropReason("loss_exit", 3, DropKind.LOSS, Stage.BEHIND),
    DropReason("listed", 4, DropKind.LOSS, Stage.EITHER),
    DropReason("aqm", 5, DropKind.AQM, Stage.WITHIN),
    DropReason("outage", 6, DropKind.LOSS, Stage.BEFORE),  # in packet logs of earlier versions
    DropReason("policed", 7, DropKind.POLICER, Stage.BEFORE),
    DropReason("blocked", 8, DropKind.BLOCK, Stage.BEFORE),
    DropReason("oversize", 9, DropKind.SIZE, Stage.BEFORE),
    DropReason("too_big", 16, DropKind.SIZE, Stage.BEFORE),
    DropReason("unmapped", 17, DropKind.NAT, Stage.BEFORE),
)

CORRUPTED = "corrupted"
"""Name beside those of `DROP_REASONS` for a packet that a link delivered with flipped bits."""


def reasons_of(*kinds: DropKind) -> tuple[str, ...]:
    """Names of all reasons of some kinds."""
    corrupted = (CORRUPTED,) if DropKind.CORRUPTION in kinds else ()
    return (*(reason.name for reason in DROP_REASONS if reason.kind in kinds), *corrupted)


def reasons_at(*stages: Stage) -> tuple[str, ...]:
    """Names of all reasons for which packets are dropped at some stages."""
    return tuple(reason.name for reason in DROP_REASONS if reason.stage in stages)


def dropped_by(dropped: Mapping[str, int], *kinds: DropKind) -> dict[str, int]:
    """Packets that one direction of a link dropped, by reason, from its part of the link's account; all kinds unless
    some are given. Accounts of earlier versions are read too."""
    return {
        reason.name: dropped.get(reason.name, 0) + dropped.get(reason.former_name or "", 0)
        for reason in DROP_REASONS
        if (not kinds or reason.kind in kinds) and {reason.name, reason.former_name} & dropped.keys()
    }
