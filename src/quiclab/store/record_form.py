# SPDX-License-Identifier: Apache-2.0
"""Records of `model` as JSON holds them: their forms, and how they are read.

The form of a record follows from its fields. A field without a default must be there; one that may be None may be null,
and so may one that has a default, which then stands for it.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import msgspec

from quiclab.model.errors import DecodeError
from quiclab.model.trial_record import TrialRecord
from quiclab.store.forms import Each, Either, NotEmpty, OrWord, misfit, misplaced

R = TypeVar("R", bound=msgspec.Struct)
_SIMPLE = (bool, int, float, str)


def as_record(value: object, kind: type[R], named: str = "a record") -> R:
    """Read a record from decoded JSON. Raises DecodeError, which says what is `named` and the first member that is not
    of its form."""
    if (found := misfit(value, form_of(kind))) is not None:
        raise DecodeError(f"{named} is not of its form: {found}", "it is damaged, or not of quiclab's")
    return msgspec.convert(_without_nulls(value, kind), kind)


def view_of(document: object, kind: type[R]) -> R | None:
    """Read some members of decoded JSON as a record, whatever the others are; None where they are not of its form."""
    if misplaced(document, form_of(kind)) is not None:
        return None
    return msgspec.convert(_without_nulls(document, kind), kind)


def as_json(record: msgspec.Struct) -> dict[str, object]:
    """A record as the object that JSON has of it, with all members in the order of its fields."""
    document: dict[str, object] = msgspec.to_builtins(record)
    return document


def as_trial(document: Mapping[str, object], named: str = "trial.json", **changed: object) -> TrialRecord:
    """Read the content of a trial.json, with some fields changed. Raises DecodeError, in which it is `named`, where it
    is not of its form."""
    record = as_record(document, TrialRecord, named)
    return msgspec.structs.replace(record, **changed) if changed else record


@cache
def form_of(kind: Any) -> Any:
    """Return the form (`quiclab.store.forms`) of a record or of the type of one of its fields."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return {_form_name(field): form_of(field.type) for field in _fields(kind).values()}
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return NotEmpty(form_of(get_args(arguments[0])[0]))
    if origin is tuple:
        return [form_of(arguments[0])]
    if origin is dict:
        return dict if arguments[1] is object else Each(form_of(arguments[1]))
    if origin is types.UnionType or (origin is not None and arguments and origin is not Literal):
        return _form_of_union(tuple(each for each in arguments if each is not types.NoneType))
    return kind


@cache
def _fields(kind: type[msgspec.Struct]) -> Mapping[str, msgspec.structs.FieldInfo]:
    """Fields of a record by their name in JSON. msgspec evaluates all annotations anew whenever it is asked."""
    return {field.encode_name: field for field in msgspec.structs.fields(kind)}


def _form_of_union(kinds: tuple[Any, ...]) -> Any:
    words = [get_args(each)[0] for each in kinds if get_origin(each) is Literal]
    others = tuple(each for each in kinds if get_origin(each) is not Literal)
    if words:
        return OrWord(words[0], _form_of_union(others))
    if len(others) == 1:
        return form_of(others[0])
    return others if set(others) <= set(_SIMPLE) else Either(tuple(form_of(each) for each in others))


def _form_name(field: msgspec.structs.FieldInfo) -> str:
    """Name of a field as a form has it."""
    if not field.required:
        return field.encode_name
    return f"{field.encode_name}{'+' if _may_be_null(field.type) else '!'}"


def _may_be_null(kind: Any) -> bool:
    return kind is object or types.NoneType in get_args(kind)


def _without_nulls(value: Any, kind: Any) -> Any:
    """Return the value without members that are null and need not be there."""
    if isinstance(value, dict):
        for each in (kind, *get_args(kind)):
            if isinstance(each, type) and issubclass(each, msgspec.Struct):
                fields = _fields(each)
                return {
                    name: _without_nulls(inner, fields[name].type)
                    for name, inner in value.items()
                    if name in fields and (inner is not None or fields[name].required)
                }
            if get_origin(each) is dict:
                of_each = get_args(each)[1]
                return {
                    name: _without_nulls(inner, of_each)
                    for name, inner in value.items()
                    if inner is not None or _may_be_null(of_each)
                }
        return value
    if isinstance(value, list):
        return [_without_nulls(inner, each) for inner in value for each in [_element(kind)]]
    return value


def _element(kind: Any) -> Any:
    """Type of the elements of the list that a value of this type may be."""
    for each in (kind, *get_args(kind)):
        if get_origin(each) is tuple:
            return get_args(each)[0]
    return object
