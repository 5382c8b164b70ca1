# SPDX-License-Identifier: Apache-2.0
"""Differences between the set-ups of two studies: of specs, programs and machines, each by name."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from quiclab.compare.study import KINDS, Study, read_json
from quiclab.store.layout import BESIDE, MACHINE_CHECK

_FREE = {
    "name",
    "question",
    "seed",
    "blocks",
    "aa",
    "matters_pct",
    "metric",
    "baseline",
    "count_system_calls",
    "arms_summary",
}
"""Keys of a resolved spec that change no trial; seed and blocks decide what pairs up, and are told there."""
_BUILD = {"prefix", "version", "program"}
"""Keys of a role that say which build of its program runs."""
_ABSENT = "–"
_LONGEST = 80
"""Characters of a value that are shown."""


@dataclass(frozen=True)
class Difference:
    """One thing that is not the same in both studies."""

    key: str
    """Key that `--allow` takes: `kernel`, `programs.caddy`, `spec.paths.lossy.down.delay_ns`."""
    old: str
    new: str
    arms: tuple[str, ...] = ()
    """Arms that run it; empty where it concerns all."""
    program: str = ""
    """Name of the program whose build differs; empty where something else differs."""
    expected: bool = False
    """True if it is what was meant to change: the one program, or the build, of an arm under test."""

    def is_of(self, keys: Collection[str]) -> bool:
        """True if one of these keys names it, or a group that it is in."""
        return any(self.key == key or self.key.startswith(f"{key}.") for key in keys)

    def __str__(self) -> str:
        arms = f" (of {', '.join(self.arms)})" if self.arms else ""
        old, new = (text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…" for text in (self.old, self.new))
        return f"{self.key}: {old} in OLD, {new} in NEW{arms}"


def differences(
    old: Study, new: Study, under_test: AbstractSet[str], accepted: Collection[str] = ()
) -> tuple[Difference, ...]:
    """Return all differences, the machine's first. Workloads, paths and arms that only one study has are no difference.

    Expected is another build of one program of the arms under test; those that are accepted by key do not count as it.
    """
    hosts = tuple(read_json(study.directory / "host.json", []) for study in (old, new))
    machine = _differing("", *(dict(_machine(host)) for host in hosts))
    specs = _differing("spec.", *_common(dict(_spec(old)), dict(_spec(new)), old, new))
    found = (
        *(Difference(*each) for each in machine),
        *_programs(old, new, hosts),
        *(_spec_difference(each, new) for each in specs),
    )
    builds = {
        each: each.program
        for each in found
        if each.program and not under_test.isdisjoint(each.arms) and not each.is_of(accepted)
    }
    # One program may differ: of two changes at once nobody can tell which did it.
    meant = builds if len(set(builds.values())) == 1 else {}
    return tuple(replace(each, expected=each in meant) for each in found)


def groups(old: Study, new: Study) -> set[str]:
    """First words of all keys that may differ."""
    found = {key for study in (old, new) for key, _ in _machine(read_json(study.directory / "host.json", []))}
    return {"spec", "programs", "host", *(key.partition(".")[0] for key in found)}


def _machine(host: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    if not host:
        yield "host", "host.json is missing"
    for key, value in host.items():
        if key == "memory_bytes" and isinstance(value, int):
            yield "memory", f"{value / 2**30:.0f} GiB"  # what firmware takes of it changes from start to start
        elif key not in {"programs", MACHINE_CHECK, BESIDE}:
            yield from _leaves(key, value)


def _spec(study: Study) -> Iterator[tuple[str, str]]:
    """Every leaf of the resolved spec under its dotted name."""
    for key, value in study.resolved.items():
        if key in KINDS:
            for table in study.tables(key, compared=False):
                yield from _leaves(f"{key}.{table['name']}", {k: v for k, v in table.items() if k != "name"})
        elif key not in _FREE:
            yield from _leaves(key, value)


def _leaves(place: str, value: Any) -> Iterator[tuple[str, str]]:
    """Leaves of a spec. A value that is not set has none, so that a key may be new; a trace counts by its file's name,
    a program by itself."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "argv" and inner:
                yield f"{place}.program", str(inner[0])
                inner = inner[1:]
            if key in ("trace", "delay_trace") and isinstance(inner, str):
                inner = inner.rpartition("/")[2]
            if key != "title":
                yield from _leaves(f"{place}.{key}", inner)
    elif value not in (None, "", []):
        yield place, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _common(
    old: dict[str, str], new: dict[str, str], old_study: Study, new_study: Study
) -> tuple[dict[str, str], dict[str, str]]:
    """Leave out what belongs to workloads, paths and arms that only one study has; those are reported as missing."""
    names = [{f"{kind}.{name}." for kind in KINDS for name in study.names(kind)} for study in (old_study, new_study)]
    lone = tuple(names[0] ^ names[1])
    first, second = ({k: v for k, v in leaves.items() if not k.startswith(lone)} for leaves in (old, new))
    return first, second


def _differing(group: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for key in dict.fromkeys([*old, *new]):
        if old.get(key) != new.get(key):
            yield group + key, old.get(key, _ABSENT), new.get(key, _ABSENT)


def _spec_difference(found: tuple[str, str, str], study: Study) -> Difference:
    for arm in study.arms.values():
        place = f"spec.arms.{arm.name}."
        if found[0].startswith(place):
            role, _, key = found[0].removeprefix(place).partition(".")
            program = dict(arm.programs).get(role) if key in _BUILD else None
            return Difference(*found, arms=(arm.name,), program=str(program.name) if program else "")
    return Difference(*found)


def _programs(old: Study, new: Study, hosts: tuple[Mapping[str, object], ...]) -> tuple[Difference, ...]:
    """Versions that differ, a program at a time."""
    before, after = (_versions(study, host) for study, host in zip((old, new), hosts, strict=True))
    arms: dict[tuple[str, str, str], list[str]] = {}
    for (arm, role, program), version in before.items():
        other = after.get((arm, role, program))
        if other is not None and other != version:
            arms.setdefault((program, version, other), []).append(arm)
    return tuple(
        Difference(f"programs.{program}", one, two, tuple(dict.fromkeys(of)), program)
        for (program, one, two), of in arms.items()
    )


def _versions(study: Study, host: Mapping[str, object]) -> dict[tuple[str, str, str], str]:
    """(arm, role, program) → version, as the machine told it when the study was run."""
    told = host.get("programs")
    known = told if isinstance(told, dict) else {}
    found = {}
    for arm in study.arms.values():
        for role, program in arm.programs:
            below = f" of {program.prefix}" if program.prefix else ""
            label = f"{role} {program.name}{below}"
            found[arm.name, role, str(program.name)] = str(known.get(label, _ABSENT))
    return found
