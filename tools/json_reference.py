# SPDX-License-Identifier: Apache-2.0
"""The page of docs/reference about --json, from the dataclasses that are printed; `generate_reference.py` writes it."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import itertools
import types
import typing
from collections.abc import Mapping
from typing import Any

from field_docs import field_docs

from quiclab.cli.as_json import Ends, Key, Level, keys_of
from quiclab.cli.documents import DOCUMENTS
from quiclab.cli.events import EVENTS
from quiclab.cli.main import parser
from quiclab.model.number_text import listed
from quiclab.why.account import What, Why
from quiclab.why.divergence import Role

_HEAD = """\
# JSON of the command line

`--json` makes a verb print one JSON document to standard output and its words to standard error (with `-q`: nowhere).
Where a verb ends with 2 or more, but for 6 and 8, standard output is empty and standard error says why.

The unit is in the key: `_ms`, `_ns`, `_bytes`, `_pct` (per cent); `_in_unit` is the unit of the metric, which stands
in `metric.unit`. Whole numbers are exact, however large: JSON has no bound, but a program that holds numbers as
doubles loses digits beyond 2^53. p-values, levels (`alpha`, `_confidence`) and ratios are shares of 1. A number is
null where it is unknown, or where failures make it infinite (`failures` counts them); the end of an interval is null
where the data do not bound it. Keys may be added; where one goes or changes its meaning, `version` grows.

`quiclab sql --format json` prints the rows of a query alone. No `--json` have {without}: what they make is a
file, a folder, a list to read, or the answer of another program.

This page is generated from the source by `tools/generate_reference.py`.
"""

_EVENTS = """
## `quiclab run SPEC --events FILE`

One JSON object in each line, written when it happens. Every line has the name of the `event` and when it was, in UTC
(`when_utc`), beside the keys below. Events may be added. They show no result: what a trial measured is in its tables.
"""

LABELS = (Why, What, Role)
"""Words that docs/explanation/account.md lists."""
_SIMPLE = {
    float: "number",
    int: "whole number",
    str: "text",
    bool: "true or false",
    object: "any",
    Any: "any",
    Level: "number or null",
}
_MEANINGS = {
    "name": "Its name.",
    "title": "What figures and tables call it.",
    "unit": "Its unit.",
    "lower_is_better": "Whether less is better.",
    "trial_id": "Id of the trial.",
    "block": "Number of the block within its cell, from 0.",
    "reason": "Why it failed, or is unproven; empty where it is verified.",
    "arm": "Name of the arm.",
    "arms": "Names of the arms.",
    "trials": "Last attempt of each trial, void ones apart.",
    "mean": "Mean of the trials that have a value.",
    "sd": "Standard deviation of the trials that have a value.",
    "cell_id": "The cell: `WORKLOAD/PATH`, with `/aa-ARM` behind it in A/A cells.",
    "workload": "Name of the workload.",
    "path": "Name of the path.",
    "baseline": "The arm that the other is compared with.",
    "other": "The other arm.",
    "old": "The build before the change.",
    "new": "The build after it.",
    "pairs": "Blocks in which both arms have a result.",
    "metric": "The metric that is compared.",
    "metrics": "The metrics that are compared.",
    "alpha": "Level of the deciding test.",
    "outcome": "What the deciding test says.",
    "mann_whitney_p": "The p-value of the Mann–Whitney test, beside the deciding one.",
    "paths": "Names of the paths, in the order of the spec.",
    "workloads": "Names of the workloads, in the order of the spec.",
    "path_titles": "Name of a path → what figures call it.",
    "workload_titles": "Name of a workload → what figures call it.",
    "arms_differences": "Where the arms differ, a line each.",
    "confidence": "Level that is asked for of the comparisons' intervals.",
    "paired": "Whether trials pair up.",
    "floors": "What each study measured where nothing differs.",
}
"""Meanings of fields whose dataclass leaves them to their names."""


def json_page() -> str:
    """Every document with its keys, and what is inside them."""
    parts, seen = [_HEAD.format(without=listed([f"`{verb}`" for verb in without_json()]))], list(DOCUMENTS.values())
    for command, cls in DOCUMENTS.items():
        parts += _section(f"`quiclab {command}`", cls, seen)
    parts.append(_EVENTS)
    for name, cls in EVENTS.items():
        parts += _section(f"`{name}`", cls, seen, level=3)
    for cls in itertools.islice(seen, len(DOCUMENTS), None):  # it grows meanwhile
        parts += _section(cls.__name__, cls, seen)
    return "\n".join(parts) + "\n"


def without_json() -> list[str]:
    """The verbs that print no document, by what the command line takes."""
    return [verb for verb, its in parser().verbs.items() if "--json" not in its.long_options()]


def _section(title: str, cls: type[Any], seen: list[type[Any]], level: int = 2) -> list[str]:
    lines = [f"\n{'#' * level} {title}\n", " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split()) + "\n"]
    keys = keys_of(cls)
    if keys:
        lines += ["| key | value | meaning |", "|---|---|---|"]
    for before, key in zip([None, *keys], keys, strict=False):
        lines.append(f"| `{key.name}` | {kind_text(key.kind, seen)} | {meaning(cls, key, before)} |")
    return lines


def kind_text(kind: Any, seen: list[type[Any]]) -> str:
    """The type of a value in words; dataclasses in it are added to `seen`."""
    simple = {
        float: "number",
        int: "whole number",
        str: "text",
        bool: "true or false",
        Level: "number or null",
        object: "any",
        Any: "any",
    }
    if kind in simple:
        return simple[kind]
    if kind is Ends:
        return "list of two numbers, or null"
    if isinstance(kind, types.UnionType):
        told = ("null" if each is type(None) else kind_text(each, seen) for each in kind.__args__)
        return " or ".join(dict.fromkeys(told))
    if kind in LABELS:
        return "text"
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return ", ".join(f"`{each.value}`" for each in kind)
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin in (tuple, list):
        return f"list of {kind_text(inside[0], seen)}"
    if origin in (dict, Mapping):
        return f"object of {kind_text(inside[1], seen)}"
    assert dataclasses.is_dataclass(kind), kind
    for command, document in DOCUMENTS.items():
        if kind is document:
            return f"what `quiclab {command}` prints"
    if kind not in seen:
        seen.append(kind)
    name = kind.__name__
    return f"[{name}](#{name.lower()})"


def meaning(cls: type[Any], key: Key, before: Key | None) -> str:
    """Meaning of a key, from the docstring of its field or property. Raises KeyError where none says it."""
    if before is not None and key.kind is Level:
        return f"Level of `{before.name}`; null without an interval."
    if before is not None and key.kind is Ends and before.source == key.source:
        return f"Interval of `{before.name}`; null where there are too few values for one."
    derived = getattr(cls, key.source, None)
    told = inspect.getdoc(derived) if isinstance(derived, property) else field_docs(cls).get(key.source)
    return " ".join((told or _MEANINGS[key.source]).split()).replace("|", "\\|").replace("None ", "null ")
