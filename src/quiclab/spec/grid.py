# SPDX-License-Identifier: Apache-2.0
"""Grids: a list of values in a `[[path]]`, a `[[workload]]` or a program of an `[[arm]]` stands for one such table for
each value.

Several lists stand for all combinations; the first list varies slowest. Everything behind `expanded` sees the tables as
if each had been written by hand.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from quiclab.model.units import Bitrate, ByteCount, Duration, Share
from quiclab.spec.json_form import Form, alternatives, array, either
from quiclab.spec.kinds import is_name
from quiclab.spec.lines import KeyPath
from quiclab.spec.nodes import Source
from quiclab.spec.profiles import profiles
from quiclab.spec.toml_text import Toml

MOST_COMBINATIONS = 1000
"""Tables that the lists of one table may stand for."""
LABELS = ("name", "title", "baseline")
"""Keys whose list has an entry for each combination."""
_SINGLE = (*LABELS, "only_for")
"""Keys whose values a grid does not vary."""
_TYPES: Mapping[type[Any], tuple[str, ...]] = {
    str: ("string",),
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("number",),
    list: ("array",),
    dict: ("object",),
}


@dataclass(frozen=True)
class _Factor:
    """A list of values."""

    place: KeyPath
    """Keys that lead to it from the table."""
    values: Sequence[Any]
    numbers: Sequence[int]
    """Numbers of the values in the list, from 0."""


@dataclass(frozen=True)
class _Combination:
    """One value of each list."""

    table: Toml
    numbers: Mapping[KeyPath, int]
    """Place of a list → number of its value in it, from 0."""


def varied(source: Source, table: KeyPath) -> list[KeyPath]:
    """Keys of a table whose values come from a list, in the order of the file; none of a table without lists."""
    found = (place[len(table) :] for place in source.places if len(place) > len(table) and place[: len(table)] == table)
    return [place for place in found if place[0] not in LABELS]


def expanded(source: Source, forms: Mapping[str, Form]) -> Source:
    """The document with a table for each combination of the lists in its arrays of tables, which `forms` describes."""
    document, places = dict(source.document), dict[KeyPath, KeyPath]()
    for kind, form in forms.items():
        tables = document.get(kind)
        if not isinstance(tables, list):
            continue
        document[kind] = []
        for written, table in enumerate(tables):
            for combination in _combinations(source, (kind, written), table, form):
                here, there = (kind, len(document[kind])), (kind, written)
                places[here] = there
                for place, number in combination.numbers.items():
                    places[(*here, *place)] = (*there, *place, number)
                document[kind].append(combination.table)
    return replace(source, document=document, written=source.document, places=places)


def with_lists(form: Form, *, top: bool = True, only: Collection[str] = ()) -> Form:
    """The form of tables in which a list may stand where one value is wanted; behind the keys `only`, if given."""
    found: list[Form] = []
    for each in alternatives(form):
        if "properties" in each:
            keys = {
                key: inner if (top and key == "only_for") or (only and key not in only) else _or_list(inner)
                for key, inner in each["properties"].items()
            }
            found.append({**each, "properties": keys})
        elif each.get("type") == "array":
            found.append({**each, "items": with_lists(each["items"], top=False)})
        else:
            found.append(each)
    return {**{key: value for key, value in form.items() if key == "description"}, **either(*found)}


def _or_list(form: Form) -> Form:
    one = with_lists(form, top=False)
    described = {key: value for key, value in one.items() if key == "description"}
    plain = {key: value for key, value in one.items() if key != "description"}
    return {**described, **either(plain, array(plain, 1))}


def _combinations(source: Source, at: KeyPath, table: Any, form: Form) -> list[_Combination]:
    """All combinations of a table's lists; where they cannot be told apart, so many that each value is in one."""
    factors = [factor for place, values in _lists(table, form) if (factor := _factor(source, at, place, values))]
    count = math.prod(len(factor.values) for factor in factors)
    if not factors:
        return [_Combination(table, {})]
    if count > MOST_COMBINATIONS:
        source.report(at, f"its lists make {count} combinations; at most {MOST_COMBINATIONS} are possible")
        return _each_value_once(table, factors)
    chosen = itertools.product(*(range(len(factor.values)) for factor in factors))
    made = [_combination(table, factors, each) for each in chosen]
    if not _is_labelled(source, at, table, factors, count):
        return _each_value_once(table, factors)
    return [_labelled(table, each, factors, number, form) for number, each in enumerate(made)]


def _each_value_once(table: Toml, factors: Sequence[_Factor]) -> list[_Combination]:
    """Combinations of a refused table by which the reader sees, and so reports, what is wrong with each value."""
    first = {key: table[key][0] for key in LABELS if isinstance(table.get(key), list) and table[key]}
    rows = range(max(len(factor.values) for factor in factors))
    made = [_combination(table, factors, [min(row, len(each.values) - 1) for each in factors]) for row in rows]
    return [replace(each, table={**each.table, **first}) for each in made]


def _lists(value: Any, form: Form, place: KeyPath = ()) -> Iterator[tuple[KeyPath, list[Any]]]:
    """Lists of a table where one value is wanted, in the order of the file."""
    properties = _properties(value, form)
    for key, inner in value.items() if isinstance(value, dict) else ():
        wanted, here = properties.get(key), (*place, key)
        if wanted is None or (not place and key in _SINGLE):
            continue
        if not isinstance(inner, list):
            yield from _lists(inner, wanted, here)
        elif _is_own_array(inner, wanted):
            items: Form = next((each["items"] for each in alternatives(wanted) if "items" in each), {})
            for number, element in enumerate(inner):
                yield from _lists(element, items, (*here, number))
        else:
            yield here, inner


def _properties(value: Any, form: Form) -> Mapping[str, Form]:
    """Forms of the keys of a table: of several models, those of the one that it names."""
    tables = [each["properties"] for each in alternatives(form) if "properties" in each]
    model = value.get("model") if isinstance(value, dict) else None
    named = (each for each in tables if model in each.get("model", {}).get("enum", ()))
    return next(named, tables[0] if tables else {})


def _is_own_array(values: list[Any], form: Form) -> bool:
    """True if a list is one value of its key, as the bounds of a queue are, and not several."""
    arrays = [each for each in alternatives(form) if each.get("type") == "array"]
    if not arrays:
        return False
    elements = {name for each in arrays for name in _type_names(each["items"])}
    others = {name for each in alternatives(form) if each not in arrays for name in _type_names(each)} | {"array"}
    types = [set(_TYPES.get(type(value), ())) for value in values]
    return any(each & elements for each in types) or not any(each & others for each in types)


def _type_names(form: Form) -> Iterator[str]:
    for each in alternatives(form):
        yield from (name for value in each.get("enum", ()) for name in _TYPES[type(value)])
        yield from [each["type"]] if "type" in each else []


def _factor(source: Source, at: KeyPath, place: KeyPath, values: list[Any]) -> _Factor | None:
    """A list with each of its values once; None of an empty one. Both are reported."""
    first: dict[object, int] = {}
    for number, value in enumerate(values):
        known = first.setdefault(_identity(value), number)
        if known != number:
            told = "it stands" if value == values[known] else f'the same value as "{values[known]}" stands'
            source.report((*at, *place, number), f"{told} in this list before; write each value once")
    if not values:
        source.refuse((*at, *place), "the list is empty; write one value or several")
        return None
    return _Factor(place, [values[number] for number in first.values()], list(first.values()))


def _identity(value: Any) -> tuple[str, object]:
    """Key that two values share if they mean the same: `1000 kbit/s` and `1 Mbit/s`."""
    for unit in (Bitrate, ByteCount, Duration, Share) if isinstance(value, str) else ():
        with suppress(ValueError):
            return unit.__name__, unit.parse(value)
    return type(value).__name__, repr(value)


def _combination(table: Toml, factors: Sequence[_Factor], chosen: Sequence[int]) -> _Combination:
    made: Any = table
    for factor, place in zip(factors, chosen, strict=True):
        made = _with(made, factor.place, factor.values[place])
    return _Combination(made, {factor.place: factor.numbers[at] for factor, at in zip(factors, chosen, strict=True)})


def _with(value: Any, place: KeyPath, new: Any) -> Any:
    """A value with a new one at a place in it."""
    if not place:
        return new
    first, rest = place[0], place[1:]
    if isinstance(value, list):
        return [_with(each, rest, new) if number == first else each for number, each in enumerate(value)]
    return {key: _with(each, rest, new) if key == first else each for key, each in value.items()}


def _is_labelled(source: Source, at: KeyPath, table: Toml, factors: Sequence[_Factor], count: int) -> bool:
    """True if every combination has a name of its own, and no list of names or titles has another length."""
    lists = [key for key in LABELS if isinstance(table.get(key), list)]
    order = " × ".join(".".join(map(str, factor.place)) for factor in factors)
    for key in lists:
        if len(table[key]) != count:
            told = f"there are {len(table[key])}, and {count} combinations ({order}, of which the last varies fastest)"
            source.report((*at, key), f"{told}; write one for each")
            return False
    name = table.get("name")
    if "name" in lists or name is None:
        return True
    if not isinstance(name, str) or not is_name(name):
        return False  # its reader says so
    slugs = [[_slug(value) for value in factor.values] for factor in factors]
    names = {"-".join([name, *each]) for each in itertools.product(*slugs)}
    if len(names) == count and all(map(is_name, names)) and all(each for of in slugs for each in of):
        return True
    told = (
        f"no short and different names can be made for {count} combinations of {order}; the last of them varies fastest"
    )
    source.report((*at, "name"), f'{told}; write name = ["…", "…"] with one for each')
    return False


def _labelled(table: Toml, made: _Combination, factors: Sequence[_Factor], number: int, form: Form) -> _Combination:
    """A combination with its own name and, where such tables have one, its own title."""
    labels: Toml = {}
    numbers = dict(made.numbers)
    for key in LABELS:
        if isinstance(table.get(key), list):
            labels[key] = table[key][number]
            numbers[(key,)] = number
    values = [(each.place, each.values[each.numbers.index(made.numbers[each.place])]) for each in factors]
    if "name" in table and "name" not in labels:
        labels["name"] = "-".join([table["name"], *(_slug(value) for _, value in values)])
    if "title" not in labels and "title" in _properties(table, form):
        title, profile = table.get("title"), profiles().get(str(made.table.get("profile")))
        told = [_words(place, value, made.numbers[place]) for place, value in values]
        if isinstance(title, str):
            labels["title"] = ", ".join([title, *told])
        elif title is None and profile is not None:
            of_profile = [each for each, (place, _) in zip(told, values, strict=True) if place != ("profile",)]
            labels["title"] = ", ".join([profile.title, *of_profile])
        elif title is None and isinstance(table.get("name"), str):
            labels["title"] = ", ".join([table["name"], *told])
    return _Combination({**made.table, **labels}, numbers)


def _slug(value: Any) -> str:
    """A value as a part of a name: `5mbit`, `100KB`, `1pct`; empty where none can be made of it."""
    if isinstance(value, list):
        return "_".join(map(_slug, value))
    if isinstance(value, dict):
        return _slug(value.get("name", ""))  # that of a program
    text = str(value).lower() if isinstance(value, bool) else "".join(str(value).split())
    if isinstance(value, str) and _identity(value)[0] == Bitrate.__name__:
        text = text.removesuffix("/s").lower()
    text = text.replace("%", "pct").replace("µ", "u")
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.")


def _words(place: KeyPath, value: Any, number: int) -> str:
    """A value for readers of a title: `5 Mbit/s`, `1 % loss up`, `mtu 1400`."""
    key = str(place[-1])
    side = "".join(f" {each}" for each in ("up", "down") if each in place)
    if key in ("rate", "profile", "trace", "delay_trace"):
        return f"{value}{side}"
    if isinstance(value, dict):
        return f"{key} {number + 1}{side}"
    if isinstance(value, list):
        value = " and ".join(map(str, value))
    called = "RTT" if key == "rtt" else key.replace("_", " ")
    return f"{value} {called}{side}" if isinstance(value, str) else f"{called} {value}{side}"
