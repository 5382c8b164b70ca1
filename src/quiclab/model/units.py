# SPDX-License-Identifier: Apache-2.0
"""Typed units: a duration is never a rate, and bits are never bytes.

Each type wraps one integer (or a share), parses what people write, and prints it the same way:

>>> Duration.parse("20 ms").ns
20000000
>>> str(Bitrate.parse("10 Mbit/s"))
'10 Mbit/s'
>>> ByteCount.parse("1 MB").bytes, ByteCount.parse("1 MiB").bytes
(1000000, 1048576)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Self

_QUANTITY = re.compile(r"\s*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*([A-Za-zµ%/]*)\s*")

_LONGEST = 60
"""Most characters of a refused text that its refusal shows."""


def _split(text: str, units: dict[str, int], kind: str) -> tuple[Decimal, str]:
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2] not in units:
        named = [unit for unit in units if unit]
        wanted = f"one of {', '.join(named)}" if len(named) > 1 else "".join(named)
        raise ValueError(f"{_shortened(text)!r} is not a {kind}: write a number and {wanted}")
    try:
        number = Decimal(match[1])
    except ArithmeticError:  # its exponent is beyond those of Decimal
        number = None
    if number is None or abs(number.adjusted()) > 30:
        raise ValueError(f"{_shortened(text)!r} is out of range for a {kind}")
    return number, match[2]


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _whole(number: Decimal, factor: int, text: str) -> int:
    value = number * factor
    if value != value.to_integral_value():
        raise ValueError(f"{_shortened(text)!r} is finer than the smallest unit")
    return int(value)


def _render(value: int, units: dict[str, int]) -> str:
    """Print with the largest unit that leaves at most three decimals."""
    for unit, factor in sorted(units.items(), key=lambda item: -item[1]):
        if value and abs(value) >= factor and value * 1000 % factor == 0:
            return f"{(Decimal(value) / factor).normalize():f} {unit}"
    smallest = min(units, key=lambda unit: units[unit])
    return f"{value} {smallest}"


@dataclass(frozen=True, order=True)
class Duration:
    """A length of time in whole nanoseconds."""

    ns: int
    UNITS: ClassVar[dict[str, int]] = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9}
    _ALIASES: ClassVar[dict[str, int]] = {**UNITS, "µs": 10**3}

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a text such as `"20 ms"`, `"1.5s"` or `"250 us"`. Raises ValueError with the units that exist."""
        number, unit = _split(text, cls._ALIASES, "duration")
        return cls(_whole(number, cls._ALIASES[unit], text))

    @classmethod
    def units(cls) -> tuple[str, ...]:
        """Units that a text may have."""
        return tuple(cls._ALIASES)

    @classmethod
    def from_s(cls, seconds: float) -> Self:
        """Round a float of seconds to nanoseconds."""
        return cls(round(seconds * 1e9))

    @property
    def s(self) -> float:
        """Length in seconds."""
        return self.ns / 1e9

    @property
    def ms(self) -> float:
        """Length in milliseconds."""
        return self.ns / 1e6

    def __add__(self, other: Duration) -> Duration:
        return Duration(self.ns + other.ns)

    def __str__(self) -> str:
        return _render(self.ns, {unit: n for unit, n in self.UNITS.items() if unit != "min"})


@dataclass(frozen=True, order=True)
class Length:
    """A length on paper in whole EMU (English Metric Units), in which inches, millimetres and points are all whole."""

    emu: int
    UNITS: ClassVar[dict[str, int]] = {"pt": 12_700, "mm": 36_000, "cm": 360_000, "in": 914_400}

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a text such as `"8.4cm"` or `"8 pt"`. Raises ValueError with the units that exist."""
        number, unit = _split(text, cls.UNITS, "length")
        return cls(round(number * cls.UNITS[unit]))

    @property
    def pt(self) -> float:
        """Length in points."""
        return self.emu / self.UNITS["pt"]

    def __str__(self) -> str:
        name = next((unit for unit in ("cm", "mm", "in", "pt") if self.emu * 1000 % self.UNITS[unit] == 0), "pt")
        return f"{self.emu / self.UNITS[name]:g} {name}"


@dataclass(frozen=True, order=True)
class Bitrate:
    """A rate in bits per second, counted over IP packet bytes."""

    bit_per_s: int
    UNITS: ClassVar[dict[str, int]] = {"bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9}
    _ALIASES: ClassVar[dict[str, int]] = {
        **UNITS,
        "bit": 1,
        "kbit": 10**3,
        "mbit": 10**6,
        "Mbit": 10**6,
        "gbit": 10**9,
        "Gbit": 10**9,
        "bps": 1,
        "kbps": 10**3,
        "Mbps": 10**6,
        "Gbps": 10**9,
    }

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a text such as `"10 Mbit/s"` or `"10mbit"`. Raises ValueError with the units that exist."""
        number, unit = _split(text, cls._ALIASES, "rate")
        return cls(_whole(number, cls._ALIASES[unit], text))

    @classmethod
    def units(cls) -> tuple[str, ...]:
        """Units that a text may have."""
        return tuple(cls._ALIASES)

    def bytes_in(self, duration: Duration) -> ByteCount:
        """Bytes that this rate carries in that time, rounded down."""
        return ByteCount(self.bit_per_s * duration.ns // (8 * 10**9))

    def time_for(self, size: ByteCount) -> Duration:
        """Time that this rate needs for that many bytes, rounded up to a nanosecond."""
        return Duration(-(-size.bytes * 8 * 10**9 // self.bit_per_s))

    def __str__(self) -> str:
        return _render(self.bit_per_s, self.UNITS)


@dataclass(frozen=True, order=True)
class ByteCount:
    """A size in bytes. kB, KB, MB and GB are powers of 1000 (as in the papers); KiB, MiB, GiB of 1024."""

    bytes: int
    UNITS: ClassVar[dict[str, int]] = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
    _BINARY: ClassVar[dict[str, int]] = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
    _ALIASES: ClassVar[dict[str, int]] = {**UNITS, **_BINARY, "kB": 10**3}

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a text such as `"100 KB"` or `"1 MiB"`. Raises ValueError with the units that exist."""
        number, unit = _split(text, cls._ALIASES, "size")
        return cls(_whole(number, cls._ALIASES[unit], text))

    @classmethod
    def units(cls) -> tuple[str, ...]:
        """Units that a text may have."""
        return tuple(cls._ALIASES)

    def __str__(self) -> str:
        if self.bytes % 1024 == 0 and self.bytes % 1000 != 0:
            return _render(self.bytes, self._BINARY)
        return _render(self.bytes, self.UNITS)


@dataclass(frozen=True, order=True)
class Share:
    """A probability or proportion from 0 to 1, written in per cent."""

    value: float

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a text such as `"1 %"` or `"0.1%"`. Raises ValueError outside 0 to 100 %."""
        number, _ = _split(text, {"%": 1}, "share")
        if not 0 <= number <= 100:
            raise ValueError(f"{text!r} is not between 0 % and 100 %")
        return cls(float(number / 100))

    @property
    def pct(self) -> float:
        """The share in per cent."""
        return self.value * 100

    def __str__(self) -> str:
        return f"{self.pct:.6g} %"
