# SPDX-License-Identifier: Apache-2.0
"""Check that the programs that arms ask for are on this machine, in the version that is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from quiclab.lab.endpoints._api import Available, BoundedRun, Endpoint, Role
from quiclab.lab.endpoints._registry import find
from quiclab.model.program import is_version
from quiclab.model.study import Arm, Program
from quiclab.project import INSTALL, MORE_PROGRAMS, release_name, releases_of, stacks_folder


@dataclass(frozen=True)
class Presence:
    """Result of looking for programs, once for each program."""

    versions: dict[str, str] = field(default_factory=dict)
    """Versions, by role, name and prefix of the program."""
    missing: tuple[str, ...] = ()
    """Programs that are missing, each with the arm that asks for it and what to do."""
    cannot_run: dict[str, str] = field(default_factory=dict)
    """Arms that cannot run, each with the first of its programs that is missing, and what to do."""


def look_for(arms: Iterable[Arm], run: BoundedRun) -> Presence:
    """Probe every program of these arms."""
    versions: dict[str, str] = {}
    missing: dict[str, None] = {}
    cannot_run: dict[str, str] = {}
    asked = [(arm, role, program) for arm in arms for role, program, _ in arm.programs()]
    probed = {(role, program.name, program.prefix): None for _, role, program in asked}
    results = {key: find(key[0], key[1]).probe(run, key[2]) for key in probed}
    for arm, role, program in asked:
        found, who = results[role, program.name, program.prefix], f"the {role} {program.name}"
        label = label_of(role, program)
        if isinstance(found, Available):
            versions[label] = found.version
            if program.version is None or is_version(found.version, program.version):
                continue
            place = f" ({found.path})" if found.path else ""
            told = f"{who} is {found.version}{place}, not {program.version}: {_where(role, program, run)}"
        elif (release := release_name(program.prefix)) is not None:
            told = f"{who} {program.version} is not here: {found.reason}; run: {INSTALL} {release}"
        elif program.prefix is not None:
            told = f"{who} is not below {program.prefix}: {found.reason}; name a folder that holds it, or no prefix"
        else:
            told = f"{who} is not here: {found.reason}; run: {found.install}"
        missing[f"arm {arm.name!r}: {told}"] = None
        cannot_run.setdefault(arm.name, told)
    return Presence(versions, tuple(missing), cannot_run)


def label_of(role: Role, program: Program) -> str:
    """Name under which the version of a program is kept."""
    return f"{role} {program.name}" + (f" of {program.prefix}" if program.prefix else "")


def installed_releases() -> list[Path]:
    """Return the folders of Debian releases that `quiclab doctor --install` has unpacked."""
    return sorted(folder for folder in stacks_folder().glob("*") if (folder / "usr").is_dir())


def _where(role: Role, program: Program, run: BoundedRun) -> str:
    """Advice to get another version: names the installed release that has it, if there is one, or else one that can be
    installed."""
    endpoint: Endpoint = find(role, program.name)
    if (release := release_name(program.prefix)) is not None:
        return f"it was not built from its lock; run: {INSTALL} {release}"
    for folder in installed_releases():
        other = endpoint.probe(run, str(folder))
        if isinstance(other, Available) and is_version(other.version, program.version or ""):
            return f'{other.version} is installed; write prefix = "{folder}"'
    if fitting := [each for each in releases_of(program.name) if is_version(each, program.version or "")]:
        return f'write version = "{fitting[-1]}" and run: {INSTALL} {program.name}@{fitting[-1]}'
    releases = f", and {', '.join(known)} can be had by version" if (known := releases_of(program.name)) else ""
    elsewhere = f"for another build write prefix = the folder that holds {program.name}"
    return f"{MORE_PROGRAMS} installs a current one{releases}; {elsewhere}"
