# SPDX-License-Identifier: Apache-2.0
"""Pieces of an effect of the link: none can be forgotten, and each failure names the file that lacks it."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from quiclab.model.network import Change, Direction
from quiclab.model.tables.drop_reasons import DROP_REASONS
from quiclab.spec.directions import DIRECTION_KEYS
from quiclab.spec.effects import EFFECTS
from quiclab.spec.impairments import CHANGE_KEYS

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "reference" / "link-config.md"
LINK = ROOT / "crates" / "link-run" / "src" / "config" / "direction.rs"
MODEL = "src/quiclab/model/network.py"
FIXED = {
    "edge",
    "burst",
    "peak_rate",
    "overhead",
    "loss_as",
    "duplicate_correlation",
    "corrupt_correlation",
    "loss_at",
    "loss_by",
    "drop",
    "spare",
    "schedule",
    "repeat",
    "trace",
    "delay_trace",
}
"""Settings of a direction that no schedule changes."""


def _fields(declared: type) -> set[str]:
    return {field.name for field in dataclasses.fields(declared)}


def _rust_fields(struct: str) -> list[str]:
    """Names of all fields of a struct of the link's configuration."""
    body = re.search(rf"struct {struct} \{{\n(.*?)\n\}}", LINK.read_text(), re.DOTALL)
    assert body is not None
    return re.findall(r"(?m)^    pub(?:\(super\))? (\w+):", body[1])


def _section(title: str) -> str:
    return PAGE.read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_every_setting_of_a_direction_has_a_key() -> None:
    """And every key a setting."""
    for name in sorted(_fields(Direction) - DIRECTION_KEYS.keys()):
        pytest.fail(f"{name} is in Direction ({MODEL}), and neither spec/effects.py nor spec/paths.py reads it")
    for name in sorted(DIRECTION_KEYS.keys() - _fields(Direction)):
        pytest.fail(f"{name} is read by a spec, and Direction ({MODEL}) has no such field")


def test_every_setting_that_a_schedule_may_change_is_a_change() -> None:
    """In the model and in the spec."""
    for name in sorted(_fields(Direction) - _fields(Change) - FIXED):
        pytest.fail(f"{name} is in Direction, and Change ({MODEL}) has no such field: no schedule can change it")
    for name in sorted(_fields(Change) ^ CHANGE_KEYS.keys()):
        pytest.fail(f"{name} is in one of Change ({MODEL}) and CHANGE_KEYS (spec/impairments.py), and not in the other")


@pytest.mark.parametrize("name", EFFECTS)
def test_an_effect_can_be_told(name: str) -> None:
    """`quiclab plan` prints it, and the option of `quiclab exec` shows one with its keys in order."""
    effect = EFFECTS[name]
    if effect.declared.__str__ is object.__str__:
        pytest.fail(f"{effect.declared.__name__} ({MODEL}) has no __str__ for quiclab plan")
    assert effect.ended
    assert all(effect.option)
    first = next(iter(effect.keys))
    assert first in effect.example


@pytest.mark.parametrize("name", EFFECTS)
def test_the_link_reads_an_effect_and_its_page_describes_it(name: str) -> None:
    """From the beginning and in a schedule, with all of its keys."""
    for struct in ("Direction", "Settings"):
        if name not in _rust_fields(struct):
            pytest.fail(f"{name} is in spec/effects.py, and {struct} ({LINK.relative_to(ROOT)}) has no such field")
    row = next((line for line in _section("A direction").splitlines() if f"| `{name}` |" in line), None)
    if row is None:
        pytest.fail(f"{name} has no row in {PAGE.relative_to(ROOT)}, A direction")
    for key in EFFECTS[name].keys:
        if f'"{key}' not in row:
            pytest.fail(f"the row of {name} in {PAGE.relative_to(ROOT)} does not name its key {key}")


def test_the_page_of_the_link_names_every_setting() -> None:
    """Those of a direction, and those that a change may set."""
    text = _section("A direction")
    for name in _rust_fields("Direction"):
        if not re.search(rf"`{name}[`.:]", text):
            pytest.fail(f"{name} of Direction ({LINK.relative_to(ROOT)}) is not in {PAGE.relative_to(ROOT)}")
    changes = re.search(r"`set` takes (.*?);", text, re.DOTALL)
    assert changes is not None
    for name in _rust_fields("Settings"):
        if f"`{name}`" not in changes[1]:
            pytest.fail(f"{name} of Settings is not in the sentence “`set` takes …” of {PAGE.relative_to(ROOT)}")


def test_the_page_of_the_link_has_the_reasons_for_drops() -> None:
    """By number and name, and no others."""
    rows = re.findall(r"(?m)^\| (\d+) \| `(\w+)` \| \S", _section("Reasons for drops"))
    told = {(int(number), name) for number, name in rows}
    known = {(reason.number, reason.name) for reason in DROP_REASONS}
    for number, name in sorted(known ^ told):
        pytest.fail(
            f"{name} ({number}) is in one of drop_reasons.py and {PAGE.relative_to(ROOT)}, and not in the other"
        )
