# SPDX-License-Identifier: Apache-2.0
"""Specs for tests: a small right one, and a way to write and read variations of it."""

from __future__ import annotations

import functools
import json
import pathlib
import tomllib
from typing import TYPE_CHECKING

import pytest

from quiclab.model.errors import SpecError
from quiclab.model.study import Study
from quiclab.spec.editor_schema import SCHEMA
from quiclab.spec.read import read_study

if TYPE_CHECKING:
    import jsonschema

SMALL = """\
[study]
name = "small"
seed = 7
blocks = 4

[[workload]]
name = "100KB"
size = "100 KB"

[[path]]
name = "plain"
rate = "10 Mbit/s"
delay = "10 ms"

[[arm]]
name = "h2"
protocol = "h2"
client = "curl-cffi"
server = "caddy"
tcp = {congestion_control = "reno"}

[[arm]]
name = "h3"
protocol = "h3"
client = "curl-cffi"
server = "caddy"
"""


WITH_CONTROL = SMALL.replace("blocks = 4", "blocks = 4\naa = {blocks = 4}")
"""The same with an A/A control, for which it is too small by default."""


def written(folder: pathlib.Path, text: str) -> pathlib.Path:
    """A file spec.toml with this text."""
    spec = folder / "spec.toml"
    spec.write_text(text, encoding="utf-8")
    return spec


def changed(*replacements: tuple[str, str]) -> str:
    """The small spec with parts replaced; each part must be there."""
    text = SMALL
    for old, new in replacements:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def with_path(lines: str) -> str:
    """The small spec with more keys in its path."""
    return changed(('delay = "10 ms"\n', f'delay = "10 ms"\n{lines}\n'))


def study_of(folder: pathlib.Path, text: str = SMALL) -> Study:
    """The study of a right spec, which an editor finds right too."""
    study = read_study(written(folder, text))
    assert not schema_errors(tomllib.loads(text))
    return study


def schema_errors(document: object) -> list[str]:
    """Return the errors that an editor marks in a document, by the JSON Schema of a spec."""
    return [error.message for error in _validator().iter_errors(document)]


@functools.cache
def _validator() -> jsonschema.Draft7Validator:
    import jsonschema  # its grammars take seconds, of which most files that are collected need nothing

    return jsonschema.Draft7Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def problems_of(folder: pathlib.Path, text: str) -> tuple[str, ...]:
    """What is said about a wrong spec."""
    with pytest.raises(SpecError) as caught:
        read_study(written(folder, text))
    assert caught.value.problems
    return caught.value.problems


def only_problem(folder: pathlib.Path, text: str) -> str:
    """What is said about a spec with one offender."""
    problems = problems_of(folder, text)
    assert len(problems) == 1, problems
    return problems[0]
