# SPDX-License-Identifier: Apache-2.0
"""Progress of a search, kept in its folder, so that one that was ended goes on where it was.

The stages of a search follow from each other by what each of them measured. One that goes on takes the same steps
again: a stage that is over is read, the one that was cut runs what it lacks, and time that was used up stays so. Specs
are made anew and never read from the folder, which may come from a stranger.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from quiclab.model.errors import DecodeError
from quiclab.model.link_account import Number
from quiclab.store.disk import read_object, write_atomically

_FILE = "progress.json"


class Heat(msgspec.Struct, frozen=True):
    """A heat of the race: the next settings of the plan that have not raced."""

    settings: int
    """Number of its settings."""
    ends: Number
    """Share of the minutes at which its rounds end."""


class SearchProgress(msgspec.Struct, frozen=True):
    """State of a search between its stages, or where it was ended."""

    asked: dict[str, str]
    """Everything by which a search is this one: name → value."""
    spent_s: Number
    """Time that was used up."""
    trial_s: Number
    """Time of a trial with everything around it, as the last whole stage took it."""
    blocks: dict[str, int]
    """Stage that has begun → blocks that were planned for it."""
    over: tuple[str, ...] = ()
    """Stages that are over, by the number of their blocks or by their time."""
    heats: tuple[Heat, ...] = ()
    """Heats that have begun: one that goes on has the same settings, however much time is left now."""
    ended: bool = False
    """True if the search came to its end: the next one is a new one."""

    def differs_in(self, asked: Mapping[str, str]) -> list[str]:
        """Names of what is asked otherwise now."""
        return [name for name in asked if self.asked.get(name) != asked[name]]


def keep_progress(directory: Path, progress: SearchProgress) -> None:
    """Write it into the folder of the search."""
    write_atomically(directory / _FILE, json.dumps(msgspec.to_builtins(progress), indent=1, ensure_ascii=False))


def read_progress(directory: Path) -> SearchProgress | None:
    """Progress of the search in a folder; None where there is none, or none that can be read: it does not go on."""
    from quiclab.store.record_form import as_record

    try:
        return as_record(read_object(directory / _FILE), SearchProgress)
    except DecodeError:
        return None
