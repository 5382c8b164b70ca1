# SPDX-License-Identifier: Apache-2.0
"""Labels of time: each is complete where it is declared, and everything that lists labels takes it from there."""

from __future__ import annotations

import pickle
import re

import pytest

from quiclab.model.activity import What
from quiclab.model.cause import UNIONS, Why
from quiclab.model.tables import TABLES
from quiclab.why.account.levels import Part
from quiclab.why.mechanisms import MECHANISMS

_OF_NO_MECHANISM = {
    Why.BROWSER, Why.PLAYER, Why.KEPT_IN_KERNEL, Why.PACING_OR_PROGRAM, Why.LABORATORY, Why.UNEXPLAINED,
}  # fmt: skip
"""Labels whose time no mechanism takes."""


@pytest.mark.parametrize("why", list(Why))
def test_a_reason_is_complete(why: Why) -> None:
    """A reason without a word or a colour would be missed only in the study that has it."""
    assert why.heading
    assert re.fullmatch("#[0-9a-f]{6}", why.style.colour)
    assert why.definition.endswith(".")
    assert not why.details or why.details.endswith(".")


@pytest.mark.parametrize("what", list(What))
def test_an_activity_is_complete(what: What) -> None:
    assert what.heading
    assert what.meaning
    assert not what.meaning.endswith(".")
    assert not what.details or what.details.endswith(".")


@pytest.mark.parametrize("part", list(Part))
def test_a_part_is_complete(part: Part) -> None:
    assert part.heading
    assert part.definition.endswith(".")
    assert "7 ms longer" in part.phrase.format("7 ms longer", "2 kB", "1 kB")


@pytest.mark.parametrize("labels", [Why, What, Part])
def test_names_and_headings_tell_labels_apart(labels: type[Why] | type[What] | type[Part]) -> None:
    assert len({each.heading for each in labels}) == len(labels)
    assert [labels(str(each)) for each in labels] == list(labels)
    assert pickle.loads(pickle.dumps(list(labels))) == list(labels)


def test_each_reason_is_taken_by_a_mechanism_or_known_to_be_taken_by_none() -> None:
    """A reason that is added has a place among the causes, or is told as unknown on purpose."""
    taken = {why for each in MECHANISMS for why in each.reasons}
    assert set(Why) - taken == _OF_NO_MECHANISM


def test_a_union_stands_for_labels_that_are_declared_before_wider_ones() -> None:
    """`categories` takes unions in their order: one within another comes first."""
    seen: list[Why] = []
    for union, members in UNIONS.items():
        assert union not in members
        assert not [each for each in members if each in UNIONS and each not in seen]
        seen.append(union)


@pytest.mark.parametrize(("column", "labels"), [("what", {*What}), ("why", {*Why} - {Why.SET_UP})])
def test_the_table_of_accounts_lists_each_label_that_a_row_can_have(column: str, labels: set[Why] | set[What]) -> None:
    (described,) = (each.doc for each in TABLES["account"].columns if each.name == column)
    assert {*re.findall("`([^`]+)`", described)} == {str(each) for each in labels}
