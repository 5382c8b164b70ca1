# SPDX-License-Identifier: Apache-2.0
"""The kinds of single values: quantities with their ranges, names, choices, numbers, files and lists of these."""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import re
import types
import typing
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeVar, Union

from quiclab.model.bounds import DAY, MINUTE, Bounds, Instant, OneWayDelay
from quiclab.model.units import Bitrate, ByteCount, Duration, Share
from quiclab.project import MORE_PROGRAMS, stacks_folder
from quiclab.spec import json_form
from quiclab.spec.nodes import (
    FAILED,
    Kind,
    Node,
    ReportedError,
    WrongValueError,
    closest,
    is_number,
    read_or_report,
    show,
)

T = TypeVar("T")
Quantity = TypeVar("Quantity", Bitrate, ByteCount, Duration)

_MEDIA_TYPE = re.compile(r"[a-z]+/[A-Za-z0-9][A-Za-z0-9.+-]*")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")


def quantity(unit: type[Quantity], what: str, example: str, least: Quantity, most: Quantity) -> Kind[Quantity]:
    """A number with its unit, in a range that includes both bounds."""
    bounds = f"from {least} to {most}"
    wanted = f'{what} {bounds}, such as "{example}"'

    def read(node: Node) -> Quantity:
        text = _string(node, wanted)
        value = unit.parse(text)
        if not least <= value <= most:
            raise WrongValueError(f'"{text}" is out of range: {what} is {bounds}')
        return value

    return Kind(wanted, read, json_form.quantity(unit.units()))


def _string(node: Node, wanted: str) -> str:
    if not isinstance(node.value, str):
        raise WrongValueError(f"{show(node.value)}; write {wanted}")
    return node.value


def _read_share(node: Node) -> Share:
    return Share.parse(_string(node, SHARE.wanted))


def text(wanted: str) -> Kind[str]:
    """Free text."""
    return Kind(wanted, lambda node: _string(node, wanted), json_form.TEXT)


def is_name(text: str) -> bool:
    """True if a text can be the name of something."""
    return _NAME.fullmatch(text) is not None


def _read_name(node: Node) -> str:
    value = _string(node, NAME.wanted)
    if not is_name(value):
        raise WrongValueError(f'"{value}" cannot be a name, because it becomes a file name; write {NAME.wanted}')
    return value


def choice(values: Sequence[str | int], wanted: str = "") -> Kind[Any]:
    """One of a few values."""
    listed = " or ".join(f'"{value}"' if isinstance(value, str) else str(value) for value in values)
    wanted = wanted or listed

    def read(node: Node) -> Any:
        if isinstance(node.value, str) and node.value not in values:
            raise WrongValueError(
                f'"{node.value}" is not known here; {closest(node.value, [str(v) for v in values], "values")}'
            )
        if not any(node.value == value and type(node.value) is type(value) for value in values):
            raise WrongValueError(f"{show(node.value)}; write {wanted}")
        return node.value

    return Kind(wanted, read, json_form.one_of(values))


def either(wanted: str, *kinds: Kind[Any]) -> Kind[Any]:
    """A value of the first of several kinds that it fits; where it fits none, the error says what is `wanted`."""

    def read(node: Node) -> Any:
        for kind in kinds:
            with contextlib.suppress(WrongValueError):
                return kind.read(node)
        raise WrongValueError(f"{show(node.value)}; write {wanted}")

    return Kind(wanted, read, json_form.either(*(kind.form for kind in kinds)))


def whole(least: int, most: int) -> Kind[int]:
    """A whole number in a range that includes both bounds."""
    wanted = f"a whole number from {least} to {most}"

    def read(node: Node) -> int:
        if not isinstance(node.value, int) or isinstance(node.value, bool):
            raise WrongValueError(f"{show(node.value)}; write {wanted}")
        if not least <= node.value <= most:
            raise WrongValueError(f"{node.value} is out of range; write {wanted}")
        return node.value

    return Kind(wanted, read, {"type": "integer", "minimum": least, "maximum": most})


def fraction() -> Kind[float]:
    """A number between 0 and 1, both excluded."""
    wanted = "a number above 0 and below 1"

    def read(node: Node) -> float:
        if not is_number(node.value):
            raise WrongValueError(f"{show(node.value)}; write {wanted}")
        if not 0 < node.value < 1:
            raise WrongValueError(f"{node.value} is out of range; write {wanted}")
        return float(node.value)

    return Kind(wanted, read, {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1})


def _read_part(node: Node) -> Share:
    share = _read_share(node)
    if not 0 < share.value < 1:
        raise WrongValueError(f"{show(node.value)} is out of range; write {PART.wanted}")
    return share


def _read_flag(node: Node) -> bool:
    if not isinstance(node.value, bool):
        raise WrongValueError(f"{show(node.value)}; write {FLAG.wanted}")
    return node.value


def several(kind: Kind[T], wanted: str, least: int = 0, most: int | None = None) -> Kind[tuple[T, ...]]:
    """An array of one kind."""

    def read(node: Node) -> tuple[T, ...]:
        if not isinstance(node.value, list):
            raise WrongValueError(f"{show(node.value)}; write {wanted}")
        if len(node.value) < least or (most is not None and len(node.value) > most):
            raise WrongValueError(f"the array has {len(node.value)} elements; write {wanted}")
        values = [read_or_report(element, kind) for element in node.elements()]
        if any(value is FAILED for value in values):
            raise ReportedError
        return tuple(values)

    return Kind(wanted, read, json_form.array(kind.form, least, most))


def file(wanted: str) -> Kind[pathlib.Path]:
    """File that is there, by its name: absolute, or relative to the folder of its source."""

    def read(node: Node) -> pathlib.Path:
        path = node.source.folder / _string(node, wanted)
        if not path.is_file():
            raise WrongValueError(f'there is no file "{path}"; write {wanted}')
        return path.resolve()

    return Kind(wanted, read, json_form.TEXT)


def _read_folder(node: Node) -> str:
    path = node.source.folder / _string(node, FOLDER.wanted)
    if not path.is_dir():
        raise WrongValueError(f'there is no folder "{path}"; write {FOLDER.wanted}')
    return str(path.resolve())


def _read_prefix(node: Node) -> str:
    value = _string(node, PREFIX.wanted)
    if not value.startswith(INSTALLED):
        return _read_folder(node)
    path = stacks_folder() / value.removeprefix(INSTALLED)
    if not path.is_dir():
        raise WrongValueError(f'there is no folder "{path}"; run {MORE_PROGRAMS}, or write {PREFIX.wanted}')
    return str(path.resolve())


def _read_media_type(node: Node) -> str:
    value = _string(node, MEDIA_TYPE.wanted)
    if not _MEDIA_TYPE.fullmatch(value):
        raise WrongValueError(f'"{value}" is not a media type; write {MEDIA_TYPE.wanted}')
    return value


MEDIA_TYPE: Kind[str] = Kind(
    'a media type such as "text/html"', _read_media_type, json_form.matching(_MEDIA_TYPE.pattern)
)
NAME: Kind[str] = Kind(
    "a name of at most 64 letters, digits, dots, underscores and hyphens",
    _read_name,
    json_form.matching(_NAME.pattern),
)
TITLE = text("a text")
FLAG: Kind[bool] = Kind("true or false", _read_flag, json_form.FLAG)
FILE = file("the name of a file, absolute or relative to the spec")
FOLDER: Kind[str] = Kind("the name of a folder, absolute or relative to the spec", _read_folder, json_form.TEXT)
INSTALLED = "stacks:"
"""Beginning of a prefix that is a folder of `quiclab doctor --install`."""
PREFIX: Kind[str] = Kind(
    'the name of a folder, absolute or relative to the spec, or "stacks:sid" for one of `quiclab doctor --install`',
    _read_prefix,
    json_form.TEXT,
)
_SHARE_FORM = json_form.quantity(("%",))
SHARE: Kind[Share] = Kind('a share from 0 % to 100 %, such as "1 %"', _read_share, _SHARE_FORM)
TOLERATED: Kind[Share] = Kind(
    'a share from 0 % to 100 %, such as "1 %"; 100 % tolerates anything', _read_share, _SHARE_FORM
)
PART: Kind[Share] = Kind('a share above 0 % and below 100 %, such as "2 %"', _read_part, _SHARE_FORM)

RATE = quantity(Bitrate, "a rate", "10 Mbit/s", Bitrate(1), Bitrate(10**12))
SIZE = quantity(ByteCount, "a size", "100 KB", ByteCount(0), ByteCount(10**12))
TIME = quantity(Duration, "a time", "20 ms", Duration(1), MINUTE)
TIMEOUT = quantity(Duration, "a time", "60 s", Duration(1), DAY)
_BY_TYPE: dict[Any, Kind[Any]] = {Bitrate: RATE, ByteCount: SIZE, Duration: TIME, Share: SHARE, bool: FLAG}


def kind_of(hint: Any) -> Kind[Any]:
    """The kind of value that a field of this type has in a spec: `Bounds` in an `Annotated` type are its range, None is
    a key that is left out. Raises TypeError for a type that no single value of a spec has."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        base, bounds = inner[0], next(each for each in inner[1:] if isinstance(each, Bounds))
        if base is int:
            return whole(bounds.least, bounds.most)
        return quantity(base, bounds.name, bounds.example, bounds.least, bounds.most)
    if origin in (Union, types.UnionType):
        (only,) = (each for each in inner if each is not type(None))
        return kind_of(only)
    if origin is Literal:
        return choice(inner)
    if hint not in _BY_TYPE:
        raise TypeError(f"no kind of value for {hint}")
    return _BY_TYPE[hint]


def keys_of(declared: type[Any]) -> dict[str, Kind[Any]]:
    """Keys of a table that is read into a dataclass: its fields, and for each the kind that its type says."""
    hints = typing.get_type_hints(declared, include_extras=True)
    return {field.name: kind_of(hints[field.name]) for field in dataclasses.fields(declared)}


DELAY: Kind[Duration] = kind_of(OneWayDelay)
INSTANT: Kind[Duration] = kind_of(Instant)
