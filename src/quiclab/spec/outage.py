# SPDX-License-Identifier: Apache-2.0
"""Directions of a link that let no packet pass, for a while or for good."""

from __future__ import annotations

from collections.abc import Iterator

from quiclab.model.study import Bernoulli, Bursts, Direction, DropList, GilbertElliott, Loss, LossTrace
from quiclab.model.units import Duration
from quiclab.spec.recorded import mean_recorded_loss


def endless_outage(direction: Direction) -> Duration | None:
    """Instant from which every packet is lost or damaged to the end of a trial; None where some arrive."""
    since: Duration | None = None
    for at, nothing in _states(direction):
        since = (at if since is None else since) if nothing else None
    if direction.repeat is not None and since != Duration(0):
        return None  # the next period has its first settings
    return since


def _states(direction: Direction) -> Iterator[tuple[Duration, bool]]:
    """Every instant at which a setting holds from then on, and whether nothing arrives with it."""
    loss, corrupt = direction.loss, direction.corrupt
    yield Duration(0), mean_loss(loss) >= 1 or corrupt.value >= 1
    for change in direction.schedule:
        if change.loss is not None:
            loss = None if change.loss == "none" else change.loss
        corrupt = corrupt if change.corrupt is None else change.corrupt
        yield change.at, mean_loss(loss) >= 1 or corrupt.value >= 1


def mean_loss(loss: Loss | None) -> float:
    """Share of packets that a loss model drops in the long run; an explicit list counts as none."""
    match loss:
        case None | DropList():
            return 0.0
        case LossTrace():
            return mean_recorded_loss(loss)
        case Bernoulli():
            return loss.probability.value
        case GilbertElliott():
            bad, good = loss.good_to_bad.value, loss.bad_to_good.value
        case Bursts():
            bad, good = loss.mean_bad.s, loss.mean_good.s
    in_bad = bad / (bad + good) if bad else 0.0
    return (1 - in_bad) * loss.loss_good.value + in_bad * loss.loss_bad.value
