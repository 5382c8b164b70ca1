# SPDX-License-Identifier: Apache-2.0
"""Reading tables into dataclasses so that every offender is reported at once.

A `Node` is a value of the document together with its key path. A `Kind` says what may stand behind a key and reads it.
A reader raises `WrongValueError` with the sentence that says what is wrong with its node (the units' `ValueError`
serves too), or `ReportedError` where nodes further in have reported it already.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import pathlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

from quiclab.spec.json_form import Form
from quiclab.spec.json_form import table as table_form
from quiclab.spec.lines import KeyPath, line_of
from quiclab.spec.toml_text import Toml

T = TypeVar("T")


class WrongValueError(ValueError):
    """A value is wrong; the message says why, and what may stand there instead."""


class ReportedError(Exception):
    """A node is unusable, and the reason is in the list of problems already."""


Values = dict[str, Any]
"""Values of the keys of a table, each of the type that its kind reads."""


@dataclass(frozen=True)
class Kind(Generic[T]):
    """A kind of value that a key can have."""

    wanted: str
    """Form and valid range, as errors and the reference put it."""
    read: Callable[[Node], T]
    """Reads a node; raises ValueError or ReportedError."""
    form: Form = field(default_factory=dict)
    """Form as JSON Schema has it, for editors; an empty one takes anything."""


@dataclass(frozen=True)
class Source:
    """One document, and what is wrong with it so far."""

    document: Toml
    lines: dict[KeyPath, int]
    folder: pathlib.Path
    """Folder that relative file names of the document start from."""
    _problems: dict[tuple[int, str], int] = field(default_factory=dict)
    """Line and text → number of reports of it: tables that lists stand for have the same problems."""
    _refused: dict[KeyPath, str] = field(default_factory=dict)
    written: Toml | None = None
    """The document as it stands in the file, where lists of values in it have been taken apart."""
    places: Mapping[KeyPath, KeyPath] = field(default_factory=dict)
    """Tables and values of lists that were taken apart → their place in the file."""

    def line(self, path: KeyPath) -> int:
        """Line of a key path in the file."""
        return line_of(self.lines, self.in_file(path))

    def report(self, path: KeyPath, text: str) -> None:
        """Note a problem once, with its line and key path."""
        line, label = self.line(path), self._label(self.in_file(path))
        self._note(line, f"line {line}: {label}: {text}" if label else f"line {line}: {text}")

    def _note(self, line: int, text: str) -> None:
        self._problems[line, text] = self._problems.get((line, text), 0) + 1

    def refuse(self, path: KeyPath, text: str) -> None:
        """Note a problem of a value that is not to be read: its reader would report another one of the same mistake."""
        self._refused[self.in_file(path)] = text
        self.report(path, text)

    def refused(self, path: KeyPath) -> str | None:
        """Problem of a value that is not to be read; None of one that is."""
        return self._refused.get(self.in_file(path))

    @property
    def reports(self) -> int:
        """Number of reports so far, repeated ones too: a table is usable if reading it adds none."""
        return sum(self._problems.values())

    @property
    def problems(self) -> tuple[str, ...]:
        """All problems in the order of their lines."""
        return tuple(text for _, text in sorted(self._problems, key=lambda problem: problem[0]))

    def in_file(self, path: KeyPath) -> KeyPath:
        """Place of a key path in the file, where lists of values stand in one table."""
        known = (end for end in range(len(path), 0, -1) if path[:end] in self.places)
        end = next(known, 0)
        return (*self.places[path[:end]], *path[end:]) if end else path

    def _label(self, path: KeyPath) -> str:
        """Label of a place, such as `path[lossy].up.rate`: elements of arrays go by their name, or as `#2` where they
        have none."""
        label = ""
        value: Any = self.document if self.written is None else self.written
        for part in path:
            if isinstance(value, dict):
                value = value.get(str(part))
                label += f".{part}" if label else str(part)
            else:
                value = value[part] if isinstance(value, list) and isinstance(part, int) else None
                name = value.get("name") if isinstance(value, dict) else None
                label += f"[{name}]" if isinstance(name, str) and name else f"[#{int(part) + 1}]"
        return label


@dataclass(frozen=True)
class Node:
    """A value and its place."""

    value: Any
    path: KeyPath
    source: Source

    def child(self, key: str | int) -> Node:
        """The value behind a key of this table, or an element of this array."""
        return Node(self.value[key], (*self.path, key), self.source)

    def elements(self) -> Iterator[Node]:
        """The elements of this array."""
        return (self.child(number) for number in range(len(self.value)))

    def report(self, text: str) -> None:
        """Note a problem of this node."""
        self.source.report(self.path, text)


def show(value: Any) -> str:
    """A value as TOML writes it, with its type where that matters."""
    if isinstance(value, bool):
        return f"{str(value).lower()} stands here"
    if isinstance(value, str):
        return f'"{value}" is a string'
    if isinstance(value, int):
        return f"{value} is a whole number"
    if isinstance(value, float):
        return f"{value} is a number"
    if isinstance(value, dict):
        return "a table stands here"
    return "an array stands here" if isinstance(value, list) else f"{value} is a date or time"


def closest(name: str, valid: Collection[str], what: str = "names") -> str:
    """The end of a sentence about a wrong name: the closest valid one, or all of them."""
    by_lower = {candidate.lower(): candidate for candidate in valid}
    matches = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    if matches:
        return f'did you mean "{by_lower[matches[0]]}"?'
    return f"valid {what}: {', '.join(valid)}" if valid else f"there are no valid {what}"


FAILED: Any = object()
"""Stand-in for a value that could not be read."""


def read_or_report(node: Node, kind: Kind[T]) -> T:
    """Read a node, or note why that failed and return `FAILED`."""
    if refused := node.source.refused(node.path):
        node.report(refused)
        return cast(T, FAILED)
    try:
        return kind.read(node)
    except ReportedError:
        pass
    except (ValueError, ArithmeticError) as error:
        node.report(str(error))
    return cast(T, FAILED)


_OTHER_NAMES = {
    **dict.fromkeys(
        ("rtt", "round_trip", "base_rtt"),
        ("delay", "write delay, which is one way in each direction: half of the round trip"),
    ),
    **dict.fromkeys(
        ("latency", "owd"), ("delay", "write delay, which is one way, in each direction; rtt is of both together")
    ),
    **dict.fromkeys(("bandwidth", "bw", "throughput", "speed"), ("rate", "write rate")),
    **dict.fromkeys(("packet_loss", "plr", "loss_rate"), ("loss", "write loss")),
    **dict.fromkeys(("repeats", "repetitions", "runs", "pairs"), ("blocks", "write blocks")),
}
"""Names that other tools have for a key → our key, and what to do."""
_ROUND_TRIP = ("round_trip", "base_rtt", "ping")
"""Names that other tools have for `rtt`, where a table has that key."""


def _meant(key: str, kinds: Mapping[str, Kind[Any]]) -> str:
    """Hint for an unknown key."""
    if key.lower() in _ROUND_TRIP and "rtt" in kinds:
        return "write rtt"
    ours, told = _OTHER_NAMES.get(key.lower(), ("", ""))
    return told if ours in kinds else closest(key, list(kinds), "keys")


def read_keys(node: Node, kinds: Mapping[str, Kind[Any]], required: Collection[str] = ()) -> Values:
    """Read the keys of a table that can be read; report the wrong, the unknown and the missing ones."""
    if not isinstance(node.value, dict):
        raise WrongValueError(f"{show(node.value)}; write a table with {', '.join(kinds)}")
    for key in node.value:
        if key not in kinds:
            node.child(key).report(f"there is no such key here; {_meant(key, kinds)}")
    values = {}
    for key, kind in kinds.items():
        if key in node.value:
            value = read_or_report(node.child(key), kind)
            if value is not FAILED:
                values[key] = value
        elif key in required:
            node.report(f'"{key}" is missing; write {kind.wanted}')
    return values


def build(
    cls: type[T], node: Node, kinds: Mapping[str, Kind[Any]], fields: Mapping[str, str] = MappingProxyType({})
) -> T:
    """Read a table into a dataclass whose fields are named like the keys, but for those in `fields` (key → field);
    fields without a default are required."""
    before = node.source.reports
    values = read_keys(node, kinds, required_keys(cls))
    if node.source.reports > before:
        raise ReportedError
    return cls(**{fields.get(key, key): value for key, value in values.items()})


def required_keys(cls: type[Any]) -> tuple[str, ...]:
    """Names of the fields of a dataclass that have no default."""
    missing = dataclasses.MISSING
    return tuple(f.name for f in dataclasses.fields(cls) if f.default is missing and f.default_factory is missing)


def is_number(value: Any) -> bool:
    """True if a value is a finite number (true and false are not)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def form_of(kinds: Mapping[str, Kind[Any]], cls: type[Any], required: Collection[str] | None = None) -> Form:
    """Form of a table with these keys, which `cls` describes; its fields without a default are required, unless
    `required` says otherwise."""
    needed = required_keys(cls) if required is None else required
    forms = {key: {**kind.form, "description": kind.wanted} for key, kind in kinds.items()}
    return table_form(forms, [key for key in needed if key in forms], cls.__name__)


def table(
    wanted: str, cls: type[T], kinds: Mapping[str, Kind[Any]], read: Callable[[Node], T] | None = None
) -> Kind[T]:
    """A table that becomes a dataclass; `read` does what `build` alone does not."""
    return Kind(wanted, read or (lambda node: build(cls, node, kinds)), form_of(kinds, cls))
