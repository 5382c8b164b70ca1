# SPDX-License-Identifier: Apache-2.0
"""A path as the spec asks for it, in the words in which it is measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from quiclab.model.number_text import quantity
from quiclab.model.resolved_record import ResolvedDirection, ResolvedPath

Side = Literal["up", "down"]


def asked(path: ResolvedPath) -> dict[str, str]:
    """Values that a resolved path asks for, by the metric that measures them."""
    return {
        "path_rtt_min_ms": quantity(rtt_ms(path), "ms"),
        "path_rate_down_bit_per_s": _rate_of(path.directions("down")),
        "path_loss_up_pct": _loss_of(path.directions("up")),
        "path_loss_down_pct": _loss_of(path.directions("down")),
    }


def rtt_ms(path: ResolvedPath) -> float:
    """Base round-trip time: the delays of all links in both directions."""
    return sum(float(each.delay_ns or 0) for each in path.every_direction) / 1e6


def rate_bit_per_s(path: ResolvedPath, side: Side) -> float | None:
    """The least rate of the links in one direction; None where there is none, or one that changes."""
    here = path.directions(side)
    if any(each.rate is not None or _varies(each) for each in here):
        return None
    return min((float(each.rate_bit_per_s) for each in here if each.rate_bit_per_s is not None), default=None)


def rate_text(path: ResolvedPath, side: Side) -> str:
    """The rate in one direction: `10 Mbit/s`, `unlimited`, `2 to 8 Mbit/s` of one that is drawn, or that it changes."""
    here = path.directions(side)
    return "changing rate" if any(_varies(each) for each in here) else _rate_of(here)


def loss_pct(path: ResolvedPath, side: Side) -> float | None:
    """Losses of the links in one direction combined; None where one has no single probability, or changes."""
    here = path.directions(side)
    if any(change.loss is not None for each in here for change in each.schedule):
        return None
    kept = 1.0
    for loss in (each.loss for each in here if each.loss is not None):
        if loss.probability_pct is None:
            return None
        kept *= 1 - float(loss.probability_pct) / 100
    return round(100 * (1 - kept), 9)  # 4 is 4, not 4.0000000000000036


def queue_bdp(path: ResolvedPath) -> float | None:
    """The queue towards the client in BDP; None of several links, and of a queue with another bound or a changing
    one."""
    (direction, *more) = path.directions("down") or (None,)
    queue = direction.queue if direction is not None and not more else None
    if direction is None or queue is None or any(change.queue is not None for change in direction.schedule):
        return None
    others = (queue.packets, queue.bytes, queue.time_ns)
    return float(queue.bdp) if queue.bdp is not None and others == (None, None, None) else None


def jitter_ms(path: ResolvedPath) -> float | None:
    """Scale of the jitter towards the client; None without jitter, of several links, and of jitter that changes."""
    (direction, *more) = path.directions("down") or (None,)
    if direction is None or more or any(change.jitter is not None for change in direction.schedule):
        return None
    return None if direction.jitter is None else float(direction.jitter.scale_ns or 0) / 1e6


def _varies(direction: ResolvedDirection) -> bool:
    """True if a trace has its rate, or its schedule sets it anew during the trial."""
    changes = direction.schedule
    return direction.trace is not None or any(each.rate_bit_per_s is not None or each.rate for each in changes)


def _rate_of(here: Sequence[ResolvedDirection]) -> str:
    """Return the rate of the slowest of several links, beside a rate that is drawn by chance, which has two bounds."""
    told = [
        " to ".join(quantity(float(bound), "bit/s") for bound in (each.rate.least_bit_per_s, each.rate.most_bit_per_s))
        for each in here
        if each.rate is not None
    ]
    fixed = [float(each.rate_bit_per_s) for each in here if each.rate_bit_per_s is not None and each.rate is None]
    told += [quantity(min(fixed), "bit/s")] if fixed else []
    return " and ".join(told) or "unlimited"


def _loss_of(here: Sequence[ResolvedDirection]) -> str:
    """Independent losses have one number, which those of several links make together; other models are named."""
    losses = [each.loss for each in here if each.loss is not None]
    names = [loss.model or "see the spec" for loss in losses if loss.probability_pct is None]
    kept = math.prod(1 - float(loss.probability_pct) / 100 for loss in losses if loss.probability_pct is not None)
    own = [quantity(100 * (1 - kept), "%")] if len(names) < len(losses) else []
    return " and ".join([*own, *names]) or "0 %"
