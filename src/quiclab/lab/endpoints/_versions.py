# SPDX-License-Identifier: Apache-2.0
"""Facts of a program as they are in the version that is really here: what decides a program's speed changes from one
release to the next."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from quiclab.lab.endpoints._api import OwnValues
from quiclab.model.study import Program

Fact = TypeVar("Fact")
ByVersion = Mapping[str, str]
"""First version that has a fact → the fact as it is from then on, in the order of the versions."""


@dataclass(frozen=True)
class Known:
    """Versions of a program whose facts are known: by its source, its manual, or what it was seen to do."""

    program: str
    """Name of what has the version."""
    first: str
    last: str
    """Newest known version; a later patch of the same release counts as known: 1.30.6 is of 1.30."""

    def traits(self, program: Program, facts: Mapping[str, str | ByVersion]) -> dict[str, str]:
        """Facts of the program in the version that `program` has.

        One that differs between versions is given as it is in each of them; where the version is not known, all are
        told. Facts of a version that nobody has looked at are those of the nearest known one, and say so.
        """
        version = numbers(program.version)
        told = {point: fact if isinstance(fact, str) else _fact_text(fact, version) for point, fact in facts.items()}
        bound = self._nearest(version)
        return told if bound is None else {point: f"{fact} (as of {bound})" for point, fact in told.items()}

    def fact(self, program: Program, fact: Mapping[str, Fact]) -> Fact:
        """One fact, by version, in the version that `program` has; in the newest where that is not known."""
        return _fact_in(fact, numbers(program.version) or numbers(self.last))

    def lacking(self, program: Program, since: Mapping[str, str], named: str | None = None) -> str | None:
        """Reason why an older release cannot have a knob that is set; `since` has the first version of each, and
        `named` what it is called instead."""
        version = numbers(program.version)
        for knob, first in since.items():
            if getattr(program.knobs, knob) is not None and version and version < numbers(first)[: len(version)]:
                return (
                    f"{self.program} {program.version} has no {named or knob} here, only from {first} on: leave it out"
                )
        return None

    def own_values(self, program: Program, values: OwnValues) -> OwnValues:
        """Values that the program has by itself; none of a version that nobody has looked at."""
        return values if self._nearest(numbers(program.version)) is None else {}

    def _nearest(self, version: tuple[int, ...]) -> str | None:
        """The nearest known version, where this one is not known."""
        first, last = numbers(self.first), numbers(self.last)
        if not version or (first[: len(version)] <= version[: len(first)] and version[: len(last)] <= last):
            return None
        return f"{self.program} {self.last if version > last else self.first}"


def numbers(version: str | None) -> tuple[int, ...]:
    """Leading numbers of a version: (1, 30, 6) of 1.30.6-2; empty where it has none."""
    found = re.match(r"\d+(?:\.\d+)*", version or "")
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def _fact_in(fact: Mapping[str, Fact], version: tuple[int, ...]) -> Fact:
    """The fact in this version; before all of them the earliest."""
    holding = [each for since, each in fact.items() if numbers(since)[: len(version)] <= version]
    return holding[-1] if holding else next(iter(fact.values()))


def _fact_text(fact: ByVersion, version: tuple[int, ...]) -> str:
    """The fact in this version; in all versions where that is not known, or is the beginning of several."""
    if version and not any(version == numbers(since)[: len(version)] != numbers(since) for since in fact):
        return _fact_in(fact, version)
    earliest, *later = fact.items()
    return "; ".join([earliest[1], *(f"from {since} on {each}" for since, each in later)])
