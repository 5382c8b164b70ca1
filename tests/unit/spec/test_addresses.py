# SPDX-License-Identifier: Apache-2.0
"""Losses by another key, and packets that are addressed: read, refused, and handed to the link."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

import pytest
from specs import problems_of, study_of, with_path

from quiclab.model.study import Addresses
from quiclab.spec.link import link_config
from quiclab.spec.resolved import resolved_json


def config(folder: pathlib.Path, lines: str) -> dict[str, Any]:
    """The link's configuration of a path with these lines."""
    return link_config(study_of(folder, with_path(lines)).paths[0], 1)


def test_the_link_is_told_what_is_not_the_default(tmp_path: pathlib.Path) -> None:
    """Directions without such keys stay as short as they were."""
    lines = 'loss = "1 %"\nloss_by = "class"\n[path.down]\ndrop = {initial = [2], byte = [7]}\nspare = {packet = [0]}'
    both = config(tmp_path, lines)
    assert both["up"]["loss_by"] == both["down"]["loss_by"] == "class"
    assert both["down"]["drop"] == {"byte": [7], "initial": [2]}
    assert both["down"]["spare"] == {"packet": [0]}
    assert "drop" not in both["up"]
    assert not {"loss_by", "drop", "spare"} & set(config(tmp_path, 'loss = "1 %"')["up"])


def test_every_kind_of_address_has_a_key(tmp_path: pathlib.Path) -> None:
    """They reach the link and resolved.json under the same name."""
    kinds = [field.name for field in dataclasses.fields(Addresses)]
    drop = ", ".join(f"{kind} = [{number}]" for number, kind in enumerate(kinds, 1))
    study = study_of(tmp_path, with_path(f"drop = {{{drop}}}"))
    expected = {kind: [number] for number, kind in enumerate(kinds, 1)}
    assert link_config(study.paths[0], 1)["up"]["drop"] == expected
    assert resolved_json(study)["paths"][0]["up"]["drop"] == expected
    assert str(study.paths[0].up.drop) == ", ".join(f"{kind} {number}" for number, kind in enumerate(kinds, 1))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('loss = "1 %"\nloss_by = "packet"', '"packet" is not known here; valid values: index, class, bytes'),
        ('loss_by = "class"', 'no loss is drawn by chance; write a "loss" or leave "loss_by" out'),
        ('loss = [1]\nloss_by = "bytes"', 'no loss is drawn by chance; write a "loss" or leave "loss_by" out'),
        ('[path.up]\nloss_by = "class"\n[path.down]\nloss = "1 %"', "up.loss_by: no loss is drawn by chance up;"),
        ("spare = {syn = [1]}", "nothing is lost that could be spared"),
        ("drop = {}", "no packet is addressed; write one of packet, large, byte,"),
        ("drop = {initials = [1]}", 'there is no such key here; did you mean "initial"?'),
        ("drop = {initial = [0]}", "0 is out of range; write a whole number from 1 to"),
        ("drop = {initial = []}", "the array has 0 elements; write an array of numbers from 1"),
        ("drop = {initial = 1}", "1 is a whole number; write an array of numbers from 1"),
        ("drop = {byte = [5, 5]}", "byte 5 is addressed twice; write it once"),
        ("drop = 3", "3 is a whole number; write a table"),
        (
            'loss = "1 %"\nspare = {large = [2]}\n[path.down]\ndrop = {large = [2]}',
            "down.drop: large 2 is to be dropped and to be spared down; choose one",
        ),
    ],
)
def test_nonsense_is_refused(tmp_path: pathlib.Path, lines: str, words: str) -> None:
    """In one line that names the place."""
    (problem,) = problems_of(tmp_path, with_path(lines))
    assert words in problem


def test_a_key_for_both_directions_needs_one_that_loses(tmp_path: pathlib.Path) -> None:
    """A path says once how its losses are drawn, though only one direction has any, or gets them later."""
    for lines in (
        'loss_by = "class"\n[path.down]\nloss = "1 %"',
        'loss_by = "class"\nschedule = [{at = "1 s", loss = "1 %"}]',
    ):
        assert config(tmp_path, lines)["down"]["loss_by"] == "class"
