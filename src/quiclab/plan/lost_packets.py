# SPDX-License-Identifier: Apache-2.0
"""Paths over which nothing arrives: every packet of a direction is lost or damaged, for good."""

from __future__ import annotations

from collections.abc import Iterator

from quiclab.model.study import Direction, Path
from quiclab.model.units import Duration
from quiclab.plan.duration import mean_loss


def loss_warnings(path: Path) -> list[str]:
    """Say from when on nothing arrives over a path, a sentence for each direction of a link."""
    found = []
    for link in path.links:
        over = f"Path {path.name}" + (f", link {link.name}," if path.more_links else "")
        for side, direction in (("up", link.up), ("down", link.down)):
            start = _nothing_from(direction)
            if start is None:
                continue
            if start.ns == 0:
                then = "every trial will fail at limits.trial. Lower it; an outage that ends is a schedule"
            else:
                then = "trials that are not over by then will fail. Add a later change that ends it, if it is an outage"
            when = "" if start.ns == 0 else f" from {start} on"
            found.append(f"{over} loses every packet {side}{when} (loss or corrupt = 100 %): {then}.")
    return found


def _nothing_from(direction: Direction) -> Duration | None:
    """Instant from which every packet is lost or damaged to the end of a trial; None where some arrive."""
    since: Duration | None = None
    for at, nothing in _states(direction):
        since = (at if since is None else since) if nothing else None
    return since


def _states(direction: Direction) -> Iterator[tuple[Duration, bool]]:
    """Every instant at which a setting holds from then on, and whether nothing arrives with it."""
    loss, corrupt = direction.loss, direction.corrupt
    yield Duration(0), mean_loss(loss) >= 1 or corrupt.value >= 1
    for change in direction.schedule:
        loss = loss if change.loss is None else change.loss
        corrupt = corrupt if change.corrupt is None else change.corrupt
        yield change.at, mean_loss(loss) >= 1 or corrupt.value >= 1
