# SPDX-License-Identifier: Apache-2.0
"""When a path does not let an arm's transport in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from quiclab.spec.model import Arm, Block, Direction, Path
from quiclab.units import Duration


@dataclass(frozen=True)
class Blocked:
    """From one instant on, and perhaps up to another."""

    start: Duration
    end: Duration | None


def transport(arm: Arm) -> str:
    """What carries the arm's protocol between the client and whoever answers it."""
    return "udp" if arm.protocol == "h3" else "tcp"


def blocked(arm: Arm, path: Path) -> Blocked | None:
    """The first time at which a direction blocks the arm's transport; a packet that is lost either way is no answer."""
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
            yield Blocked(at, lifted[0] if lifted else None)


def _holds(block: Block | str, protocol: str) -> bool:
    return isinstance(block, Block) and block.protocol == protocol


def block_warnings(arms: Iterable[Arm], path: Path) -> list[str]:
    """Whose trials a path makes fail from the start, as a sentence."""
    told: dict[str, list[str]] = {}
    for arm in arms:
        span = blocked(arm, path)
        if span is not None and span.start.ns == 0 and span.end is None:
            told.setdefault(transport(arm), []).append(arm.name)
    return [
        f"Path {path.name} blocks {protocol}: trials of {', '.join(names)} will fail at limits.trial, or before by "
        "falling back, which is a failure too."
        for protocol, names in told.items()
    ]
