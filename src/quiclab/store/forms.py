# SPDX-License-Identifier: Apache-2.0
"""Forms of JSON that a study holds: which members have which types, to full depth.

A study may come from a stranger or from a damaged disk. What is read of it is held against its form once, so that
everything behind can rely on it. A form is a type, or several; a list with the form of each element; a mapping with the
forms of its members; or one of the classes here. A member may be null or missing, but `name+` must be there, and
`name!` must be there and not be null. Members that a form does not name may be anything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Number = (int, float)
_MOST_SIGNED, _MOST = 2**63, 2**64
"""Least numbers that no column holds: of instants and counts, and of any (a seed has 64 bits)."""
_DEEPEST = 100
_NAMES: dict[Any, str] = {int: "whole number", str: "text", bool: "truth value", dict: "object", Number: "number"}


@dataclass(frozen=True)
class Each:
    """Form of an object whose members have any name, and this form."""

    form: Any


@dataclass(frozen=True)
class NotEmpty:
    """Form of a list with at least one element."""

    form: Any


@dataclass(frozen=True)
class OrWord:
    """Form of a value that one word, such as `unproven`, may stand for."""

    word: str
    form: Any


@dataclass(frozen=True)
class Either:
    """Form of a value that has one of several forms; the last one names what is wrong."""

    forms: tuple[Any, ...]


def misfit(value: Any, form: Any, place: str = "") -> str | None:
    """Describe the first member of `value` that is not as `form` has it, by its name; None where all are."""
    return _misfit(value, form, place) or _excess(value, place, 0)


def misplaced(value: Any, form: Any) -> str | None:
    """Describe the first member that is not as `form` has it, as `misfit` does; what the form does not name may hold
    anything."""
    return _misfit(value, form, "")


def _misfit(value: Any, form: Any, place: str) -> str | None:
    if isinstance(form, OrWord):
        return None if value == form.word else _misfit(value, form.form, place)
    if isinstance(form, Either):
        wrong = [_misfit(value, each, place) for each in form.forms]
        return None if None in wrong else wrong[-1]
    if isinstance(form, NotEmpty):
        if value == []:
            return f"{place} is empty"
        form = [form.form]
    if isinstance(form, list):
        if not isinstance(value, list):
            return f"{place} is no list"
        return _first(_misfit(each, form[0], f"{place}[{number}]") for number, each in enumerate(value))
    if isinstance(form, Each | Mapping):
        if not isinstance(value, dict):
            return f"{place} is no object"
        forms = dict.fromkeys(value, form.form) if isinstance(form, Each) else form
        return _first(_member(value, name, each, place) for name, each in forms.items())
    if form is int and isinstance(value, int) and not -_MOST_SIGNED <= value < _MOST_SIGNED:
        return f"{place} is beyond 64 bits"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{place} is no finite number"
    kinds = form if isinstance(form, tuple) else (form,)
    fits = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    return None if fits else f"{place} is no {_NAMES.get(form) or ' or '.join(_NAMES[kind] for kind in kinds)}"


def _member(whole: dict[str, object], told: str, form: Any, place: str) -> str | None:
    name = told if told in whole else told.rstrip("+!")
    value, here = whole.get(name), _in(place, name)
    if value is None:
        lacks = told.endswith("!") or (told.endswith("+") and name not in whole)
        return f"{here} is missing" if lacks and name != told else None
    return _misfit(value, form, here)


def _excess(value: Any, place: str, depth: int) -> str | None:
    """The first number that no table can hold, or what is too deep inside others."""
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{place} is no finite number"
    if isinstance(value, int):
        return None if -_MOST_SIGNED <= value < _MOST else f"{place} is beyond 64 bits"
    if not isinstance(value, dict | list):
        return None
    if depth == _DEEPEST:
        return f"{place.partition('.')[0]} has members more than {_DEEPEST} deep"
    if isinstance(value, dict):
        return _first(_excess(each, _in(place, str(name)), depth + 1) for name, each in value.items())
    return _first(_excess(each, f"{place}[{number}]", depth + 1) for number, each in enumerate(value))


def _in(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _first(found: Any) -> str | None:
    return next((each for each in found if each is not None), None)
