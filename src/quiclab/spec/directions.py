# SPDX-License-Identifier: Apache-2.0
"""The two directions of a link, from keys that hold for both and tables that override one, and what cannot stand
together in one.

Packets addressed by what a link can see of them without keys (`drop` and `spare`) are read here, too.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from quiclab.model.addresses import Addresses
from quiclab.model.bounds import Burst, Repetition
from quiclab.model.network import Oversize
from quiclab.model.study import Direction, DropList, DualPi2, FqCoDel, Jitter, Police, RandomRate
from quiclab.model.units import Bitrate, ByteCount, Duration
from quiclab.spec import json_form, kinds, recorded, traces
from quiclab.spec.aqm import AQM
from quiclab.spec.effects import EFFECTS
from quiclab.spec.impairments import CHANGEABLE_KEYS, SCHEDULE
from quiclab.spec.link import reference_rate
from quiclab.spec.nodes import Kind, Node, Values, WrongValueError, build, form_of, read_keys, table
from quiclab.spec.outage import endless_outage, mean_loss
from quiclab.spec.periods import changed_rates, period_problems
from quiclab.spec.random_rate import RATE_OR_RANDOM
from quiclab.spec.shaper import shaper_problems
from quiclab.spec.slots import slot_problems

_BY_NUMBER = kinds.several(kinds.whole(0, 2**32 - 2), "an array of packet numbers from 0", least=1)


_COUNTED = kinds.several(kinds.whole(1, 2**32 - 2), "an array of numbers from 1", least=1)


_BYTES = kinds.several(kinds.whole(1, 2**53), "an array of numbers of bytes from 1", least=1)


ADDRESS_KEYS: Mapping[str, Kind[Any]] = {
    field.name: {"packet": _BY_NUMBER, "byte": _BYTES}.get(field.name, _COUNTED)
    for field in dataclasses.fields(Addresses)
}


def _read_addresses(node: Node) -> Addresses:
    addresses = build(Addresses, node, ADDRESS_KEYS)
    if not any(addresses):
        raise WrongValueError(f"no packet is addressed; write one of {', '.join(ADDRESS_KEYS)} with its numbers")
    found = list(addresses)
    for kind, number in found:
        if found.count((kind, number)) > 1:
            raise WrongValueError(f"{kind} {number} is addressed twice; write it once")
    return addresses


ADDRESSES: Kind[Addresses] = table(
    "a table such as {initial = [1], large = [40]}", Addresses, ADDRESS_KEYS, _read_addresses
)


_LEAST_TOLD_MTU = ByteCount(576)
_LEAST_EDGE = Bitrate(10**9)
_EDGE_FACTOR = 10
_BOUNDS_BESIDE_AQM = '"2 bdp", "1000 packets", "64 KB" or "unbounded"'


def _read_edge(node: Node) -> Bitrate | None:
    return None if node.value == "none" else kinds.RATE.read(node)


def _read_trace(node: Node) -> str:
    path = kinds.FILE.read(node)
    traces.mean_rate(path)
    return str(path)


def _read_delay_trace(node: Node) -> str:
    path = kinds.FILE.read(node)
    recorded.delays(path)
    return str(path)


DIRECTION_KEYS: Mapping[str, Kind[Any]] = {
    **CHANGEABLE_KEYS,
    "rate": RATE_OR_RANDOM,
    "aqm": AQM,
    **{name: effect.kind for name, effect in EFFECTS.items()},
    "burst": kinds.kind_of(Burst),
    "peak_rate": kinds.RATE,
    "delay_trace": Kind(
        "the name of a file of recorded delays, absolute or relative to the spec", _read_delay_trace, json_form.TEXT
    ),
    "edge": Kind(
        f'{kinds.RATE.wanted}, or "none"', _read_edge, json_form.either(kinds.RATE.form, json_form.one_of(["none"]))
    ),
    "overhead": kinds.quantity(ByteCount, "a size", "38 B", ByteCount(0), ByteCount(1000)),
    "loss_at": kinds.choice(("entry", "exit")),
    "loss_as": kinds.choice(("drop", "ecn mark")),
    "duplicate_correlation": kinds.PART,
    "corrupt_correlation": kinds.PART,
    "loss_by": kinds.choice(("index", "class", "bytes", "super-packet")),
    "drop": ADDRESSES,
    "spare": ADDRESSES,
    "schedule": SCHEDULE,
    "repeat": kinds.kind_of(Repetition),
    "trace": Kind("the name of a Mahimahi trace, absolute or relative to the spec", _read_trace, json_form.TEXT),
}
_OVERRIDES: Kind[dict[str, object]] = Kind(
    "a table with the keys of one direction",
    lambda node: without_replaced(node, read_keys(node, DIRECTION_KEYS)),
    form_of(DIRECTION_KEYS, Direction),
)
BOTH_DIRECTIONS: Mapping[str, Kind[Any]] = {"up": _OVERRIDES, "down": _OVERRIDES, **DIRECTION_KEYS}


def read_directions(node: Node, values: Values, mtu: int) -> dict[str, Direction]:
    """Both directions of a link, `up` and `down`, of the values of its keys; what cannot stand together is reported."""
    both = {key: value for key, value in values.items() if key in DIRECTION_KEYS}
    sides = {side: _direction(node, side, both, values.get(side, {}), mtu) for side in ("up", "down")}
    _check_losses(node, values, sides)
    for side, direction in sides.items():
        _check_passes(node, side, values, direction)
    return sides


def _check_passes(node: Node, side: str, values: Values, direction: Direction) -> None:
    """Report a direction in which no packet arrives from the beginning to the end."""
    if endless_outage(direction) != Duration(0):
        return
    lost = "loss" if mean_loss(direction.loss) >= 1 else "corrupt" if direction.corrupt.value >= 1 else "schedule"
    place = node.child(side) if lost in values.get(side, {}) else node
    place.child(lost).report(
        "every packet is lost from the beginning to the end, so nothing can be transferred; write less than 100 %, or "
        'in a spec an outage that ends: schedule = [{at = "2 s", loss = "100 %"}, {at = "3 s", loss = "0 %"}]'
    )


def _check_losses(node: Node, values: Values, sides: Mapping[str, Direction]) -> None:
    """Report keys about losses where nothing is lost, and packets that are to be dropped and spared."""
    for key, needs in (("loss_by", _draws), ("loss_as", _draws_loss), ("spare", _loses)):
        idle = [side for side, direction in sides.items() if not needs(direction)]
        for side in idle:
            if key in values.get(side, {}):
                node.child(side).child(key).report(f'{_IDLE[key]} {side}; write a "loss" or leave "{key}" out')
        if key in values and len(idle) == len(sides):
            node.child(key).report(f'{_IDLE[key]}; write a "loss" or leave "{key}" out')
    for side, direction in sides.items():
        for kind, number in sorted({*(direction.drop or ())} & {*(direction.spare or ())}):
            place = node.child(side) if "drop" in values.get(side, {}) else node
            place.child("drop").report(f"{kind} {number} is to be dropped and to be spared {side}; choose one")


_IDLE = {
    "loss_by": "no loss is drawn by chance",
    "loss_as": "no loss is drawn by chance",
    "spare": "nothing is lost that could be spared",
}


def _losses(direction: Direction) -> list[Any]:
    models = [direction.loss, *(change.loss for change in direction.schedule)]
    return [model for model in models if model is not None and model != "none"]


def _loses(direction: Direction) -> bool:
    return bool(_losses(direction))


def _draws(direction: Direction) -> bool:
    if direction.loss_by == "super-packet" and _varies(direction):
        return True
    return _draws_loss(direction)


def _draws_loss(direction: Direction) -> bool:
    return any(not isinstance(model, DropList) for model in _losses(direction))


def _varies(direction: Direction) -> bool:
    """True if jitter, reordering or duplication is drawn, once for a super-packet too."""
    jitters = [direction.jitter, *(change.jitter for change in direction.schedule)]
    by_packet = any(isinstance(jitter, Jitter) and jitter.mode == "reorder" for jitter in jitters)
    return by_packet or direction.reorder is not None or bool(direction.duplicate.value)


def without_replaced(node: Node, values: Values) -> Values:
    """The values; keys that replace each other are reported."""
    if "rate" in values and "trace" in values:
        node.child("trace").report('"trace" replaces "rate"; write one of them')
    if "delay" in values and "delay_trace" in values:
        node.child("delay_trace").report('"delay_trace" replaces "delay"; write one of them')
    return values


def _direction(node: Node, side: str, both: Values, own: Values, mtu: int) -> Direction:
    """Build one direction from what the path says for both, overridden by what it says for this one."""
    stands_for = {"rate": "trace", "trace": "rate", "delay": "delay_trace", "delay_trace": "delay"}
    overridden = {stands_for[key] for key in own if key in stands_for}
    values = {**{key: value for key, value in both.items() if key not in overridden}, **own}
    direction = Direction(**values)
    if direction.delay_trace is not None:
        least = recorded.delays(pathlib.Path(direction.delay_trace)).least
        direction = replace(direction, delay=Duration(int(least)))

    def node_of(key: str) -> Node:
        return (node.child(side) if key in own else node).child(key)

    rates = changed_rates(direction)
    sets_rate = any(change.rate is not None for change in direction.schedule)
    reference = reference_rate(direction)
    sizes = [("oversize", direction.oversize), *(("schedule", change.oversize) for change in direction.schedule)]
    for key, size in sizes:
        if isinstance(size, Oversize) and size.too_big == "icmp" and size.above < _LEAST_TOLD_MTU:
            node_of(key).report(
                f"a host may ignore an MTU of {size.above}; write {_LEAST_TOLD_MTU} or more, which every host takes, "
                'or too_big = "black hole"'
            )
    policers = [("police", direction.police), *(("schedule", change.police) for change in direction.schedule)]
    slots = [("slot", direction.slot), *(("schedule", change.slot) for change in direction.schedule)]
    for key, slot in slots:
        for problem in slot_problems(slot, mtu, bounded=reference is not None or "queue" in values):
            node_of(key).report(problem)
    for key, police in policers:
        if isinstance(police, Police) and police.burst.bytes < mtu:
            node_of(key).report(f"a burst of {police.burst} has no room for one packet of {ByteCount(mtu)}")
    fixed = [*rates, *([direction.rate] if isinstance(direction.rate, Bitrate) else [])]
    for key, problem in (*shaper_problems(direction, fixed, mtu), *period_problems(direction)):
        node_of(key).report(problem)
    if direction.trace is not None and sets_rate:
        node_of("schedule").report('"rate" cannot change where a "trace" gives it')
    if isinstance(direction.rate, RandomRate) and sets_rate:
        node_of("schedule").report('"rate" cannot change where it is drawn by chance')
    managed = [aqm for aqm in _changed_aqm(direction) if aqm != "none"]
    fair = [aqm if isinstance(aqm, FqCoDel) else None for aqm in (direction.aqm, *_changed_aqm(direction))]
    if len({(aqm.flows, aqm.quantum) if aqm else None for aqm in fair}) > 1:
        node_of("schedule").report(
            'the queues by flow of "fq_codel" cannot come or go, and its flows and quantum stay: '
            "only its target, interval and ecn can change"
        )
    two = [isinstance(aqm, DualPi2) for aqm in (direction.aqm, *_changed_aqm(direction))]
    if any(two) and not all(two):
        node_of("schedule").report('the two queues of "dualpi2" cannot come or go')
    if reference is None:
        if "queue" in values and all(slot is None for _, slot in slots):
            node_of("queue").report('a queue needs a "rate" or a "trace": without one no packet ever waits')
        if managed:
            node_of("schedule").report('"aqm" manages a queue, which needs a "rate" or a "trace"')
        if direction.aqm is not None:
            node_of("aqm").report('"aqm" manages a queue, which needs a "rate" or a "trace"')
        return direction
    full_packet = ByteCount(mtu + direction.overhead.bytes)
    slowest = None if direction.trace is not None else min([_bound(direction, min) or reference, *rates])
    changed = [("schedule", change.queue) for change in direction.schedule if change.queue is not None]
    for key, queue in (("queue", direction.queue), *changed):
        if queue.bytes is not None and queue.bytes.bytes < mtu:
            node_of(key).report(f"a queue of {queue.bytes} has no room for one packet of {ByteCount(mtu)}")
        if queue.time is not None and (direction.aqm is not None or managed):
            node_of(key).report(f'a queue that "aqm" manages has no bound in time; write {_BOUNDS_BESIDE_AQM}')
        elif queue.time is not None and slowest is not None and queue.time < slowest.time_for(full_packet):
            service = slowest.time_for(full_packet)
            node_of(key).report(
                f"a queue of {queue.time} lets no packet of {full_packet} pass: it takes {service} at {slowest}"
            )
    if "edge" in values:
        return direction
    fastest = max([direction.peak_rate or _bound(direction, max) or reference, *rates])
    return replace(direction, edge=max(_LEAST_EDGE, Bitrate(_EDGE_FACTOR * fastest.bit_per_s)))


def _changed_aqm(direction: Direction) -> list[Any]:
    """Ways in which the schedule changes the queue's management, one after the other."""
    return [change.aqm for change in direction.schedule if change.aqm is not None]


def _bound(direction: Direction, choose: Callable[[tuple[Bitrate, Bitrate]], Bitrate]) -> Bitrate | None:
    """The lowest or highest rate that may be drawn, as `choose` picks; None without a random rate."""
    rate = direction.rate
    return choose((rate.least, rate.most)) if isinstance(rate, RandomRate) else None
