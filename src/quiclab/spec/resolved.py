# SPDX-License-Identifier: Apache-2.0
"""A study as JSON, as `resolved.json` keeps it: the spec with every default, and units in the names."""

from __future__ import annotations

import dataclasses
from typing import Any

from quiclab.model.study import (
    ONLY_WHERE_SET,
    Bernoulli,
    Bursts,
    CoDel,
    DropList,
    DualPi2,
    FqCoDel,
    GilbertElliott,
    LossTrace,
    Pie,
    Step,
    Study,
)
from quiclab.model.units import Bitrate, ByteCount, Duration, Share

MODEL_NAMES: dict[type[Any], str] = {
    Bernoulli: "bernoulli",
    GilbertElliott: "gilbert-elliott",
    Bursts: "bursts",
    DropList: "list",
    LossTrace: "trace",
    CoDel: "codel",
    FqCoDel: "fq_codel",
    Pie: "pie",
    DualPi2: "dualpi2",
    Step: "step",
}
_BY_TYPE = {Duration: "_ns", Bitrate: "_bit_per_s", ByteCount: "_bytes", Share: "_pct"}
SUFFIXES = tuple(_BY_TYPE.values())
"""Endings of names, one for each kind of quantity."""


def resolved_json(study: Study) -> dict[str, object]:
    """The study with names as in the spec plus a unit (`rate_bit_per_s`, `delay_ns`, `loss.probability_pct`).

    Quantities are whole numbers, shares are per cent. A quantity that is not set keeps its bare name, with the value
    null.
    """
    return _table(study)


def _table(value: Any) -> dict[str, object]:
    """A dataclass as a table; a model of loss or queue management has its name first."""
    table: dict[str, object] = {"model": MODEL_NAMES[type(value)]} if type(value) in MODEL_NAMES else {}
    for field in dataclasses.fields(value):
        content = getattr(value, field.name)
        if content is None and field.metadata == ONLY_WHERE_SET:
            continue
        table[field.name + suffix_of(field.name, content)] = as_json(content)
    return table


def suffix_of(name: str, content: Any) -> str:
    """Ending of a key's name for a quantity: its unit, unless the name is the unit."""
    unit = type(content[0] if isinstance(content, tuple) and content else content)
    suffix = _BY_TYPE.get(unit, "")
    return "" if suffix == f"_{name}" else suffix


def as_json(content: Any) -> Any:
    """A value as JSON."""
    if isinstance(content, Share):
        return content.pct
    if type(content) in _BY_TYPE:
        return dataclasses.astuple(content)[0]
    if dataclasses.is_dataclass(content):
        return _table(content)
    return [as_json(element) for element in content] if isinstance(content, tuple) else content
