# SPDX-License-Identifier: Apache-2.0
"""Baselines of arms: the one of the study, or, where that arm has lists, its variant with the same programs.

An arm with lists stands for several, its variants. Where the baseline has lists too, each arm is compared with the
variant of it that has the same value of every key that the baseline varies: the same table, or the only one of a
program of that name, since the settings of a program differ between protocols. Where all arms come from one table, the
first variant is the baseline.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quiclab.model.study import Arm
from quiclab.spec import grid
from quiclab.spec.lines import KeyPath
from quiclab.spec.nodes import Node, closest


@dataclass(frozen=True)
class _Written:
    """An `[[arm]]` as it stands in the file."""

    name: str | None
    """Name of the table; None where each variant has a name of its own."""
    variants: tuple[Node, ...]
    varied: tuple[KeyPath, ...]
    """Keys that have a list."""


@dataclass(frozen=True)
class Choice:
    """The baseline of every arm that is compared."""

    first: str
    """The study's baseline: the first of several."""
    by_arm: Mapping[str, str]
    """Arm → its baseline, itself of a baseline."""

    def resolved(self, arms: Sequence[Arm], nodes: Sequence[Node]) -> tuple[Arm, ...]:
        """The arms with their baselines, where these are several; each then has the TCP settings of its baseline unless
        it has its own."""
        if set(self.by_arm.values()) <= {self.first}:
            return tuple(dataclasses.replace(arm, baseline=None) for arm in arms)
        by_name = {arm.name: arm for arm in arms}
        own = {node.value["name"] for node in nodes if "tcp" in node.value}
        found = []
        for arm in arms:
            baseline = self.by_arm.get(arm.name)
            tcp = arm.tcp if baseline is None or arm.name in own else by_name[baseline].tcp
            found.append(dataclasses.replace(arm, baseline=baseline, tcp=tcp))
        return tuple(found)


def table_names(nodes: Sequence[Node]) -> list[str]:
    """Names of the tables of arms that have lists, which stand for all of their variants."""
    return [each.name for each in _tables(nodes) if each.name is not None and each.varied]


def chosen(nodes: Sequence[Node], baseline: Node | None, usual: str) -> Choice | None:
    """The baseline of every arm among the `nodes` of those that are compared, whose tables are right by themselves.

    `baseline` is the one that the study names, of a variant or of a table with lists; `usual` the arm that is one where
    it names none. None where a problem was reported.
    """
    tables = _tables(nodes)
    own = next(iter(nodes)).source
    before = own.reports
    name = usual if baseline is None else str(baseline.value)
    default = _meant(tables, name, widen=baseline is None)
    named = {node.value["name"]: _meant(tables, node.value["baseline"]) for node in nodes if "baseline" in node.value}
    for node in nodes:
        if node.value["name"] in named and not named[node.value["name"]]:
            valid = [*(each.value["name"] for each in nodes), *table_names(nodes)]
            node.child("baseline").report(f"no arm is called so; {closest(node.value['baseline'], valid, 'arms')}")
    if own.reports > before:
        return None
    if baseline is None and len(tables) == 1 and not named:
        default = default[:1]
    found: dict[str, str] = {}
    for node in nodes:
        candidates = named.get(node.value["name"], default)
        match = _match(node, candidates, tables)
        if match is None:
            _report(node, candidates, tables)
        else:
            found[node.value["name"]] = match
    if own.reports > before:
        return None
    return _checked(nodes, found, default[0].value["name"], set(named))


def _checked(nodes: Sequence[Node], found: dict[str, str], first: str, named: set[str]) -> Choice | None:
    """The choice, in which an arm that others name is a baseline, and every baseline has an arm."""
    named_by = {baseline: arm for arm, baseline in found.items() if arm != baseline and arm in named}
    by_arm = {arm: arm if arm in named_by and arm not in named else baseline for arm, baseline in found.items()}
    several = len(set(by_arm.values())) > 1
    ok = True
    for node in nodes:
        name = node.value["name"]
        if by_arm[by_arm[name]] != by_arm[name]:
            told = f'"{by_arm[name]}" is itself compared with "{by_arm[by_arm[name]]}"'
            node.child("baseline").report(f"{told}; a baseline is compared with nothing")
            ok = False
        elif several and by_arm[name] == name and not any(b == name for arm, b in by_arm.items() if arm != name):
            node.report(
                f'nothing is compared with "{name}", one of several baselines: give another arm the same programs or '
                f'baseline = "{name}", or take it out'
            )
            ok = False
    return Choice(first if first in by_arm.values() else next(iter(by_arm.values())), by_arm) if ok else None


def _tables(nodes: Sequence[Node]) -> list[_Written]:
    """The tables of the file in their order, each with its variants."""
    found: dict[KeyPath, list[Node]] = {}
    for node in nodes:
        found.setdefault(node.source.places.get(node.path, node.path), []).append(node)
    return [
        _Written(_written_name(place, of), tuple(of), tuple(grid.varied(of[0].source, of[0].path)))
        for place, of in found.items()
    ]


def _written_name(place: KeyPath, variants: Sequence[Node]) -> str | None:
    document = variants[0].source.written or variants[0].source.document
    name = document[str(place[0])][place[1]].get("name")
    return name if isinstance(name, str) else None


def _meant(tables: Sequence[_Written], name: str, *, widen: bool = False) -> tuple[Node, ...]:
    """The arms that a name means: one of that name, else all variants of a table; of a variant all with `widen`."""
    for table in tables:
        for node in table.variants:
            if node.value["name"] == name:
                return table.variants if widen else (node,)
    return next((table.variants for table in tables if table.name == name), ())


def _match(node: Node, candidates: Sequence[Node], tables: Sequence[_Written]) -> str | None:
    """The candidate that an arm is compared with: itself, the only one, or that of the same programs; None of none."""
    names = [each.value["name"] for each in candidates]
    if node.value["name"] in names:
        return str(node.value["name"])
    same = list(candidates)
    for key in _keys(candidates, tables) if len(same) > 1 else ():
        asked = _value(node.value, key)
        exact = [each for each in same if _value(each.value, key) == asked]
        alike = [each for each in same if _program(_value(each.value, key)) == _program(asked) is not None]
        same = exact or alike
    return str(same[0].value["name"]) if len(same) == 1 else None


def _report(node: Node, candidates: Sequence[Node], tables: Sequence[_Written]) -> None:
    """Report an arm whose baseline is not clear, with what to write."""
    names = [each.value["name"] for each in candidates]
    keys = " and ".join(".".join(map(str, key)) for key in _keys(candidates, tables))
    node.report(
        f'no baseline, or more than one, has the {keys} of "{node.value["name"]}": there are {", ".join(names)}; '
        f'give it the same {keys}, or write baseline = "{names[0]}" or another'
    )


def _keys(candidates: Sequence[Node], tables: Sequence[_Written]) -> Sequence[KeyPath]:
    """Keys that the table of several candidates varies."""
    return next(table.varied for table in tables if candidates[0] in table.variants)


def _value(table: Any, key: KeyPath) -> Any:
    """The value at a place in a table, a program by its name as a table; None where there is none."""
    for part in key:
        table = {"name": table} if isinstance(table, str) else table
        table = table.get(part) if isinstance(table, dict) else None
    return {"name": table} if isinstance(table, str) and len(key) == 1 else table


def _program(value: Any) -> str | None:
    """Name of a program; None of one that has none, and of what is no program."""
    return value.get("name") if isinstance(value, dict) else None
