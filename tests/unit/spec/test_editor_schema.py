# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema by which editors check a spec: it takes every right spec, and no wrong key or type."""

from __future__ import annotations

import copy
import json
import pathlib
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from specs import SMALL, schema_errors, with_path

from quiclab.project import SUPPLIES, studies
from quiclab.spec.editor_schema import SCHEMA, schema_line

_DOCS = sorted((SUPPLIES / "docs").rglob("*.md"))
_BLOCK = re.compile(r"```toml\n(.*?)```", re.DOTALL)
Place = tuple[str | int, ...]


def documented() -> Iterator[tuple[str, str]]:
    """Whole specs that stand in the docs."""
    for page in _DOCS:
        for number, text in enumerate(_BLOCK.findall(page.read_text(encoding="utf-8"))):
            if "[study]" in text and "[[arm]]" in text:
                yield f"{page.name}-{number}", text


def places(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every value of a document with its place."""
    yield place, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*place, key))


def changed_at(document: Any, place: Place, new: Any) -> Any:
    """A copy of a document with another value at a place."""
    *way, last = place
    inner = changed = copy.deepcopy(document)
    for key in way:
        inner = inner[key]
    inner[last] = new
    return changed


def test_it_is_a_schema() -> None:
    """The schema is valid by the draft that it names."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert schema["$schema"] == jsonschema.Draft7Validator.META_SCHEMA["$schema"]
    jsonschema.Draft7Validator.check_schema(schema)


@pytest.mark.parametrize("name", sorted(studies()))
def test_it_takes_every_study_that_comes_with_quiclab(name: str) -> None:
    """Whole and small."""
    assert not schema_errors(tomllib.loads(studies()[name].read_text(encoding="utf-8")))


def test_it_takes_the_specs_of_the_docs() -> None:
    """Those that are whole."""
    texts = dict(documented())
    assert "write-a-study.md-0" in texts
    assert not {name: errors for name, text in texts.items() if (errors := schema_errors(tomllib.loads(text)))}


@pytest.mark.parametrize("name", ["demo", "kak-size", "liu-migration", "qin-video", "liu-pages", "yb-clients"])
def test_no_table_takes_an_unknown_key(name: str) -> None:
    """At any depth."""
    document = tomllib.loads(studies()[name].read_text(encoding="utf-8"))
    tables = [place for place, value in places(document) if isinstance(value, dict)]
    assert tables
    unmarked = [place for place in tables if not schema_errors(changed_at(document, (*place, "no-such-key"), 1))]
    assert not unmarked


@pytest.mark.parametrize("name", ["demo", "kak-size", "liu-migration", "qin-video", "liu-pages", "yb-clients"])
def test_no_value_may_be_of_another_type(name: str) -> None:
    """Neither a table of something else, nor a number for a text, nor a text for a number."""
    document = tomllib.loads(studies()[name].read_text(encoding="utf-8"))
    unmarked = []
    # Entries of an array have one schema: of those that are written alike, one is enough.
    alike = {(tuple(key if isinstance(key, str) else "" for key in place), str(value)): (place, value)
             for place, value in places(document)}  # fmt: skip
    for place, value in alike.values():
        if place and not isinstance(value, dict | list):
            wrong = [{"no-such-key": 1}, *((-1.5, True) if isinstance(value, str) else ("no such text",))]
            unmarked += [(place, new) for new in wrong if not schema_errors(changed_at(document, place, new))]
    assert not unmarked


@pytest.mark.parametrize(
    "lines",
    [
        'rate2 = "1 Mbit/s"',
        'mtu = "1500"',
        'queue = "two"',
        'loss = "1"',
        'jitter = {distribution = "normal"}',
        'loss = {model = "bursts", mean_good = "1 s"}',
        "mtu = []",
        'down = {loss = "1 %", speed = "1 Mbit/s"}',
    ],
)
def test_wrong_lines_of_a_path_are_marked(lines: str) -> None:
    """As the reader would report them."""
    assert schema_errors(tomllib.loads(with_path(lines)))


def test_a_spec_without_a_part_is_marked() -> None:
    """Study, workload, path and arm are needed."""
    document = tomllib.loads(SMALL)
    for key in document:
        assert schema_errors({name: value for name, value in document.items() if name != key})


def test_the_line_for_editors_leads_to_the_schema() -> None:
    """As a URL of a file that is there, behind the directive of Taplo."""
    directive, _, url = schema_line().partition(" ")
    assert directive == "#:schema"
    assert pathlib.Path(url.removeprefix("file://")) == SCHEMA
    assert SCHEMA.is_file()
