# SPDX-License-Identifier: Apache-2.0
"""A path with one of its quantities halved, doubled or taken away: a neighbouring network of the same kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from quiclab.model.errors import SpecError
from quiclab.model.units import Bitrate, Duration, Share
from quiclab.spec.directions import DIRECTION_KEYS
from quiclab.spec.profiles import with_profile
from quiclab.spec.toml_text import Toml

Quantity = Literal["rtt", "rate", "loss"]
TITLES: Mapping[str, str] = {"rtt": "RTT", "rate": "rate", "loss": "loss"}
_WORDS = {0.0: "no", 0.5: "half the", 2.0: "twice the"}
_KEYS: Mapping[str, frozenset[str]] = {
    "rtt": frozenset({"rtt", "delay"}),
    "rate": frozenset({"rate", "edge"}),
    "loss": frozenset({"loss"}),
}
"""Keys of a path, of a direction and of a scheduled change that a quantity stands in."""
_SIDES = ("up", "down")


@dataclass(frozen=True)
class Scaling:
    """One quantity of a path, multiplied."""

    quantity: Quantity
    factor: float
    """Number by which it is multiplied; 0 takes a loss away."""

    def __str__(self) -> str:
        return f"{_WORDS.get(self.factor, f'{self.factor:g} times the')} {TITLES[self.quantity]}"


def scaled_path(path: Toml, scaling: Scaling) -> Toml:
    """Return the table of a [[path]] with the quantity multiplied on all its links, in both directions and for all
    time.

    What is no plain number there (a trace, a model of bursts) cannot be multiplied, but a loss of any model can be
    taken away. Raises SpecError where the path has nothing of it, or what cannot be multiplied.
    """
    found: list[str] = []
    links = [_scaled(link, scaling, found) for link in path.get("link", ())]
    changed = {**path, "link": links} if links else _scaled(path, scaling, found)
    if not found:
        raise SpecError(f"the path {path['name']} has no {TITLES[scaling.quantity]} that could be changed")
    return changed


def _scaled(link: Toml, scaling: Scaling, found: list[str]) -> Toml:
    """A link, or a path of a single one, whose profile is written out."""
    table = dict(link)
    if "profile" in table:
        table = with_profile(table, DIRECTION_KEYS)
        del table["profile"]
    if scaling.quantity == "rate" and any("trace" in each for each in (table, *_sides(table))):
        raise SpecError("the rate is that of a trace, which is not multiplied")
    table = _in_direction(table, scaling, found)
    return {**table, **{side: _in_direction(table[side], scaling, found) for side in _SIDES if side in table}}


def _sides(table: Toml) -> list[Toml]:
    return [table[side] for side in _SIDES if side in table]


def _in_direction(table: Toml, scaling: Scaling, found: list[str]) -> Toml:
    changed: Toml = {}
    for key, value in table.items():
        if key == "schedule" and isinstance(value, list):
            changed[key] = [_in_direction(each, scaling, found) for each in value]
        elif key not in _KEYS[scaling.quantity] or value == "none":
            changed[key] = value
        elif scaling.quantity == "loss" and not scaling.factor:
            found.append(key)
            changed |= {"loss": "0 %"} if "at" in table else {}
        else:
            changed[key] = _multiplied(value, scaling)
            found += [key] * (changed[key] != value)
    return changed


def _multiplied(value: Any, scaling: Scaling) -> Any:
    """A value of a spec, multiplied; of a rate that is drawn, both ends of its range."""
    if scaling.quantity == "rate" and isinstance(value, dict):
        return {key: _multiplied(each, scaling) if key in ("least", "most") else each for key, each in value.items()}
    if not isinstance(value, str):
        raise SpecError(f"the {TITLES[scaling.quantity]} is no plain number, so that it is not multiplied")
    return _BY_QUANTITY[scaling.quantity](value, scaling.factor)


def _duration(text: str, factor: float) -> str:
    found = Duration.parse(text)
    # A round trip is two ways, so it must be an even number of nanoseconds.
    return str(Duration(2 * round(found.ns * factor / 2))) if found.ns else text


def _rate(text: str, factor: float) -> str:
    return str(Bitrate(round(Bitrate.parse(text).bit_per_s * factor)))


def _share(text: str, factor: float) -> str:
    share = Share.parse(text).value * factor
    if share >= 1:
        raise SpecError("a loss of 50 % or more is not doubled")
    return f"{100 * share:.10g} %" if share else text


_BY_QUANTITY: Mapping[str, Callable[[str, float], str]] = {"rtt": _duration, "rate": _rate, "loss": _share}
