# SPDX-License-Identifier: Apache-2.0
"""Records of trials of which a test gives only what it is about."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar, get_args, get_origin

import msgspec

from quiclab.model.trial_record import TrialRecord
from quiclab.store.record_form import as_record

R = TypeVar("R", bound=msgspec.Struct)


def record(members: Mapping[str, Any]) -> TrialRecord:
    """A trial with these members of trial.json; in objects of them what must be there is nothing in particular."""
    return part(members, TrialRecord)


def part(members: Any, kind: type[R]) -> R:
    """A part of a trial with these members."""
    return as_record(_completed(members, kind), kind)


def changed(trial: TrialRecord, **members: Any) -> TrialRecord:
    """The trial with other members of trial.json."""
    return record({**msgspec.to_builtins(trial), **members})


def _completed(value: Any, kind: Any) -> Any:
    for each in (kind, *get_args(kind)):
        if isinstance(each, type) and issubclass(each, msgspec.Struct) and isinstance(value, Mapping):
            fields = msgspec.structs.fields(each)
            lacking = {field.encode_name: _neutral(field.type) for field in fields if field.required}
            types_of = {field.encode_name: field.type for field in fields}
            return {**lacking, **{name: _completed(inner, types_of.get(name)) for name, inner in value.items()}}
        if get_origin(each) is dict and isinstance(value, Mapping):
            return {name: _completed(inner, get_args(each)[1]) for name, inner in value.items()}
        if get_origin(each) is Annotated and not value and isinstance(value, list):
            return [_neutral(_element(each))]
        if get_origin(each) in (tuple, Annotated) and isinstance(value, list | tuple):
            return [_completed(inner, _element(each)) for inner in value]
    return value


def _element(kind: Any) -> Any:
    return get_args(get_args(kind)[0] if get_origin(kind) is Annotated else kind)[0]


def _neutral(kind: Any) -> Any:
    """A value of a type that says nothing."""
    if types.NoneType in get_args(kind):
        return None
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _completed({}, kind)
    if get_origin(kind) is Annotated:
        return [_neutral(_element(kind))]
    return "" if kind is str else 0
