# SPDX-License-Identifier: Apache-2.0
"""Spans in which a path blocks an arm's transport."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from quiclab.model.study import Arm, Block, Direction, Path
from quiclab.model.units import Duration


@dataclass(frozen=True)
class Blocked:
    """Span from one instant on, perhaps up to another."""

    start: Duration
    end: Duration | None


def transport(arm: Arm) -> str:
    """Transport that carries the arm's protocol between the client and its front."""
    return "udp" if arm.protocol == "h3" else "tcp"


def blocked(arm: Arm, path: Path) -> Blocked | None:
    """The first span in which either direction blocks the arm's transport: without packets in both there is no
    answer."""
    spans = [span for side in (path.up, path.down) for span in _spans(side, transport(arm))]
    return min(spans, key=lambda span: span.start, default=None)


def _spans(direction: Direction, protocol: str) -> Iterable[Blocked]:
    changes = [(change.at, change.block) for change in direction.schedule if change.block is not None]
    settings: list[tuple[Duration, Block | str]] = list(changes)
    if direction.block is not None:
        settings.insert(0, (direction.block.after, direction.block))
    for number, (at, block) in enumerate(settings):
        if isinstance(block, Block) and block.protocol == protocol:
            lifted = [later for later, other in settings[number + 1 :] if not _holds(other, protocol)]
            if changes and direction.repeat is not None and direction.block is None:
                lifted.append(direction.repeat)
            yield Blocked(at, lifted[0] if lifted else None)


def _holds(block: Block | str, protocol: str) -> bool:
    return isinstance(block, Block) and block.protocol == protocol


def block_warnings(arms: Iterable[Arm], path: Path) -> list[str]:
    """Warnings about arms whose trials a path makes fail from the start, as sentences."""
    told: dict[str, list[str]] = {}
    for arm in arms:
        span = blocked(arm, path)
        if span is not None and span.start.ns == 0 and span.end is None:
            told.setdefault(transport(arm), []).append(arm.name)
    return [
        f"Path {path.name} blocks {protocol}: trials of {', '.join(names)} will fail at limits.trial, or earlier by "
        "falling back, which is a failure too."
        for protocol, names in told.items()
    ]
