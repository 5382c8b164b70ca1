# SPDX-License-Identifier: Apache-2.0
"""The record of a resolved spec beside the model whose values it has."""

from __future__ import annotations

import dataclasses
import json
import typing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quiclab.model import resolved_record as record
from quiclab.model import study as model
from quiclab.model.resolved_record import ResolvedSpec
from quiclab.model.units import Bitrate, ByteCount, Duration, Share
from quiclab.spec.read import read_study
from quiclab.spec.resolved import resolved_json
from quiclab.store.record_form import as_record

_UNITS = {Duration: "_ns", Bitrate: "_bit_per_s", ByteCount: "_bytes", Share: "_pct"}
_PROJECT = Path(__file__).resolve().parents[3]
_ADDED = {"arms_summary", "earlier_limits", "probe", "model"}
"""Members that are no field of the model: a run adds them, and a model of loss has its name."""


@pytest.mark.parametrize(
    ("kind", "of"),
    [
        (record.ResolvedSpec, (model.Study,)),
        (record.ResolvedWorkload, (model.Workload,)),
        (record.ResolvedVideo, (model.Video,)),
        (record.ResolvedCompetition, (model.Competition,)),
        (record.ResolvedPath, (model.Path,)),
        (record.ResolvedLink, (model.Link,)),
        (record.ResolvedDirection, (model.Direction,)),
        (record.ResolvedChange, (model.Change,)),
        (record.ResolvedLoss, (model.Bernoulli, model.GilbertElliott, model.Bursts, model.DropList)),
        (record.ResolvedJitter, (model.Jitter,)),
        (record.ResolvedReordering, (model.Reorder,)),
        (record.DrawnRate, (model.RandomRate,)),
        (record.ResolvedArm, (model.Arm,)),
        (record.ResolvedProgram, (model.Program,)),
        (record.ResolvedKnobs, (model.Knobs,)),
        (record.ResolvedTcp, (model.Tcp,)),
        (record.ResolvedLimits, (model.Limits,)),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_each_member_has_a_name_under_which_it_is_written(
    kind: type[msgspec.Struct], of: tuple[type[Any], ...]
) -> None:
    """A member of another name, such as a quantity without its unit, would never have a value."""
    written = _ADDED.union(*(_names(each) for each in of))
    assert {field.encode_name for field in msgspec.structs.fields(kind)} <= written


def _names(of: type[Any]) -> set[str]:
    """Names in resolved.json of the fields of a dataclass, where they have a value."""
    hints = typing.get_type_hints(of)
    return {field.name + ending for field in dataclasses.fields(of) for ending in _endings(hints[field.name])}


def _endings(hint: Any) -> set[str]:
    """Units of the types that a type names, and none for other types."""
    if hint in _UNITS:
        return {_UNITS[hint]}
    inner = [each for each in typing.get_args(hint) if each not in (type(None), ...)]
    if typing.get_origin(hint) is typing.Literal or not inner:
        return {""}
    return set[str]().union(*map(_endings, inner))


@pytest.mark.parametrize(
    "file", sorted((_PROJECT / "experiments").glob("*/small.toml")), ids=lambda file: file.parent.name
)
def test_every_study_is_read_as_it_is_resolved(file: Path) -> None:
    """Each spec of the project, as a run would keep it, has the form of the record, and what it plans is in it."""
    study = read_study(file)
    spec = as_record(json.loads(json.dumps(resolved_json(study))), ResolvedSpec)
    assert [each.name for each in spec.arms] == [each.name for each in study.arms]
    assert [each.name for each in spec.measured_workloads] == [each.name for each in study.measured_workloads]
    for told, path in zip(spec.paths, study.paths, strict=True):
        assert [each.delay_ns for each in told.every_direction] == [
            direction.delay.ns for side in ("up", "down") for link in path.links for direction in (getattr(link, side),)
        ]
    assert spec.limits == record.ResolvedLimits(
        trial_ns=study.limits.trial.ns,
        ready_ns=study.limits.ready.ns,
        attempts=study.limits.attempts,
        disturbance_pct=None if study.limits.disturbance is None else study.limits.disturbance.pct,
    )
