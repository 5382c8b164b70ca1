# SPDX-License-Identifier: Apache-2.0
"""Difference of a cell's spec from the one that its kept results were measured with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from quiclab.spec.read import read_study
from quiclab.spec.resolved import resolved_json

_AXES = {"arms": "arm", "workloads": "workload", "paths": "path"}
_VALUES = {
    "index": "index, each packet by itself",
    "super-packet": "super-packet, all that the sender's offload has joined at once",
}
"""Words for values of `loss_by`."""


@dataclass(frozen=True)
class Changed:
    """Arms, workloads and paths that are no longer what they were when a cell was measured."""

    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Axis of the spec → name → how it differs."""
    measured: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Axis of the spec → names that were measured; empty where nothing has changed."""

    def since(self, workload: str, path: str, arms: Iterable[str]) -> str:
        """Changes since these arms were measured in this cell, joined; empty where there are none."""
        names = {"paths": [path], "workloads": [workload], "arms": arms}
        found = [self.words[axis][name] for axis in names for name in names[axis] if name in self.words.get(axis, {})]
        return "; ".join(dict.fromkeys(found))

    def was_there(self, workload: str | None, path: str | None) -> bool:
        """True if what was measured had this workload and path."""
        return not self.measured or (workload in self.measured["workloads"] and path in self.measured["paths"])


def changed(measured: Path, spec: Path) -> Changed:
    """Compare the spec that was measured with the one that is there now."""
    if measured.read_bytes() == spec.read_bytes():
        return Changed()
    before, now = (resolved_json(read_study(file)) for file in (measured, spec))
    words: dict[str, dict[str, str]] = {}
    names: dict[str, frozenset[str]] = {}
    for axis, title in _AXES.items():
        then, here = _tables(before[axis]), _tables(now[axis])
        names[axis] = frozenset(then)
        for name, leaves in then.items():
            if name not in here:
                words.setdefault(axis, {})[name] = f"its spec has no {title} {name} any more"
            elif leaves != here[name]:
                words.setdefault(axis, {})[name] = _difference(leaves, here[name])
    return Changed(words, names)


def _tables(value: object) -> dict[str, dict[str, object]]:
    """Name → setting by its dotted name; titles are no settings."""
    assert isinstance(value, list)
    return {each["name"]: {key: leaf for key, leaf in _leaves(each) if key != "title"} for each in value}


def _leaves(value: object, dotted: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            yield from _leaves(inner, f"{dotted}.{key}" if dotted else str(key))
    else:
        yield dotted, value


def _difference(before: Mapping[str, object], now: Mapping[str, object]) -> str:
    """Settings that differ, each once for all links and directions."""
    found = dict.fromkeys(
        (_setting(key), _value(before.get(key)), _value(now.get(key)))
        for key in dict.fromkeys([*before, *now])
        if before.get(key) != now.get(key)
    )
    return "; ".join(f"`{key}` was {old}, is {new}" for key, old, new in found)


def _setting(dotted: str) -> str:
    """Name of a setting, whichever link and direction it is of."""
    return ".".join(part for part in dotted.split(".") if part not in ("links", "up", "down") and not part.isdigit())


def _value(value: object) -> str:
    return "not set" if value is None else _VALUES.get(str(value), str(value))
