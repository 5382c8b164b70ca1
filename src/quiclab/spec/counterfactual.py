# SPDX-License-Identifier: Apache-2.0
"""The spec of a confirming study: one cell of another study, with arms, or paths, that differ in one setting.

Nothing here knows what a setting is for. A `Change` names a key of a spec and its value; an arm as it is, the arm with
the change, and the arm with the value that it had anyway run in the same blocks, with the same seed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from quiclab.model.errors import SpecError
from quiclab.model.study import Arm, Certificate, Role, Study, Tcp, Workload
from quiclab.spec.arms import PROGRAM_KEYS
from quiclab.spec.directions import DIRECTION_KEYS
from quiclab.spec.profiles import with_profile
from quiclab.spec.scaled_path import Scaling, scaled_path
from quiclab.spec.toml_text import Toml, toml_text
from quiclab.spec.two_builds import competitors, own_arm

Value = str | int | float | bool | tuple[str, ...]
NONE = "none"
"""Value of an effect of a path, or of a limit of a processor, that is taken away."""
_HEADING = "# Written by `quiclab explain --confirm`: one cell, with and without one setting, in the same blocks.\n\n"
_SIZES = frozenset({"connection_window", "stream_window", "max_window", "upload_window", "migrate_at"}) | {
    "udp_receive_buffer"
}
"""Knobs that a spec gives with a unit: whole numbers are bytes."""
_SIDES = ("up", "down")


@dataclass(frozen=True)
class Change:
    """One key of a spec with a value: of an arm, or of the path."""

    table: str
    """Table of the key: `sender`, `receiver`, `client`, `server`, `proxy`, `tcp`, `certificate` or `path`."""
    key: str
    value: Value

    @property
    def is_of_path(self) -> bool:
        """True if all arms share it, so that it takes a second path instead of a second arm."""
        return self.table == "path"


@dataclass(frozen=True)
class Variant:
    """One arm of the confirming study: an arm of the study it follows, with or without changes."""

    name: str
    of: str
    """Name of the arm in the other study."""
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True)
class PathVariant:
    """One path of the confirming study: that of the cell, with or without changes."""

    name: str
    changes: tuple[Change, ...] = ()
    scaling: Scaling | None = None
    """Quantity of the path that is more or less than in the cell."""


def role_of(table: str, arm: Arm, workload: Workload) -> Role | None:
    """The role of the program that a table means in an arm; None of what is no program, and of a proxy that is not
    there."""
    front: Role = "proxy" if arm.proxy else "server"
    ends: dict[str, Role] = {
        "sender": "client" if workload.upload else front,
        "receiver": front if workload.upload else "client",
        "client": "client",
        "server": "server",
    }
    return "proxy" if table == "proxy" and arm.proxy else ends.get(table)


def confirming_spec(
    document: Toml,
    study: Study,
    *,
    cell: tuple[str, str],
    arms: Sequence[Variant],
    paths: Sequence[PathVariant],
    own: Mapping[str, object],
    heading: str = _HEADING,
) -> str:
    """Return the spec, as TOML, of one cell (workload, path) of a study with these arms over these paths.

    `document` is the study's spec with whole file names (`Build.document`), `own` has the keys of [study] that differ,
    `heading` is a comment that says what wrote it. Raises SpecError for a change that the document cannot have.
    """
    name, path_name = cell
    workload = next(each for each in study.workloads if each.name == name)
    before = {arm.name: arm for arm in study.arms}
    path = next(each for each in document["path"] if each["name"] == path_name)
    keys = {key: value for key, value in document["study"].items() if key not in _LEFT_OUT}
    others = [
        {"name": each, **own_arm(document, study, each), "only_for": "competition"} for each in competitors(study)
    ]
    new = {
        "study": keys | {"aa": {"blocks": 0}} | dict(own),
        **({"limits": document["limits"]} if "limits" in document else {}),
        "workload": [each for each in document["workload"] if each["name"] == name or "only_for" in each],
        "path": [_path(path, each) for each in paths],
        "arm": [*(_arm(document, study, before[each.of], workload, each) for each in arms), *others],
    }
    return heading + toml_text(new)


_LEFT_OUT = {"question", "only_blocks", "count_system_calls", "aa", "baseline"}
"""Keys of [study] that say nothing of the cell."""


def _arm(document: Toml, study: Study, arm: Arm, workload: Workload, variant: Variant) -> dict[str, object]:
    table = {key: value for key, value in own_arm(document, study, arm.name).items() if key != "only_for"}
    for change in variant.changes:
        table = _changed(table, arm, workload, change)
    return {"name": variant.name, **table}


def _changed(table: Toml, arm: Arm, workload: Workload, change: Change) -> Toml:
    if change.table in ("tcp", "certificate"):
        inner = {key: value for key, value in table.get(change.table, {}).items() if not _is_role_s(key, change.key)}
        return {**table, change.table: {**inner, change.key: _written(change)}}
    role = role_of(change.table, arm, workload)
    if role is None:
        raise SpecError(f"the arm {arm.name} has no {change.table}", "name another cause with --cause")
    program = {"name": table[role]} if isinstance(table[role], str) else dict(table[role])
    if change.value == NONE and change.key in PROGRAM_KEYS:
        program.pop(change.key, None)
        return {**table, role: program}
    return {**table, role: {**program, change.key: _written(change)}}


def _is_role_s(key: str, changed: str) -> bool:
    """True if a key of `tcp` is that of one role, and would override the one that is changed."""
    return key != changed and key.endswith(f"_{changed}") and key.partition("_")[0] in ("client", "server", "proxy")


def _written(change: Change) -> Any:
    if isinstance(change.value, tuple):
        return list(change.value)
    is_size = change.key in _SIZES and isinstance(change.value, int) and not isinstance(change.value, bool)
    return f"{change.value} B" if is_size else change.value


def _path(path: Toml, variant: PathVariant) -> Toml:
    table = dict(path)
    for change in variant.changes:
        links = [_changed_link(link, change) for link in table.get("link", ())]
        table = {**table, "link": links} if links else _changed_link(table, change)
    if variant.scaling is not None:
        table = scaled_path(table, variant.scaling)
    return {**table, "name": variant.name, **_title(variant)}


def _title(variant: PathVariant) -> dict[str, str]:
    if variant.scaling is not None:
        return {"title": str(variant.scaling)}
    return {"title": variant.name} if variant.changes else {}


def _changed_link(link: Toml, change: Change) -> Toml:
    """A link, or a path of a single one, with one effect changed or taken away in both directions, for all time."""
    table = dict(link)
    if "profile" in table:
        table = with_profile(table, DIRECTION_KEYS)
        del table["profile"]
    table = _without(table, change.key)
    if change.key == "delay":
        table.pop("rtt", None)  # the same time, both ways
    for side in _SIDES:
        if side in table:
            table[side] = _without(table[side], change.key)
    return table if change.value == NONE else {**table, change.key: _written(change)}


def _without(table: Toml, key: str) -> Toml:
    """A table of keys of one direction without one of them, also where it comes later by the schedule."""
    kept = {known: value for known, value in table.items() if known != key}
    if isinstance(kept.get("schedule"), list):
        changes = [{known: value for known, value in each.items() if known != key} for each in kept["schedule"]]
        kept["schedule"] = [each for each in changes if each.keys() - {"at"}]
        if not kept["schedule"]:
            del kept["schedule"]
            kept.pop("repeat", None)
    return kept


def present_value(arm: Arm, workload: Workload, table: str, key: str) -> Value | None:
    """The value that a key of an arm has by its spec or by quiclab's own default; None where the program decides."""
    holder: object
    if table == "tcp":
        holder = arm.tcp
    elif table == "certificate":
        holder = arm.certificate
    else:
        role = role_of(table, arm, workload)
        program = {"client": arm.client, "server": arm.server, "proxy": arm.proxy}.get(role or "")
        holder = program if key in PROGRAM_KEYS else program and program.knobs
    return as_value(getattr(holder, key, None))


def as_value(found: object) -> Value | None:
    """A value as a spec writes it: quantities as texts, which are exact."""
    if found is None or isinstance(found, str | int | float):
        return found
    return tuple(map(str, found)) if isinstance(found, tuple) else str(found)


KNOWN_TABLES: Mapping[str, Literal["arm", "path"]] = {
    **dict.fromkeys(("sender", "receiver", "client", "server", "proxy", "tcp", "certificate"), "arm"),
    "path": "path",
}
TCP_SETTINGS = frozenset(each.name for each in dataclasses.fields(Tcp))
CERTIFICATE_SETTINGS = frozenset(each.name for each in dataclasses.fields(Certificate))
