# SPDX-License-Identifier: Apache-2.0
"""A path's links as the link emulator's configuration: whole numbers with their unit in the name, nothing left open."""

from __future__ import annotations

import dataclasses
import math
import pathlib
from typing import Any, Literal

from quiclab.model.nat import Nat
from quiclab.model.study import (
    Addresses,
    Aqm,
    Bernoulli,
    Bursts,
    Change,
    Direction,
    DropList,
    GilbertElliott,
    Jitter,
    Link,
    Loss,
    LossTrace,
    Path,
    Queue,
    RandomRate,
)
from quiclab.model.units import Bitrate, ByteCount, Duration, Share
from quiclab.spec import traces
from quiclab.spec.effects import EFFECTS
from quiclab.spec.jitter import half_life
from quiclab.spec.periods import changed_rates
from quiclab.spec.resolved import MODEL_NAMES, as_json, suffix_of

PUNCTUAL = Duration(100_000)
"""Lateness of 1 % of its packets up to which a link is called punctual over any path."""
ONE_WAY_DELAY_SHARE = 0.02
"""Share of the smaller one-way delay up to which a link is, whatever the lateness in time."""
_LONGEST_BURST = Duration(1_000_000)
LEAST_BDP_PACKETS = 32
"""Smallest queue in full packets where it is given in multiples of the BDP: the burst of an initial window must fit."""


def link_config(path: Path, seed: int, later: Path | None = None) -> dict[str, object]:
    """The part of the link's configuration that follows from the spec: seed, and both directions of every link.

    `seed` is the block's, so all trials of a block meet the same draws. `later` is the path once the client has changed
    its network: its first link is the last one here.
    """
    first, *more = (
        {
            "link": link.name,
            "up": _direction(link.up, of.base_rtt, of.mtu),
            "down": _direction(link.down, of.base_rtt, of.mtu),
            **({} if link.nat is None else {"nat": _nat(link.nat)}),
        }
        for of, link in _all_links(path, later)
    )
    return {"version": 1, "seed": str(seed), **first, **({"more_links": more} if more else {})}


def lateness_bounds(path: Path, later: Path | None = None) -> tuple[Duration, ...]:
    """Lateness of 1 % of its packets up to which each link is punctual over this path, link by link."""
    return tuple(_lateness_bound(link, of.mtu) for of, link in _all_links(path, later))


def busiest_rate(path: Path) -> Bitrate | None:
    """Highest rate at which the path passes data in one direction, which its narrowest link decides. A direction
    without any rate counts as one for acknowledgements; None if neither direction has a rate."""
    narrowest = []
    for side in ("up", "down"):
        rates = [rate for link in path.links for rate in _limits(getattr(link, side))]
        narrowest += [min(rates)] if rates else []
    return Bitrate(max(narrowest)) if narrowest else None


def _limits(direction: Direction) -> list[int]:
    """Highest rates of one link in bit/s: that of its bottleneck over the whole schedule, and that of its edge."""
    rate = direction.rate.most if isinstance(direction.rate, RandomRate) else reference_rate(direction)
    highest = [each.bit_per_s for each in (rate, *changed_rates(direction)) if each is not None]
    if not highest:
        return []
    if any(change.rate == "none" for change in direction.schedule):
        highest = []
    elif direction.burst is not None:
        # A burst passes at its peak rate, or as fast as the edge lets it come.
        highest = [] if direction.peak_rate is None else [direction.peak_rate.bit_per_s]
    return ([max(highest)] if highest else []) + ([] if direction.edge is None else [direction.edge.bit_per_s])


def _all_links(path: Path, later: Path | None) -> list[tuple[Path, Link]]:
    """All links, each with the path it belongs to."""
    return [(path, link) for link in path.links] + ([] if later is None else [(later, later.links[0])])


def _lateness_bound(link: Link, mtu: int) -> Duration:
    """`PUNCTUAL`, or the grain of the link or a share of its delay, where that is coarser.

    The grain is a full packet's time of service; where a direction has no rate, the packets of a super-packet are all
    due at once and are written one after another, which takes up to a millisecond: as much as a tenth of the delay.
    """
    delay = min(link.up.delay, link.down.delay)
    rates = [reference_rate(direction) for direction in (link.up, link.down)]
    unlimited = Duration(min(_LONGEST_BURST.ns, delay.ns // 10))
    grains = [unlimited if rate is None else rate.time_for(ByteCount(mtu)) for rate in rates]
    return max([PUNCTUAL, Duration(int(ONE_WAY_DELAY_SHARE * delay.ns)), *grains])


def reference_rate(direction: Direction) -> Bitrate | None:
    """Rate that a BDP is calculated with: the rate itself, the mean of a random rate or of a trace, or the schedule's
    first."""
    if isinstance(direction.rate, RandomRate):
        return direction.rate.mean
    if direction.rate is not None:
        return direction.rate
    if direction.trace is not None:
        return traces.mean_rate(pathlib.Path(direction.trace))
    return next(iter(changed_rates(direction)), None)


def queue_bytes(direction: Direction, base_rtt: Duration, mtu: int) -> int | None:
    """The queue's bound in bytes of IP packets, multiples of the BDP resolved; None is no bound in bytes."""
    return _queue_bytes(direction.queue, reference_rate(direction), base_rtt, mtu)


def _queue_bytes(queue: Queue, rate: Bitrate | None, base_rtt: Duration, mtu: int) -> int | None:
    bounds = [] if queue.bytes is None else [queue.bytes.bytes]
    if queue.bdp is not None and rate is not None:
        bdp_bytes = math.ceil(queue.bdp * rate.bytes_in(base_rtt).bytes)
        bounds.append(max(bdp_bytes, LEAST_BDP_PACKETS * mtu))
    return min(bounds, default=None)


def _direction(direction: Direction, base_rtt: Duration, mtu: int) -> dict[str, object]:
    rate, trace = direction.rate, direction.trace
    return {
        "rate_bit_per_s": rate.bit_per_s if isinstance(rate, Bitrate) else None,
        **({"random_rate": _config(rate)} if isinstance(rate, RandomRate) else {}),
        **({} if direction.burst is None else {"burst_bytes": direction.burst.bytes}),
        **({} if direction.peak_rate is None else {"peak_rate_bit_per_s": direction.peak_rate.bit_per_s}),
        "edge_rate_bit_per_s": None if direction.edge is None else direction.edge.bit_per_s,
        "overhead_bytes": direction.overhead.bytes,
        "queue": _queue(direction.queue, queue_bytes(direction, base_rtt, mtu)),
        "delay_ns": direction.delay.ns,
        **({} if direction.delay_trace is None else {"delay_trace": direction.delay_trace}),
        "jitter": _jitter(direction.jitter),
        "loss": _loss(direction.loss),
        "loss_at": direction.loss_at,
        "reorder": None if direction.reorder is None else _config(direction.reorder),
        "duplicate": _probability(direction.duplicate),
        "corrupt": _probability(direction.corrupt),
        "schedule": [_change(change, direction, base_rtt, mtu) for change in direction.schedule],
        **({} if direction.repeat is None else {"repeat_ns": direction.repeat.ns}),
        "trace": None if trace is None else {"format": "mahimahi", "path": trace, "repeat": True},
        **({} if direction.loss_as == "drop" else {"loss_as": direction.loss_as.replace(" ", "_")}),
        **{
            key: share.value
            for key in ("duplicate_correlation", "corrupt_correlation")
            if (share := getattr(direction, key)) is not None
        },
        **({} if direction.loss_by == "index" else {"loss_by": direction.loss_by}),
        **({} if direction.drop is None else {"drop": _addresses(direction.drop)}),
        **({} if direction.spare is None else {"spare": _addresses(direction.spare)}),
        **({} if direction.aqm is None else {"aqm": _aqm(direction.aqm)}),
        **{name: _config(effect) for name in EFFECTS if (effect := getattr(direction, name)) is not None},
    }


def _nat(nat: Nat) -> dict[str, object]:
    times = {"rebind_ns": nat.rebind, "timeout_ns": nat.timeout}
    return {key: time.ns for key, time in times.items() if time is not None}


def _queue(queue: Queue, bound_bytes: int | None) -> dict[str, int | None]:
    return {
        "bytes": bound_bytes,
        "packets": queue.packets,
        "time_ns": None if queue.time is None else queue.time.ns,
    }


def _config(effect: Any) -> dict[str, object]:
    """An effect under its fields' names, each with its unit; a share is a probability from 0 to 1. What is not set is
    left out."""
    config: dict[str, object] = {}
    for field in dataclasses.fields(effect):
        value = getattr(effect, field.name)
        if value is None:
            continue
        plain = value.value if isinstance(value, Share) else as_json(value)
        config[field.name + ("" if isinstance(value, Share) else suffix_of(field.name, value))] = plain
    return config


def _aqm(aqm: Aqm) -> dict[str, object]:
    return {"model": MODEL_NAMES[type(aqm)], **_config(aqm)}


def _jitter(jitter: Jitter | None) -> dict[str, object] | None:
    if jitter is None:
        return None
    return {
        "distribution": jitter.distribution,
        "scale_ns": jitter.scale.ns,
        "mode": jitter.mode,
        "half_life_ns": half_life(jitter).ns if jitter.mode == "inorder" else 0,
    }


def _loss(loss: Loss | Literal["none"] | None) -> dict[str, object] | None:
    match loss:
        case None | "none":
            return None
        case Bernoulli():
            return {"model": "bernoulli", **_config(loss)}
        case GilbertElliott():
            config = _config(loss)
            chances = {"p": config.pop("good_to_bad"), "r": config.pop("bad_to_good")}
            return {"model": "gilbert_elliott", **chances, **config}
        case Bursts():
            return {"model": "gilbert_elliott_time", **_config(loss)}
        case LossTrace():
            return {"model": "trace", "path": loss.trace, "by": loss.by}
        case DropList():
            return {"model": "list", "indices": list(loss.packets)}


def _addresses(addresses: Addresses) -> dict[str, list[int]]:
    return {kind: list(numbers) for kind, numbers in vars(addresses).items() if numbers}


def _probability(share: Share) -> dict[str, float] | None:
    return {"probability": share.value} if share.value else None


def _change(change: Change, direction: Direction, base_rtt: Duration, mtu: int) -> dict[str, object]:
    """A scheduled change. A queue in BDP is calculated with the rate that the same change sets, else with the first
    rate."""
    rate = change.rate if isinstance(change.rate, Bitrate) else reference_rate(direction)
    new: dict[str, object] = {}
    if change.rate is not None:
        new["rate_bit_per_s"] = None if change.rate == "none" else change.rate.bit_per_s
    if change.delay is not None:
        new["delay_ns"] = change.delay.ns
    if change.loss is not None:
        new["loss"] = _loss(change.loss)
    if change.queue is not None:
        new["queue"] = _queue(change.queue, _queue_bytes(change.queue, rate, base_rtt, mtu))
    if change.jitter is not None:
        new["jitter"] = None if change.jitter == "none" else _jitter(change.jitter)
    if change.reorder is not None:
        new["reorder"] = None if change.reorder == "none" else _config(change.reorder)
    if change.duplicate is not None:
        new["duplicate"] = {"probability": change.duplicate.value}
    if change.corrupt is not None:
        new["corrupt"] = {"probability": change.corrupt.value}
    if change.aqm is not None:
        new["aqm"] = None if change.aqm == "none" else _aqm(change.aqm)
    for name in EFFECTS:
        if (effect := getattr(change, name)) is not None:
            new[name] = None if effect == "none" else _config(effect)
    return {"at_ns": change.at.ns, "set": new}
