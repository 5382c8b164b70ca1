# SPDX-License-Identifier: Apache-2.0
"""Changes of a spec that a study allows: it may grow, but what has been run may not change under its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FREE = {"title"}
"""Keys that only people read."""


def conflicts(old: Mapping[str, object], new: Mapping[str, object]) -> tuple[str, ...]:
    """List what a changed spec would make untrue of trials that exist; both are resolved specs.

    Blocks, workloads and paths may be added, and questions, levels and limits changed. Arms may not even be added,
    because the trials of a block run back to back. A spec of another name, or without a workload or path in common, is
    another study's.
    """
    found = [f"{key}: was {old[key]}, is {new[key]}" for key in ("name", "seed") if old[key] != new[key]]
    for kind in ("workloads", "paths"):
        was, now = list(_by_name(old, kind)), list(_by_name(new, kind))
        if was and not set(was) & set(now):
            found.append(f"{kind}: were {', '.join(was)}, are {', '.join(now)}")
    for kind in ("workloads", "paths", "arms"):
        before, after = _by_name(old, kind), _by_name(new, kind)
        word = kind.removesuffix("s")
        found += [
            f"{word} {name!r}: {_where(before[name], after[name])}"
            for name in before
            if name in after and before[name] != after[name]
        ]
        if kind == "arms":
            found += [f"arm {name!r} was not there" for name in after if name not in before]
            found += [f"arm {name!r} is gone" for name in before if name not in after]
    return tuple(found)


def _by_name(spec: Mapping[str, object], kind: str) -> dict[str, dict[str, object]]:
    """The tables of one kind by their names. Raises TypeError where there is no list of them."""
    tables = spec[kind]
    if not isinstance(tables, list):
        raise TypeError(f"{kind} is no list")
    return {item["name"]: essence_of(item) for item in tables}


def essence_of(item: Mapping[str, object]) -> dict[str, object]:
    """Table without keys that only people read and keys that are not set, so that a key may be new to this version. A
    trace is compared by its file's name, because a study keeps a copy of its own."""
    essence = {key: _inner(value) for key, value in item.items()}
    for key in ("trace", "delay_trace"):
        if isinstance(trace := essence.get(key), str):
            essence[key] = trace.rpartition("/")[2]
    return {key: value for key, value in essence.items() if key not in _FREE and value is not None}


def _inner(value: object) -> object:
    """A value of a table, with the essence of the tables in it."""
    if isinstance(value, list):
        return [_inner(each) for each in value]
    return essence_of(value) if isinstance(value, dict) else value


def _where(before: Any, after: Any, place: str = "") -> str:
    """The first key that differs, with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            if before.get(key) != after.get(key):
                return _where(before.get(key), after.get(key), f"{place}.{key}" if place else key)
    return f"{place} was {before}, is {after}"
