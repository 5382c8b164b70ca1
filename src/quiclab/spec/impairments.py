# SPDX-License-Identifier: Apache-2.0
"""Impairments of a link, as the spec writes them: queue, jitter, loss, reordering, and changes of these."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from quiclab.model.study import (
    Bernoulli,
    Bursts,
    Change,
    DropList,
    GilbertElliott,
    Jitter,
    Loss,
    LossTrace,
    Queue,
    Reorder,
)
from quiclab.model.units import ByteCount, Duration, Share
from quiclab.spec import json_form, kinds
from quiclab.spec.aqm import AQM
from quiclab.spec.effects import EFFECTS
from quiclab.spec.jitter import least_half_life
from quiclab.spec.nodes import (
    Kind,
    Node,
    ReportedError,
    WrongValueError,
    build,
    closest,
    form_of,
    read_keys,
    required_keys,
    show,
    table,
)
from quiclab.spec.recorded import losses

_MULTIPLE = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(bdp|packets?)\s*")


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
    unit = node.value.strip(" 0123456789.+-")
    if unit.endswith("B"):
        return "bytes", _QUEUE_SIZE.read(node)
    if unit in (*Duration.UNITS, "µs"):
        return "time", kinds.TIME.read(node)
    raise WrongValueError(f'"{node.value}" is not a queue; write {QUEUE.wanted}')


_QUEUE_SIZE = kinds.quantity(ByteCount, "a queue", "64 KB", ByteCount(1), ByteCount(10**12))
_BOUND: Kind[tuple[str, Any]] = Kind(
    '"1 bdp", "100 packets", "64 KB" or "20 ms"',
    _queue_bound,
    json_form.either(json_form.matching(_MULTIPLE.pattern), _QUEUE_SIZE.form, kinds.TIME.form),
)


def _read_queue(node: Node) -> Queue:
    if node.value == "unbounded":
        return Queue()
    if not isinstance(node.value, list):
        return Queue(**dict([_queue_bound(node)]))
    bounds = kinds.several(_BOUND, QUEUE.wanted, least=1).read(node)
    if len(dict(bounds)) < len(bounds):
        raise WrongValueError(
            "two bounds of the same unit; write each unit at most once, or several queues as arrays, such as "
            '[["1 bdp"], ["4 bdp"]]'
        )
    return Queue(**dict(bounds))


QUEUE: Kind[Queue] = Kind(
    '"1 bdp", "100 packets", "64 KB", "20 ms", an array of several of these, or "unbounded"',
    _read_queue,
    json_form.either(_BOUND.form, json_form.array(_BOUND.form, 1), json_form.one_of(["unbounded"])),
)

JITTER_KEYS = kinds.keys_of(Jitter)


def _read_jitter(node: Node) -> Jitter:
    jitter = build(Jitter, node, JITTER_KEYS)
    if jitter.half_life is None:
        return jitter
    if jitter.mode == "reorder":
        raise WrongValueError('"half_life" belongs to mode "inorder": in mode "reorder" each packet is drawn by itself')
    if jitter.half_life.ns < (least := least_half_life(jitter)).ns:
        raise WrongValueError(
            f"a half-life of {jitter.half_life} is too short: a delay that varies by {jitter.scale} "
            f"({jitter.distribution}) and keeps packets in order cannot forget itself in less than {least}"
        )
    return jitter


JITTER: Kind[Jitter] = table(
    'a table such as {distribution = "normal", scale = "5 ms"}', Jitter, JITTER_KEYS, _read_jitter
)

REORDER_KEYS = kinds.keys_of(Reorder)
REORDER: Kind[Reorder] = table('a table such as {probability = "1 %", extra_delay = "5 ms"}', Reorder, REORDER_KEYS)

_PACKET_NUMBERS: Kind[tuple[int, ...]] = kinds.several(kinds.whole(0, 2**32 - 2), "an array of packet numbers from 0")
_DRAWN: Mapping[str, type[Loss]] = {"bernoulli": Bernoulli, "gilbert-elliott": GilbertElliott, "bursts": Bursts}
_RECORDING: Kind[str] = Kind(
    "the name of a file of recorded losses, absolute or relative to the spec",
    lambda node: str(kinds.FILE.read(node)),
    json_form.TEXT,
)
LOSS_MODELS: Mapping[str, tuple[type[Loss], Mapping[str, Kind[Any]]]] = {
    **{name: (cls, kinds.keys_of(cls)) for name, cls in _DRAWN.items()},
    "list": (DropList, {"packets": _PACKET_NUMBERS}),
    "trace": (LossTrace, {"trace": _RECORDING, "by": kinds.choice(("time", "packet"))}),
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
    before = node.source.reports
    values = read_keys(node, {"model": kinds.TITLE, **keys}, required_keys(cls))
    if node.source.reports > before:
        raise ReportedError
    del values["model"]
    loss = cls(**values)
    if isinstance(loss, LossTrace):
        losses(loss)
    if isinstance(loss, Bernoulli) and loss.correlation is not None and loss.correlation.value >= 1:
        raise WrongValueError("a correlation is below 100 %: else all packets have the fate of the first")
    return loss


LOSS: Kind[Loss] = Kind(
    '"1 %" (each packet by itself), a table with a model (bernoulli, gilbert-elliott, bursts, list, trace), or an '
    "array of packet numbers",
    _read_loss,
    json_form.either(
        kinds.SHARE.form,
        _PACKET_NUMBERS.form,
        *(
            form_of({"model": kinds.choice((name,)), **keys}, cls, ("model", *required_keys(cls)))
            for name, (cls, keys) in LOSS_MODELS.items()
        ),
    ),
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


def _or_none(kind: Kind[Any]) -> Kind[Any]:
    """A kind that also takes "none", for settings that a change can end."""
    return Kind(
        f'{kind.wanted}, or "none"',
        lambda node: "none" if node.value == "none" else kind.read(node),
        json_form.either(kind.form, json_form.one_of(["none"])),
    )


ENDABLE_KEYS = frozenset({"jitter", "reorder", "aqm", *EFFECTS})
"""Settings that a change can end by "none"."""
CHANGE_KEYS: Mapping[str, Kind[Any]] = {
    "at": kinds.INSTANT,
    **CHANGEABLE_KEYS,
    "rate": _or_none(kinds.RATE),
    "loss": _or_none(LOSS),
    "jitter": _or_none(JITTER),
    "reorder": _or_none(REORDER),
    "aqm": _or_none(AQM),
    **{name: _or_none(effect.kind) for name, effect in EFFECTS.items()},
}


def _read_change(node: Node) -> Change:
    change = build(Change, node, CHANGE_KEYS)
    if len(node.value) == 1:
        raise WrongValueError(f'nothing changes here; write one of {", ".join(list(CHANGE_KEYS)[1:])} beside "at"')
    for name in EFFECTS:
        after = getattr(getattr(change, name), "after", None)
        if after is not None and after.ns:
            raise WrongValueError(f'a change begins at its "at"; leave "after" out of "{name}"')
    return change


_CHANGES = kinds.several(
    table("a table", Change, CHANGE_KEYS, _read_change), 'an array of tables such as {at = "2 s", rate = "5 Mbit/s"}'
)


def _read_schedule(node: Node) -> tuple[Change, ...]:
    """Read changes and put them into the order of time. Raises WrongValueError where two give one setting at once."""
    changes: list[Change] = sorted(_CHANGES.read(node), key=lambda change: change.at)
    seen: set[tuple[Duration, str]] = set()
    for change in changes:
        for key in (key for key in list(CHANGE_KEYS)[1:] if getattr(change, key) is not None):
            if (change.at, key) in seen:
                raise WrongValueError(f'"{key}" changes twice at {change.at}; write it once')
            seen.add((change.at, key))
    return tuple(changes)


SCHEDULE: Kind[tuple[Change, ...]] = Kind(_CHANGES.wanted, _read_schedule, _CHANGES.form)
