# SPDX-License-Identifier: Apache-2.0
"""The arms and paths of a confirming study, for one setting of one mechanism, as far as the programs allow."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.lab.endpoints import KnowsOwnValues, find, objections
from quiclab.model.errors import SpecError
from quiclab.model.study import Arm, Study, Workload
from quiclab.model.units import ByteCount, Duration, Share
from quiclab.spec.arms import PROGRAM_KEYS
from quiclab.spec.counterfactual import Change, PathVariant, Value, Variant, confirming_spec, present_value, role_of
from quiclab.spec.toml_text import Toml
from quiclab.study.specs import load_study
from quiclab.why.confirm.declaration import (
    DOSE,
    FAST,
    FAST_WITHOUT,
    NOT_APPLICABLE,
    REPLAY,
    SHAM,
    WITH,
    WITHOUT,
    TrialPlace,
)

if TYPE_CHECKING:
    from quiclab.why.mechanisms import Setting

_OF_BOTH = frozenset({"congestion_control", "initial_window", "pacing"})
"""Settings that QUIC's program and TCP's kernel both have, each in a table of its own."""
_MOST_DOSES = 2
Dose = str | int | float


@dataclass(frozen=True)
class Variants:
    """A spec that can run, and what its arms are."""

    change: Change
    spec: str
    places: Mapping[str, TrialPlace]
    doses: tuple[Dose, ...]
    sham: str
    left_out: tuple[str, ...]
    study: Study

    @property
    def sha256(self) -> str:
        """Hash of the spec."""
        return hashlib.sha256(self.spec.encode()).hexdigest()


@dataclass(frozen=True)
class Cell:
    """The cell, the arm that has the mechanism in it, and the other one."""

    study: Study
    document: Toml
    workload: Workload
    path: str
    arm: Arm
    other: Arm

    @property
    def name(self) -> str:
        """The cell as `WORKLOAD/PATH`."""
        return f"{self.workload.name}/{self.path}"


def variants(cell: Cell, setting: Setting, own: Mapping[str, object], cannot: str | None = None) -> Variants:
    """The confirming study's arms and paths; `cannot` says why the other arm cannot have the mechanism, else None.

    Raises SpecError where the setting is not possible here, and says why.
    """
    change = Change(setting.table, setting.key, setting.value)
    if change.table == "tcp" and cell.arm.protocol == "h3":
        raise SpecError("TCP's settings do nothing over HTTP/3")
    # An arm with the value that the study has, or with that of `without`, is there already.
    present = present_value(cell.arm, cell.workload, change.table, change.key)
    doses = tuple(each for each in setting.doses if each not in {setting.value, present})
    if not change.is_of_path:
        doses = nearest_doses(doses, present, setting.value)
    try:
        return _made(cell, change, doses, own, cannot)
    except SpecError as error:
        if not doses:
            raise
        made = _made(cell, change, (), own, cannot)
        return replace(made, left_out=(*made.left_out, f"doses: {error.message}"))


def nearest_doses(doses: Sequence[Dose], present: Value | None, without: Value) -> tuple[Dose, ...]:
    """The first doses on the way from the present value to that of `without`, where the mechanism still has time.

    Later ones may be as good as none of it: nothing would tell them apart. Without a present value the last ones.
    """
    begin, end = (None if each is None else magnitude(each) for each in (present, without))
    sizes = [magnitude(each) for each in doses]
    if begin is None or end is None or None in sizes:
        return tuple(doses[-_MOST_DOSES:])
    low, high = sorted((begin, end))
    between = [dose for dose, size in zip(doses, sizes, strict=True) if size is not None and low < size < high]
    return tuple(between[:_MOST_DOSES])


def magnitude(value: Value) -> float | None:
    """A number, size, time or share as a number that can be held against others of its kind; None of words."""
    if isinstance(value, bool | tuple):
        return None
    if isinstance(value, int | float):
        return float(value)
    for read in (ByteCount.parse, Duration.parse, Share.parse):
        try:
            found = read(value)
        except ValueError:
            continue
        return float(next(iter(vars(found).values())))
    return None


def _made(cell: Cell, change: Change, doses: Sequence[Dose], own: Mapping[str, object], cannot: str | None) -> Variants:
    found = (
        _variants_of_path(cell, change, doses, own)
        if change.is_of_path
        else _variants_of_arms(cell, change, doses, own, cannot)
    )
    refuse_what_cannot_run(found.study, cell.workload.name)
    return found


def _variants_of_arms(
    cell: Cell, change: Change, doses: Sequence[Dose], own: Mapping[str, object], cannot: str | None
) -> Variants:
    name = cell.arm.name
    value, known_by = value_of(cell, change)
    if value is None and change.key in PROGRAM_KEYS:
        raise SpecError(f"no program of {name} has its {change.key} limited")
    if value == change.value:
        raise SpecError(f"{change.table}.{change.key} is {_value_text(value)} in {name} already, {known_by}")
    sham: tuple[Change, ...] = () if value is None else (replace(change, value=value),)
    arms = [
        Variant(REPLAY, name),
        Variant(WITHOUT, name, (change,)),
        Variant(SHAM, name, sham),
        Variant(FAST, cell.other.name),
        *(Variant(f"{DOSE}{at + 1}", name, (replace(change, value=dose),)) for at, dose in enumerate(doses)),
    ]
    why_not: str | None = "the value that the mechanism comes from is not known"
    if cannot is not None:
        why_not = cannot
    elif change.key == "congestion_control" and not same_sender(cell):
        # Linux's reno leaves half of a window after a loss, that of quic-go 70 %.
        why_not = "a congestion control of one name is not the same in another program"
    elif value is not None:
        try:
            given = for_other(replace(change, value=value), cell.other)
            shared, why_not = _not_given(cell, given)
            arms += [] if why_not else [Variant(WITH, cell.other.name, (given,))]
        except SpecError as error:
            shared, why_not = False, error.message
        if shared:
            raise SpecError(why_not or "")
    spec, study = read_back(cell, arms, [PathVariant(cell.path)], own)
    before, after = (next(arm for arm in study.arms if arm.name == role) for role in (REPLAY, WITHOUT))
    if replace(before, name="") == replace(after, name=""):
        raise SpecError(f"{change.table}.{change.key} is {_value_text(change.value)} in {name} already")
    places = {each.name: TrialPlace(cell.name, each.name) for each in arms}
    told = f"{change.key} set to {_value_text(value)}, {known_by}" if value is not None else (
        f"the same arm under another name: the value of {change.key} that its program has by itself is not known"
    )  # fmt: skip
    left_out = (f"{NOT_APPLICABLE if cannot else WITH}: {why_not}",) if why_not else ()
    return Variants(change, spec, places, tuple(doses), told, left_out, study)


def _variants_of_path(cell: Cell, change: Change, doses: Sequence[Dose], own: Mapping[str, object]) -> Variants:
    """Both arms over both paths: blocks of two cells of the same number run within the same minutes."""
    name, without = cell.path, f"{cell.path}-{WITHOUT}"[-64:]
    others = {f"{DOSE}{at + 1}": f"{name}-{DOSE}{at + 1}"[-64:] for at in range(len(doses))}
    paths = [
        PathVariant(name),
        PathVariant(without, (change,)),
        *(PathVariant(others[f"{DOSE}{at + 1}"], (replace(change, value=dose),)) for at, dose in enumerate(doses)),
    ]
    arms = [Variant(REPLAY, cell.arm.name), Variant(SHAM, cell.arm.name), Variant(FAST, cell.other.name)]
    spec, study = read_back(cell, arms, paths, own)
    built = {path.name: replace(path, name="", title="", profile="") for path in study.paths}
    if built[name] == built[without]:
        raise SpecError(f"the path {name} has no {change.key} that could be taken away")
    # A dose may be written otherwise than the value that the path has, or that it has without the cause.
    there = (built[name], built[without])
    new = [dose for dose, path in zip(doses, others.values(), strict=True) if built[path] not in there][-_MOST_DOSES:]
    if len(new) < len(doses):
        return _variants_of_path(cell, change, new, own)
    workload = cell.workload.name
    places = {
        REPLAY: TrialPlace(cell.name, REPLAY),
        SHAM: TrialPlace(cell.name, SHAM),
        FAST: TrialPlace(cell.name, FAST),
        WITHOUT: TrialPlace(f"{workload}/{without}", REPLAY),
        FAST_WITHOUT: TrialPlace(f"{workload}/{without}", FAST),
        **{role: TrialPlace(f"{workload}/{path}", REPLAY) for role, path in others.items()},
    }
    sham = "the same arm under another name: a path is shared by all arms"
    return Variants(change, spec, places, tuple(doses), sham, (), study)


def read_back(
    cell: Cell, arms: Sequence[Variant], paths: Sequence[PathVariant], own: Mapping[str, object], **more: str
) -> tuple[str, Study]:
    """The spec's text, and what it is read as; `more` is a heading of its own. Raises SpecError with its first
    problem."""
    place = (cell.workload.name, cell.path)
    spec = confirming_spec(cell.document, cell.study, cell=place, arms=arms, paths=paths, own=own, **more)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "spec.toml")
        file.write_text(spec, encoding="utf-8")
        try:
            return spec, load_study(file)
        except SpecError as error:
            told = error.problems[0].partition(": ")[2] if error.problems else error.message
            raise SpecError(told or error.message) from error


def refuse_what_cannot_run(study: Study, workload: str) -> None:
    """Raise SpecError for the first thing that the programs of an arm cannot do."""
    workloads = [each for each in study.workloads if each.name == workload]
    for arm in study.measured_arms:
        if arm.name != WITH and (found := objections(arm, workloads)):
            raise SpecError(found[0])


def same_sender(cell: Cell) -> bool:
    """True if one implementation sends the bodies of both arms: the kernel's TCP, or one program's QUIC."""
    arms = (cell.arm, cell.other)
    if all(arm.protocol != "h3" for arm in arms):
        return True
    if any(arm.protocol != "h3" for arm in arms):
        return False
    names = []
    for arm in arms:
        role = role_of("sender", arm, cell.workload)
        names.append(next(program.name for each, program, _ in arm.programs() if each == role))
    return names[0] == names[1]


def for_other(change: Change, other: Arm) -> Change:
    """The change where the other arm's protocol has it: what QUIC's sender and TCP both have stands in `tcp` of an arm
    over TCP. Raises SpecError for a setting of TCP's alone over HTTP/3."""
    if other.protocol != "h3" and change.table == "sender" and change.key in _OF_BOTH:
        return replace(change, table="tcp")
    if other.protocol == "h3" and change.table == "tcp":
        if change.key in _OF_BOTH:
            return replace(change, table="sender")
        raise SpecError(f"tcp.{change.key} does nothing over HTTP/3")
    return change


def value_of(cell: Cell, change: Change) -> tuple[Value | None, str]:
    """The value that a setting has in the arm, and by what it is known."""
    value = present_value(cell.arm, cell.workload, change.table, change.key)
    if value is not None:
        is_default = change.table in ("tcp", "certificate")
        return value, "as the study has it, or quiclab's default" if is_default else "as the study has it"
    if change.key == "tls_version":
        return "1.3", "which all programs have that no spec holds to 1.2"
    role = role_of(change.table, cell.arm, cell.workload)
    if role is None:
        return None, ""
    program = next(program for each, program, _ in cell.arm.programs() if each == role)
    protocol = next(protocol for each, _, protocol in cell.arm.programs() if each == role)
    endpoint = find(role, program.name)
    if isinstance(endpoint, KnowsOwnValues):
        value = endpoint.own_values(program, protocol).get(change.key)
    return value, f"which {program.name} has by itself"


def _not_given(cell: Cell, given: Change) -> tuple[bool, str | None]:
    """Pair of a flag and a reason: the other arm has the value too, and why the mechanism cannot be given to it; None
    where it can."""
    try:
        # Two arms are the least that a spec has.
        _, study = read_back(
            cell,
            [Variant(FAST, cell.other.name), Variant(WITH, cell.other.name, (given,))],
            [PathVariant(cell.path)],
            {"name": "with", "seed": 0, "blocks": 1, "baseline": FAST},
        )
    except SpecError as error:
        return False, error.message
    before, after = study.measured_arms
    if replace(before, name="") == replace(after, name=""):
        has = f"{cell.other.name} has {given.key} = {_value_text(given.value)} too"
        return True, f"{has}, so that it is not what makes the arms differ"
    found = objections(after, [cell.workload])
    return False, found[0] if found else None


def _value_text(value: Value | None) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(value) if isinstance(value, tuple) else str(value)
