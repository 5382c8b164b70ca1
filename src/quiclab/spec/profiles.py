# SPDX-License-Identifier: Apache-2.0
"""Paths by name: `profile = "lte"` in a [[path]] begins with the keys of profiles.toml, and every own key overrides."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.resources import files

from quiclab.spec.toml_text import Toml

_INSTEAD = {"rate": "trace", "trace": "rate", "delay": "delay_trace", "delay_trace": "delay"}
"""Keys that exclude each other in a direction."""


@dataclass(frozen=True)
class Profile:
    """A path that somebody has described, with the source of its numbers."""

    title: str
    """Title of the path in tables and figures."""
    kind: str
    """Sort of source: presets are made up by those who publish them, measurements are not."""
    source: str
    """Source of the numbers, and which of its numbers these are."""
    url: str
    """Address of the source."""
    chosen: str
    """Decisions that were made here because the source is silent."""
    path: Mapping[str, object]
    """Keys of [[path]]."""


@functools.cache
def profiles() -> Mapping[str, Profile]:
    """All profiles, by name."""
    text = (files("quiclab.spec") / "profiles.toml").read_text(encoding="utf-8")
    return {name: Profile(**table) for name, table in tomllib.loads(text).items()}


def with_profile(own: Toml, direction_keys: Collection[str]) -> Toml:
    """The table of a [[path]] over the one of its profile.

    What the table says for both directions also overrides what the profile says for one of them.
    """
    profile = profiles()[own["profile"]]
    merged: Toml = {"title": profile.title, **profile.path}
    for key in own:
        if key in direction_keys:
            for side in ("up", "down"):
                merged[side] = _without(merged.get(side, {}), key)
            merged = _without(merged, key)
    for side in ("up", "down"):
        table = own.get(side)
        if isinstance(table, dict):
            for key in table:
                merged[side] = _without(merged.get(side, {}), key)
            table = {**merged.get(side, {}), **table}
        if table is not None:
            merged[side] = table
    return {**merged, **{key: value for key, value in own.items() if key not in ("up", "down")}}


def _without(table: Mapping[str, object], key: str) -> dict[str, object]:
    """A table without a key, and without the key that can replace it."""
    return {known: value for known, value in table.items() if known not in (key, _INSTEAD.get(key))}
