# SPDX-License-Identifier: Apache-2.0
"""Dataclasses as JSON, by one set of rules for what is printed and for the reference that describes it.

Keys are named like the fields, with the unit of their numbers behind: a value in the unit of its metric is `…_in_unit`.
An interval is a list of its two ends, with its level beside it. What is infinite or unknown is null.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quiclab.compare.statistics import Interval

# These classes are named and not imported: a document without them need not wait for the analysis.
_IN_UNIT = {
    "quiclab.compare.model.TrialResult": ("value", "least", "most"),
    "quiclab.compare.model.ArmResult": ("median", "mean", "sd", "interval"),
    "quiclab.compare.model.Comparison": ("difference", "interval"),
    "quiclab.compare.builds.change.Change": ("shift",),
    "quiclab.why.cause_parts.FactOfArms": ("baseline", "other"),
}
"""Fields in the unit of their metric, or of their own key `unit`, which their names do not tell."""
_LEFT_OUT = {
    "quiclab.compare.builds.change.Change": ("ratio",),
    "quiclab.compare.model.Comparison": ("leans",),
}
"""Fields that are told by derived ones."""
_DERIVED = {
    "quiclab.compare.model.ArmResult": ("failures", "unproven", "unmeasured"),
    "quiclab.compare.builds.change.Change": ("change_pct", "interval_pct"),
    "quiclab.compare.model.StudyAnalysis": ("confidence", "decided_by", "noise_floor_pct"),
}
"""Properties that are told beside the fields."""
_INTERVAL, _SHIFT = "quiclab.model.interval.Interval", "quiclab.compare.statistics.hodges_lehmann.Shift"


@dataclass(frozen=True, eq=False)
class Key:
    """One key of a JSON object."""

    name: str
    kind: Any
    """Type of the value, as a type hint; an interval's two ends are `Ends`."""
    source: str
    """Field or property that it comes from."""
    value: Callable[[Any], Any]
    """Returns the value, of the dataclass that has it."""


class Ends:
    """Stands for the two ends of an interval."""


class Level:
    """Stands for the level of an interval."""


def keys_of(cls: type[Any]) -> list[Key]:
    """Return the keys of a dataclass in JSON."""
    hints = typing.get_type_hints(cls)
    left_out, in_unit = _LEFT_OUT.get(_name(cls), ()), _IN_UNIT.get(_name(cls), ())
    kinds = {field.name: hints[field.name] for field in dataclasses.fields(cls) if field.name not in left_out}
    for name in _DERIVED.get(_name(cls), ()):
        kinds[name] = typing.get_type_hints(getattr(cls, name).fget)["return"]
    found = []
    for name, kind in kinds.items():
        found += _keys(name, name + "_in_unit" * (name in in_unit), kind)
    return found


def _keys(source: str, name: str, kind: Any) -> list[Key]:
    def value(holder: Any) -> Any:
        return getattr(holder, source)

    if _is(kind, _INTERVAL):
        return _interval(source, name, value)
    if _is(kind, _SHIFT):
        stem, _, unit = name.partition("_in_unit")
        interval = f"{stem}_interval_in_unit" if unit or name.endswith("_in_unit") else f"{stem}_interval"
        return [
            Key(name, float | None, source, lambda holder: value(holder).estimate),
            *_interval(source, interval, lambda holder: value(holder).interval),
        ]
    return [Key(name, kind, source, value)]


def _interval(source: str, name: str, value: Callable[[Any], Interval | None]) -> list[Key]:
    stem = name
    for unit in ("_in_unit", "_pct", "_ms"):
        stem = stem.removesuffix(unit)

    def ends(holder: Any) -> Any:
        interval = value(holder)
        return None if interval is None else [interval.low, interval.high]

    def level(holder: Any) -> Any:
        interval = value(holder)
        return None if interval is None else interval.confidence

    return [Key(name, Ends, source, ends), Key(f"{stem}_confidence", Level, source, level)]


def _is(kind: Any, wanted: str) -> bool:
    """True if a type hint is the type of a name, or this type or None."""
    return wanted in map(_name, kind.__args__ if isinstance(kind, types.UnionType) else (kind,))


def _name(cls: Any) -> str:
    """Module and name of a class."""
    return f"{getattr(cls, '__module__', '')}.{getattr(cls, '__qualname__', '')}"


def as_json(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): as_json(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [as_json(each) for each in value]
    return {key.name: as_json(key.value(value)) for key in keys_of(type(value))}
