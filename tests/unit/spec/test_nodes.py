# SPDX-License-Identifier: Apache-2.0
"""The machinery of reading: labels, lines, and problems that are gathered and not thrown."""

from __future__ import annotations

import pathlib
import tomllib
from dataclasses import dataclass

import pytest

from quiclab.spec import kinds
from quiclab.spec.lines import line_index
from quiclab.spec.nodes import (
    FAILED,
    Kind,
    Node,
    ReportedError,
    Source,
    build,
    closest,
    read_keys,
    read_or_report,
    show,
)

TEXT = """\
x = 1
[[box]]
name = "a"
inner = [{k = 1}]
[[box]]
k = 2
"""


def source() -> Source:
    """The text above, with no problems yet."""
    return Source(tomllib.loads(TEXT), line_index(TEXT), pathlib.Path())


@dataclass(frozen=True)
class Pair:
    """Something to build."""

    k: int
    n: int = 3


def test_a_label_names_elements_by_their_name_or_number() -> None:
    """Numbers are for people: they start at one."""
    gathered = source()
    gathered.report(("box", 0, "inner", 0, "k"), "wrong")
    gathered.report(("box", 1, "k"), "wrong")
    gathered.report((), "wrong")
    assert gathered.problems == (
        "line 1: wrong",
        "line 4: box[a].inner[#1].k: wrong",
        "line 6: box[#2].k: wrong",
    )


def test_the_same_problem_is_told_once() -> None:
    """Two ways that meet the same offender make one line."""
    gathered = source()
    for _ in range(2):
        gathered.report(("x",), "wrong")
    assert gathered.problems == ("line 1: x: wrong",)


def test_reading_goes_on_after_a_wrong_key() -> None:
    """The right keys are returned and the wrong, unknown and missing ones noted."""
    gathered = source()
    node = Node({"k": "x", "z": 1, "m": 2}, (), gathered)
    values = read_keys(node, {"k": kinds.whole(0, 9), "m": kinds.whole(0, 9), "n": kinds.whole(0, 9)}, required=("n",))
    assert values == {"m": 2}
    assert len(gathered.problems) == 3


def test_a_dataclass_is_built_or_not_at_all() -> None:
    """Fields without default are required; a problem inside means no object."""
    keys = {"k": kinds.whole(0, 9), "n": kinds.whole(0, 9)}
    assert build(Pair, Node({"k": 1}, (), source()), keys) == Pair(1, 3)
    with pytest.raises(ReportedError):
        build(Pair, Node({"n": 1}, (), source()), keys)


def test_a_failed_value_is_marked() -> None:
    """So that None can be a value."""
    gathered = source()
    nothing: Kind[None] = Kind("nothing", lambda node: None)
    assert read_or_report(Node(1, ("x",), gathered), nothing) is None
    assert read_or_report(Node("1", ("x",), gathered), kinds.whole(0, 1)) is FAILED
    assert len(gathered.problems) == 1


@pytest.mark.parametrize(
    ("name", "end"),
    [("RATE", 'did you mean "rate"?'), ("dealy", 'did you mean "delay"?'), ("zzz", "valid names: rate, delay")],
)
def test_the_closest_name_is_offered_or_all(name: str, end: str) -> None:
    """Upper and lower case do not matter."""
    assert closest(name, ["rate", "delay"]) == end


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true stands here"), ("a", '"a" is a string'), (1, "1 is a whole number"), (0.5, "0.5 is a number"),
     ([], "an array stands here"), ({}, "a table stands here")],
)  # fmt: skip
def test_values_are_shown_with_their_type(value: object, text: str) -> None:
    """In the words of TOML."""
    assert show(value) == text
