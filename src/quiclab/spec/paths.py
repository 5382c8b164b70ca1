# SPDX-License-Identifier: Apache-2.0
"""`[[path]]`: a link's two directions, from keys that hold for both and tables that override one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from quiclab.spec import kinds, traces
from quiclab.spec.link import reference_rate
from quiclab.spec.model import (
    Bernoulli,
    Bursts,
    Change,
    Direction,
    DropList,
    GilbertElliott,
    Jitter,
    Loss,
    Path,
    Queue,
    Reorder,
)
from quiclab.spec.nodes import (
    Kind,
    Node,
    ReportedError,
    WrongValueError,
    build,
    closest,
    read_keys,
    required_keys,
    show,
)
from quiclab.units import Bitrate, ByteCount, Share

_MULTIPLE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(bdp|packets?)\s*")
_LEAST_EDGE = Bitrate(10**9)
_EDGE_FACTOR = 10


def _queue_bound(node: Node) -> tuple[str, Any]:
    """One bound of a queue: the field of `Queue` and its value."""
    if not isinstance(node.value, str):
        raise WrongValueError(f"{show(node.value)}; write {QUEUE.wanted}")
    match = _MULTIPLE.fullmatch(node.value)
    if match is not None:
        number, bdp = float(match[1]), match[2] == "bdp"
        if not (0 < number <= 10**6 and (bdp or number.is_integer())):
            raise WrongValueError(f'"{node.value}" is out of range: a queue is above 0 and at most 1000000 '
                             f"{'BDP' if bdp else 'whole packets'}")  # fmt: skip
        return ("bdp", number) if bdp else ("packets", int(number))
    text = node.value.rstrip()
    if text.endswith("B"):
        return "bytes", _QUEUE_SIZE.read(node)
    if text.endswith(("s", "min")):
        return "time", kinds.TIME.read(node)
    raise WrongValueError(f'"{text}" is not a queue; write {QUEUE.wanted}')


_QUEUE_SIZE = kinds.quantity(ByteCount, "a queue", "64 KB", ByteCount(1), ByteCount(10**12))
_BOUND: Kind[tuple[str, Any]] = Kind('"1 bdp", "100 packets", "64 KB" or "20 ms"', _queue_bound)


def _read_queue(node: Node) -> Queue:
    if node.value == "unbounded":
        return Queue()
    if not isinstance(node.value, list):
        return Queue(**dict([_queue_bound(node)]))
    bounds = kinds.several(_BOUND, QUEUE.wanted, least=1).read(node)
    if len(dict(bounds)) < len(bounds):
        raise WrongValueError("two bounds of the same unit; write each unit at most once")
    return Queue(**dict(bounds))


QUEUE: Kind[Queue] = Kind(
    '"1 bdp", "100 packets", "64 KB", "20 ms", an array of several of these, or "unbounded"', _read_queue
)

JITTER_KEYS: Mapping[str, Kind[Any]] = {
    "distribution": kinds.choice(("uniform", "normal", "pareto", "paretonormal")),
    "scale": kinds.TIME,
    "mode": kinds.choice(("inorder", "reorder")),
    "half_life": kinds.DELAY,
}


def _read_jitter(node: Node) -> Jitter:
    jitter = build(Jitter, node, JITTER_KEYS)
    if jitter.mode == "reorder" and jitter.half_life.ns:
        raise WrongValueError('"half_life" belongs to mode "inorder": in mode "reorder" each packet is drawn by itself')
    return jitter


JITTER: Kind[Jitter] = Kind('a table such as {distribution = "normal", scale = "5 ms"}', _read_jitter)

REORDER_KEYS: Mapping[str, Kind[Any]] = {"probability": kinds.SHARE, "extra_delay": kinds.TIME}
REORDER: Kind[Reorder] = Kind(
    'a table such as {probability = "1 %", extra_delay = "5 ms"}', lambda node: build(Reorder, node, REORDER_KEYS)
)

_PACKET_NUMBERS: Kind[tuple[int, ...]] = kinds.several(kinds.whole(0, 2**32 - 2), "an array of packet numbers from 0")
LOSS_MODELS: Mapping[str, tuple[type[Loss], Mapping[str, Kind[Any]]]] = {
    "bernoulli": (Bernoulli, {"probability": kinds.SHARE}),
    "gilbert-elliott": (
        GilbertElliott,
        dict.fromkeys(("good_to_bad", "bad_to_good", "loss_good", "loss_bad"), kinds.SHARE),
    ),
    "bursts": (
        Bursts,
        {"mean_good": kinds.TIME, "mean_bad": kinds.TIME, "loss_good": kinds.SHARE, "loss_bad": kinds.SHARE},
    ),
    "list": (DropList, {"packets": _PACKET_NUMBERS}),
}


def _read_loss(node: Node) -> Loss:
    if isinstance(node.value, str):
        return Bernoulli(Share.parse(node.value))
    if isinstance(node.value, list):
        return DropList(tuple(sorted(set(_PACKET_NUMBERS.read(node)))))
    if not isinstance(node.value, dict):
        raise WrongValueError(f"{show(node.value)}; write {LOSS.wanted}")
    name = str(node.value.get("model", ""))
    if name not in LOSS_MODELS:
        raise WrongValueError(f'the table needs a "model"; {closest(name, list(LOSS_MODELS), "models")}')
    cls, keys = LOSS_MODELS[name]
    before = len(node.source.problems)
    values = read_keys(node, {"model": kinds.TITLE, **keys}, required_keys(cls))
    if len(node.source.problems) > before:
        raise ReportedError
    del values["model"]
    return cls(**values)


LOSS: Kind[Loss] = Kind(
    '"1 %" (each packet by itself), a table with a model (bernoulli, gilbert-elliott, bursts, list), or an array of '
    "packet numbers",
    _read_loss,
)

CHANGEABLE_KEYS: Mapping[str, Kind[Any]] = {
    "rate": kinds.RATE,
    "delay": kinds.DELAY,
    "loss": LOSS,
    "queue": QUEUE,
    "jitter": JITTER,
    "reorder": REORDER,
    "duplicate": kinds.SHARE,
    "corrupt": kinds.SHARE,
}
CHANGE_KEYS: Mapping[str, Kind[Any]] = {"at": kinds.INSTANT, **CHANGEABLE_KEYS}


def _read_change(node: Node) -> Change:
    change = build(Change, node, CHANGE_KEYS)
    if len(node.value) == 1:
        raise WrongValueError(f'nothing changes here; write one of {", ".join(CHANGEABLE_KEYS)} beside "at"')
    return change


_CHANGES = kinds.several(Kind("a table", _read_change), 'an array of tables such as {at = "2 s", rate = "5 Mbit/s"}')
SCHEDULE: Kind[tuple[Change, ...]] = Kind(
    _CHANGES.wanted, lambda node: tuple(sorted(_CHANGES.read(node), key=lambda change: change.at))
)


def _read_edge(node: Node) -> Bitrate | None:
    return None if node.value == "none" else kinds.RATE.read(node)


def _read_trace(node: Node) -> str:
    path = kinds.FILE.read(node)
    traces.mean_rate(path)
    return str(path)


DIRECTION_KEYS: Mapping[str, Kind[Any]] = {
    **CHANGEABLE_KEYS,
    "edge": Kind(f'{kinds.RATE.wanted}, or "none"', _read_edge),
    "overhead": kinds.quantity(ByteCount, "a size", "38 B", ByteCount(0), ByteCount(1000)),
    "loss_at": kinds.choice(("entry", "exit")),
    "schedule": SCHEDULE,
    "trace": Kind("the name of a Mahimahi trace, absolute or relative to the spec", _read_trace),
}
_OVERRIDES: Kind[dict[str, Any]] = Kind(
    "a table with the keys of one direction",
    lambda node: _without_rate_and_trace(node, read_keys(node, DIRECTION_KEYS)),
)
PATH_KEYS: Mapping[str, Kind[Any]] = {
    "name": kinds.NAME,
    "title": kinds.TITLE,
    "mtu": kinds.whole(576, 65535),
    "ip_version": kinds.choice((4, 6)),
    "up": _OVERRIDES,
    "down": _OVERRIDES,
    **DIRECTION_KEYS,
}


def read_path(node: Node) -> Path:
    """Read one `[[path]]` with its defaults filled in."""
    before = len(node.source.problems)
    values = _without_rate_and_trace(node, read_keys(node, PATH_KEYS, required=("name",)))
    both = {key: value for key, value in values.items() if key in DIRECTION_KEYS}
    directions = {side: _direction(node, side, both, values.get(side, {})) for side in ("up", "down")}
    if values.get("ip_version") == 6 and values.get("mtu", 1500) < 1280:
        node.child("mtu").report(
            f"{values['mtu']} is too small: IPv6 needs an MTU of at least 1280 (RFC 8200 section 5)"
        )
    if len(node.source.problems) > before:
        raise ReportedError
    own = {key: value for key, value in values.items() if key not in DIRECTION_KEYS}
    return Path(**{"title": values["name"], **own, **directions})


PATH: Kind[Path] = Kind("a table", read_path)


def _without_rate_and_trace(node: Node, values: dict[str, Any]) -> dict[str, Any]:
    if "rate" in values and "trace" in values:
        node.child("trace").report('"trace" stands for "rate"; write one of them')
    return values


def _direction(node: Node, side: str, both: dict[str, Any], own: dict[str, Any]) -> Direction:
    """One direction: what the path says for both, overridden by what it says for this one."""
    stands_for = {"rate": "trace", "trace": "rate"}
    overridden = {stands_for[key] for key in own if key in stands_for}
    values = {**{key: value for key, value in both.items() if key not in overridden}, **own}
    direction = Direction(**values)
    place = node.child(side) if own else node
    rates = [change.rate for change in direction.schedule if change.rate is not None]
    if direction.trace is not None and rates:
        place.report('"schedule" cannot change "rate" where a "trace" gives it')
    reference = reference_rate(direction)
    if reference is None:
        if "queue" in values:
            (place if "queue" in own else node).child("queue").report(
                'a queue needs a "rate" or a "trace": without one no packet ever waits'
            )
    elif "edge" not in values:
        fastest = max([reference, *rates])
        edge = max(_LEAST_EDGE, Bitrate(_EDGE_FACTOR * fastest.bit_per_s))
        direction = Direction(**values, edge=edge)
    return direction
