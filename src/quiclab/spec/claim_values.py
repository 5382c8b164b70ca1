# SPDX-License-Identifier: Apache-2.0
"""Values that a paper gives in its claims: quantities, ranges of them, shares of cells, and what is counted there."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from quiclab.model.units import Bitrate, ByteCount, Duration
from quiclab.spec.nodes import WrongValueError, show

Direction = Literal["lower", "higher", "same", "not lower", "not higher"]
"""Direction of the second arm's metric relative to the first arm's, or one in which it is not said to be."""

TO = " to "
_ENDS = 2
PER_CENT = re.compile(r"([+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?) ?%")
_K_OF_N = re.compile(r"([0-9]{1,6}) of ([0-9]{1,6})")
_BOUND = re.compile(r"(below|above) (.+)")
_PLACES = ("lowest", "highest")
_WORDS = {"all": (1.0, 1.0), "none": (0.0, 0.0), "most": (0.5, 1.0)}
UNITS: Mapping[str, type[Duration] | type[Bitrate] | type[ByteCount]] = {
    "ms": Duration,
    "us": Duration,
    "bit/s": Bitrate,
    "bytes": ByteCount,
}
"""Type of an expected number, by the unit of its metric."""


@dataclass(frozen=True)
class PerCent:
    """A share or a difference in per cent; a difference may be below zero or above a hundred."""

    value: float


Quantity = Duration | Bitrate | ByteCount | PerCent


def plain(quantity: Quantity) -> tuple[float, str]:
    """A quantity as a number and its unit, which is one that metrics have."""
    match quantity:
        case Duration():
            return quantity.ms, "ms"
        case Bitrate():
            return float(quantity.bit_per_s), "bit/s"
        case ByteCount():
            return float(quantity.bytes), "bytes"
        case PerCent():
            return quantity.value, "%"


@dataclass(frozen=True)
class Range:
    """All quantities from one to another, which a paper gives in place of a number."""

    low: Quantity
    high: Quantity


@dataclass(frozen=True)
class CellShare:
    """A share of cells, or all shares from one to another."""

    low: float
    high: float
    cells: int = 0
    """Cells of the paper; 0 where it gives a share alone."""
    is_range: bool = False
    is_above: bool = False
    """True if the share is greater than `low`: most are more than half."""


@dataclass(frozen=True)
class Counted:
    """Condition of a cell that counts: how its last arm stands beside the others, or in which bounds one arm is."""

    text: str
    """The words of the file: `lower`, `lowest`, `above 3.4 s`."""
    direction: Direction | Literal["lowest", "highest"] | None = None
    low: Quantity | None = None
    high: Quantity | None = None


def read_quantity(text: str, unit: str | None) -> Quantity:
    """Read a quantity in this unit of a metric; of any type where the unit is not known. The name of its own unit says
    which. Raises ValueError."""
    match = PER_CENT.fullmatch(text)
    if match is not None and (unit is None or unit not in UNITS):
        return PerCent(float(match[1]))
    if unit is not None and unit in UNITS:
        return UNITS[unit].parse(text)
    if unit is None:
        for kind in dict.fromkeys(UNITS.values()):
            with contextlib.suppress(ValueError):
                return kind.parse(text)
    raise WrongValueError(f'{show(text)}; write a quantity with its unit, such as "15 s", "79 Mbit/s" or "0.05 %"')


def read_range(ends: list[Quantity], text: str, example: str = "0 s to 1 s") -> Range:
    """Make a range of its ends. Raises WrongValueError where they are not two, in order and of one unit."""
    numbers, units = zip(*map(plain, ends), strict=True)
    if len(ends) != _ENDS or len(set(units)) > 1 or not numbers[0] < numbers[1]:
        raise WrongValueError(f'{show(text)}; write a range from the least to the greatest, such as "{example}"')
    return Range(*ends)


def read_counted(text: str, sides: int, unit: str | None) -> Counted:
    """Read the condition of a cell that counts; `sides` is the number of the claim's sides, `unit` that of its metric,
    None where it is not known. Raises WrongValueError or ValueError."""
    if sides == 1:
        if match := _BOUND.fullmatch(text):
            bound = read_quantity(match[2], unit)
            return Counted(text, high=bound) if match[1] == "below" else Counted(text, low=bound)
        if TO in text:
            between = read_range([read_quantity(end, unit) for end in text.split(TO)], text, "3.4 s to 5.8 s")
            return Counted(text, low=between.low, high=between.high)
        raise WrongValueError(
            f'{show(text)}; of one arm write a bound, such as "below 3.4 s", "above 5.8 s" or "3.4 s to 5.8 s"'
        )
    words = get_args(Direction) if sides == _ENDS else _PLACES
    for word in words:
        if text == word:
            return Counted(text, word)
    which = "the second arm beside the first" if sides == _ENDS else "the last arm among all"
    raise WrongValueError(f"{show(text)}; write how {which} is: {', '.join(words)}")


def read_share(text: str) -> CellShare:
    """Read a share of cells: `22 of 30`, `60 %`, `most`, `all`, `none`, `at least 15 of 30`, `at most 5 of 30`, `10 of
    30 to 15 of 30`. Raises WrongValueError."""
    if text in _WORDS:
        return CellShare(*_WORDS[text], is_range=True, is_above=text == "most")
    for words in ("at least ", "at most "):
        if text.startswith(words):
            share, cells = _one_share(text.removeprefix(words), text)
            return CellShare(*((share, 1.0) if words == "at least " else (0.0, share)), cells, is_range=True)
    ends = [_one_share(end, text) for end in text.split(TO)]
    if len(ends) == 1:
        share, cells = ends[0]
        return CellShare(share, share, cells)
    if len(ends) != _ENDS or not ends[0][0] < ends[1][0]:
        raise WrongValueError(
            f'{show(text)}; write a range from the least to the greatest, such as "10 of 30 to 15 of 30"'
        )
    return CellShare(ends[0][0], ends[1][0], max(ends[0][1], ends[1][1]), is_range=True)


def share_margin(text: str) -> float:
    """Read how far from a share of cells is still the paper's: `4 of 30`, `10 %`. Raises WrongValueError."""
    share, _ = _one_share(text, text)
    if share <= 0:
        raise WrongValueError(f'{show(text)}; write a share above zero, such as "4 of 30" or "10 %"')
    return share


def _one_share(text: str, whole: str) -> tuple[float, int]:
    """A share, and the cells that it is of; 0 where that is not said."""
    if (match := _K_OF_N.fullmatch(text)) and int(match[2]) > 0 and int(match[1]) <= int(match[2]):
        return int(match[1]) / int(match[2]), int(match[2])
    if (match := PER_CENT.fullmatch(text)) and 0 <= float(match[1]) <= 100:
        return float(match[1]) / 100, 0
    raise WrongValueError(
        f'{show(whole)}; write a number of cells, such as "22 of 30", "60 %", "most", "all", "none", '
        '"at least 15 of 30" or "10 of 30 to 15 of 30"'
    )
