# SPDX-License-Identifier: Apache-2.0
"""Defaults of keys that a resolved spec of an earlier version lacks.

A key that is new has the default that leaves trials as they were without it, so two specs of different versions are
compared with their defaults filled in.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from quiclab.model.study import ONLY_WHERE_SET, Study
from quiclab.spec.resolved import MODEL_NAMES, SUFFIXES, as_json, suffix_of


def with_defaults(resolved: Mapping[str, object]) -> dict[str, object]:
    """Return a resolved spec with every key that this version knows; what is there stays as it is."""
    return _filled(Study, resolved)


def _filled(table: type[Any], values: Mapping[str, object]) -> dict[str, object]:
    found = dict(values)
    hints = typing.get_type_hints(table)
    for field in dataclasses.fields(table):
        names = [name for name in (field.name + suffix for suffix in ("", *SUFFIXES)) if name in values]
        if not names:
            found |= _default(field)
        for name in names:
            found[name] = _inside(values[name], list(_tables(hints[field.name])))
    return found


def _default(field: dataclasses.Field[Any]) -> dict[str, object]:
    """The key of a field with its default; nothing where it has none, and where it is only there if it is set."""
    if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
        return {}
    if field.metadata == ONLY_WHERE_SET:
        return {}
    value = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    return {field.name + suffix_of(field.name, value): as_json(value)}


def _inside(value: Any, tables: list[type[Any]]) -> Any:
    """Fill in the tables within a value; `tables` are those that it may be."""
    if isinstance(value, list):
        return [_inside(each, tables) for each in value]
    if not isinstance(value, dict):
        return value
    model = value.get("model")
    fitting = [each for each in tables if MODEL_NAMES.get(each) == model] if model in MODEL_NAMES.values() else tables
    return _filled(fitting[0], value) if len(fitting) == 1 else value


def _tables(hint: Any) -> Iterator[type[Any]]:
    """Dataclasses that a type names: itself, of an alternative, or of the elements of a tuple."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        yield hint
    for inner in typing.get_args(hint):
        yield from _tables(inner)
