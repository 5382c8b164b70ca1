# SPDX-License-Identifier: Apache-2.0
"""A path that is in use, to which changes are added as a schedule would have had them."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from quiclab.model.errors import SpecError
from quiclab.model.study import Change, Direction, Path
from quiclab.model.units import Duration
from quiclab.spec.lines import KeyPath
from quiclab.spec.link import link_config
from quiclab.spec.nodes import Node, ReportedError, Source, WrongValueError, closest
from quiclab.spec.paths import read_path
from quiclab.spec.toml_text import Toml

_SIDES = ("up", "down")
_SCHEDULE = "schedule"


@dataclass(frozen=True)
class LivePath:
    """A path as it is written, with what was changed since."""

    table: Toml
    """Table of the path as in a spec."""
    folder: pathlib.Path
    """Folder that relative file names in it start from."""

    def read(self) -> Path:
        """The path. Raises SpecError with its problems, each named by the option of `quiclab link`."""
        source = _LiveSource(self.table, {}, self.folder)
        try:
            path = read_path(Node(self.table, (), source))
        except (ReportedError, WrongValueError):
            path = None
        if path is None or source.problems:
            hint = "quiclab link --help shows every option"
            raise SpecError("the link cannot change as asked; it goes on as it was", hint, source.problems)
        return path

    def changed(self, settings: Mapping[str, Toml], link: str | None, at: Duration) -> tuple[LivePath, Toml]:
        """The path with settings that change at `at` in the direction that is their key (empty: both), in the link of
        that name (None: the first), and the change as the link's process reads it. Raises SpecError."""
        number = self._number(link)
        whole = dict(self.table)
        if "link" in whole:
            whole["link"] = [dict(each) for each in whole["link"]]
        table = whole["link"][number] if "link" in whole else whole
        for side in _SIDES:
            if entry := {**settings.get("", {}), **settings.get(side, {})}:
                own = dict(table.get(side, {}))
                own[_SCHEDULE] = [*own.get(_SCHEDULE, table.get(_SCHEDULE, [])), {"at": f"{at.ns} ns", **entry}]
                table[side] = own
        live = replace(self, table=whole)
        path = live.read()
        config: Any = link_config(path, 0)
        of_link = config if number == 0 else config["more_links"][number - 1]
        told: Toml = {"link": path.links[number].name}
        for side in _SIDES:
            for change in of_link[side][_SCHEDULE]:
                if change["at_ns"] == at.ns:
                    told[side] = change["set"]
        return live, told

    def _number(self, link: str | None) -> int:
        """Number of a link by its name. Raises SpecError."""
        names = [each["name"] for each in self.table["link"]] if "link" in self.table else [Path.link_name]
        if link is None or link in names:
            return names.index(link) if link is not None else 0
        raise SpecError(f'this path has no link "{link}"', closest(link, names, "links"))


def settings_at(direction: Direction, at: Duration) -> Direction:
    """A direction with the settings that are in force at `at`; what its schedule has for later stays in it."""
    for change in direction.schedule:
        if change.at <= at:
            changed = {field.name: getattr(change, field.name) for field in fields(Change) if field.name != "at"}
            given: Any = {
                key: None if value == "none" else value for key, value in changed.items() if value is not None
            }
            direction = replace(direction, **given)
    return replace(direction, schedule=tuple(change for change in direction.schedule if change.at > at))


class _LiveSource(Source):
    """Reports problems by option instead of by line."""

    def report(self, path: KeyPath, text: str) -> None:
        parts = [str(part) for part in path]
        side = next((part for part in parts if part in _SIDES), "")
        place = parts.index(_SCHEDULE) + 2 if _SCHEDULE in parts else len(parts)
        key = parts[place] if place < len(parts) else ""
        option = "-".join(each for each in (side, key.replace("_", "-")) if each)
        self._note(0, f"--{option}: {text}" if key else f"{side}: {text}" if side else text)
