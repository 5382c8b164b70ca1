# SPDX-License-Identifier: Apache-2.0
"""Types of fields that say which values a spec may give."""

from __future__ import annotations

import dataclasses
import typing

import pytest

from quiclab.model import study
from quiclab.model.bounds import Bounds


@pytest.mark.parametrize(
    "name", ["Police", "FqCoDel", "RandomRate", "Bursts", "Jitter", "Block", "Slot", "Pie", "DualPi2"]
)
def test_a_default_lies_within_its_bounds(name: str) -> None:
    """Of every field with both."""
    declared = getattr(study, name)
    hints = typing.get_type_hints(declared, include_extras=True)
    bounded = 0
    for field in dataclasses.fields(declared):
        for bounds in (each for each in getattr(hints[field.name], "__metadata__", ()) if isinstance(each, Bounds)):
            bounded += 1
            assert bounds.least <= bounds.most
            assert field.default is dataclasses.MISSING or bounds.least <= field.default <= bounds.most
    assert bounded or name == "Jitter"
