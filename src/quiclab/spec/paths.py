# SPDX-License-Identifier: Apache-2.0
"""`[[path]]`: its links, each with two directions, from keys that hold for both and tables that override one.

Packets addressed by what a link can see of them without keys (`drop` and `spare`), read from a spec.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from quiclab.model.addresses import Addresses
from quiclab.model.bounds import MINUTE, Burst, Repetition
from quiclab.model.nat import Nat
from quiclab.model.network import Oversize
from quiclab.model.study import Direction, DropList, DualPi2, FqCoDel, Jitter, Link, Path, Police, RandomRate
from quiclab.model.units import Bitrate, ByteCount, Duration
from quiclab.spec import json_form, kinds, recorded, traces
from quiclab.spec.aqm import AQM
from quiclab.spec.effects import EFFECTS
from quiclab.spec.impairments import CHANGEABLE_KEYS, SCHEDULE
from quiclab.spec.link import reference_rate
from quiclab.spec.nodes import (
    FAILED,
    Kind,
    Node,
    ReportedError,
    Values,
    WrongValueError,
    build,
    form_of,
    read_keys,
    read_or_report,
    show,
    table,
)
from quiclab.spec.outage import endless_outage, mean_loss
from quiclab.spec.periods import changed_rates, period_problems
from quiclab.spec.profiles import profiles, with_profile
from quiclab.spec.random_rate import RATE_OR_RANDOM
from quiclab.spec.shaper import shaper_problems
from quiclab.spec.slots import slot_problems
from quiclab.spec.toml_text import Toml

_BY_NUMBER = kinds.several(kinds.whole(0, 2**32 - 2), "an array of packet numbers from 0", least=1)


_COUNTED = kinds.several(kinds.whole(1, 2**32 - 2), "an array of numbers from 1", least=1)


_BYTES = kinds.several(kinds.whole(1, 2**53), "an array of numbers of bytes from 1", least=1)


ADDRESS_KEYS: Mapping[str, Kind[Any]] = {
    field.name: {"packet": _BY_NUMBER, "byte": _BYTES}.get(field.name, _COUNTED)
    for field in dataclasses.fields(Addresses)
}


def _read(node: Node) -> Addresses:
    addresses = build(Addresses, node, ADDRESS_KEYS)
    if not any(addresses):
        raise WrongValueError(f"no packet is addressed; write one of {', '.join(ADDRESS_KEYS)} with its numbers")
    found = list(addresses)
    for kind, number in found:
        if found.count((kind, number)) > 1:
            raise WrongValueError(f"{kind} {number} is addressed twice; write it once")
    return addresses


ADDRESSES: Kind[Addresses] = table("a table such as {initial = [1], large = [40]}", Addresses, ADDRESS_KEYS, _read)


LEAST_IPV6_MTU = 1280
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
    lambda node: _without_replaced(node, read_keys(node, DIRECTION_KEYS)),
    form_of(DIRECTION_KEYS, Direction),
)
_BOTH_DIRECTIONS: Mapping[str, Kind[Any]] = {"up": _OVERRIDES, "down": _OVERRIDES, **DIRECTION_KEYS}
_PROFILE = kinds.choice(tuple(profiles()), 'the name of a profile such as "lte"')
RTT: Kind[Duration] = kinds.quantity(Duration, "a round-trip time", "40 ms", Duration(0), Duration(2 * MINUTE.ns))
NAT_KEYS = kinds.keys_of(Nat)


def _read_nat(node: Node) -> Nat:
    nat = build(Nat, node, NAT_KEYS)
    if nat == Nat():
        raise WrongValueError(f"nothing is ever forgotten here; write {' or '.join(NAT_KEYS)} with a time")
    return nat


NAT: Kind[Nat] = table('a table such as {rebind = "2 s"} or {timeout = "30 s"}', Nat, NAT_KEYS, _read_nat)
LINK_KEYS: Mapping[str, Kind[Any]] = {
    "name": kinds.NAME,
    "profile": _PROFILE,
    "rtt": RTT,
    "nat": NAT,
    **_BOTH_DIRECTIONS,
}


def _read_links(node: Node) -> list[Node]:
    if not isinstance(node.value, list) or not node.value:
        raise WrongValueError(f"{show(node.value)}; write {_LINKS.wanted}")
    return list(node.elements())


_LINKS: Kind[list[Node]] = Kind(
    "one table [[path.link]] for each link, from client to server",
    _read_links,
    json_form.array(form_of(LINK_KEYS, Link), 1),
)
PATH_KEYS: Mapping[str, Kind[Any]] = {
    "name": kinds.NAME,
    "title": kinds.TITLE,
    "profile": _PROFILE,
    "mtu": kinds.whole(576, 65535),
    "ip_version": kinds.choice((4, 6)),
    "link": _LINKS,
    "rtt": RTT,
    "nat": NAT,
    **_BOTH_DIRECTIONS,
}


def read_path(node: Node) -> Path:
    """Read one `[[path]]` with its defaults filled in."""
    before = node.source.reports
    if isinstance(node.value, dict) and "link" not in node.value:
        node = _with_delay(node)
    if isinstance(node.value, dict) and _has_profile(node.value) and "link" not in node.value:
        node = replace(node, value=with_profile(node.value, DIRECTION_KEYS))
    values = _without_replaced(node, read_keys(node, PATH_KEYS, required=("name",)))
    mtu = values.get("mtu", Path.mtu)
    if "link" in values:
        links = _several(node, values.pop("link"), mtu)
    else:
        directions = _directions(node, values, mtu)
        links = (Link(Path.link_name, directions["up"], directions["down"]),)
    if values.get("ip_version") == 6:
        _check_told_mtus(node, links)
    if values.get("ip_version") == 6 and mtu < LEAST_IPV6_MTU:
        node.child("mtu").report(f"{mtu} is too small: IPv6 needs at least {LEAST_IPV6_MTU} (RFC 8200 section 5)")
    if node.source.reports > before:
        raise ReportedError
    own = {key: value for key, value in values.items() if key not in _BOTH_DIRECTIONS}
    first, *more = links
    own = {"title": values["name"], "nat": first.nat, **own}
    return Path(**own, link_name=first.name, up=first.up, down=first.down, more_links=tuple(more))


def _check_told_mtus(node: Node, links: Iterable[Link]) -> None:
    """Report links that tell a sender of an MTU that IPv6 does not know."""
    for link in links:
        for direction in (link.up, link.down):
            sizes = [direction.oversize, *(change.oversize for change in direction.schedule)]
            told = [each.above.bytes for each in sizes if isinstance(each, Oversize) and each.too_big == "icmp"]
            if any(above < LEAST_IPV6_MTU for above in told):
                node.report(
                    f"oversize: {min(told)} bytes are told to nobody: IPv6 needs at least {LEAST_IPV6_MTU} "
                    '(RFC 8200 section 5); write more, or too_big = "black hole"'
                )
                return


PATH: Kind[Path] = table("a table", Path, PATH_KEYS, read_path)


def _several(path: Node, nodes: list[Node], mtu: int) -> tuple[Link, ...]:
    """Read several links in a row. Raises ReportedError."""
    before = path.source.reports
    for key in path.value:
        if key in (*_BOTH_DIRECTIONS, "profile", "rtt", "nat"):
            path.child(key).report("where a path has [[path.link]], this key belongs to each of those links")
    links: dict[str, Link] = {}
    for node in nodes:
        link = read_link(node, mtu, LINK_KEYS, required=("name",))
        if link.name in links:
            node.child("name").report(f'"{link.name}" is the name of another link of this path; names are unique')
        links[link.name] = link
    if path.source.reports > before:
        raise ReportedError
    return tuple(links.values())


def read_link(node: Node, mtu: int, keys: Mapping[str, Kind[Any]], required: tuple[str, ...] = ()) -> Link:
    """A link that is described by a table of its own, with its profile's values and its defaults filled in."""
    if isinstance(node.value, dict):
        node = _with_delay(node)
    if isinstance(node.value, dict) and _has_profile(node.value):
        merged = with_profile(node.value, DIRECTION_KEYS)
        node = replace(node, value={key: value for key, value in merged.items() if key in keys})
    values = _without_replaced(node, read_keys(node, keys, required=required))
    directions = _directions(node, values, mtu)
    own = (values.get("profile", ""), values.get("nat"))
    return Link(values.get("name", ""), directions["up"], directions["down"], *own)


def _has_profile(table: Toml) -> bool:
    """True if a table names a profile that there is."""
    name = table.get("profile")
    return isinstance(name, str) and name in profiles()


def _with_delay(node: Node) -> Node:
    """The table of a link with a delay in place of its RTT: half of it in each direction."""
    if "rtt" not in node.value:
        return node
    rtt, at = read_or_report(node.child("rtt"), RTT), node.child("rtt")
    sides = [side for side in ("up", "down") if "delay" in (node.value.get(side) or ())]
    if "delay" in node.value or sides:
        beside = "" if "delay" in node.value else f" of {sides[0]}"
        at.report(f'it cannot stand beside "delay"{beside}, which is half of it; write one or the other')
    elif rtt is not FAILED and rtt.ns % 2:
        at.report(f"{rtt} is no whole number of nanoseconds each way; write an even number")
    elif rtt is not FAILED:
        kept = {key: value for key, value in node.value.items() if key != "rtt"}
        return replace(node, value={**kept, "delay": str(Duration(rtt.ns // 2))})
    return replace(node, value={key: value for key, value in node.value.items() if key != "rtt"})


def _directions(node: Node, values: Values, mtu: int) -> dict[str, Direction]:
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


def _without_replaced(node: Node, values: Values) -> Values:
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
                f"an MTU of {size.above} is told to nobody: write {_LEAST_TOLD_MTU} or more, which every host takes, "
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
