# SPDX-License-Identifier: Apache-2.0
"""Numbers, intervals and lists as text, the same in the terminal, on the page and in figures."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quiclab.model.interval import Interval


def number(value: float) -> str:
    """Three significant digits, never in exponent form below a million: 0.0841, 12.3, 4310."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    value = float(f"{value:.3g}") + 0.0 if abs(value) < 1000 else value  # no minus before zero
    digits = 0 if value == 0 else max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(digits, 6)}f}".replace("-", "−").replace(",", "\u2009")


def count(value: float) -> str:
    """A number of things, whole where it is: 7, 7.5, 12 345."""
    return f"{value:,.{0 if value == int(value) else 1}f}".replace(",", "\u2009")


def quantity(value: float | None, unit: str) -> str:
    """A value with a unit that suits its size; "–" where it is unknown, "failed" where failures made it infinite."""
    if value is None:
        return "–"
    if math.isinf(value):
        return "failed"
    if unit == "ms" and abs(value) >= 1000:
        return f"{value / 1000:.2f} s".replace("-", "−")
    if unit == "bit/s" and abs(value) >= 1e6:
        return f"{number(value / 1e6)} Mbit/s"
    return f"{number(value)} {unit}".rstrip()


def measured(value: float, ends: tuple[float, float], unit: str) -> str:
    """Return `9.17 Mbit/s (5.84 … 14.9 Mbit/s)`; without the ends where they have the same digits."""
    told, low, high = (quantity(each, unit) for each in (value, *ends))
    if low == told == high:
        return told
    of_high = high.rpartition(" ")[2]
    return f"{told} ({low.removesuffix(f' {of_high}')} … {high})"


def size(size_bytes: int) -> str:
    """Return the size of a file: `812 B`, `3.1 kB`, `42 MB`."""
    for factor, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.3g} {unit}"
    return f"{size_bytes} B"


def percent(value: float | None, signed: bool = True) -> str:
    """Return `+12.3 %`, with a true minus sign; "" where there is no value.

    What would be 0.0 has two decimals where they show that it is not."""
    if value is None:
        return ""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    digits = 1 if abs(value) >= 0.05 or abs(value) < 0.005 else 2
    plain = round(value, digits) + 0.0  # no minus before zero
    return f"{plain:+.{digits}f} %".replace("-", "−") if signed and plain else f"{plain:.{digits}f} %"


def interval_text(interval: Interval | None, nominal: float | None = None, unit: str = "") -> str:
    """Return `−2.1 … +3.4`, without a `unit` in that of the number beside it; of an interval that is open on one side
    the bound that is known. With its level where that is not the `nominal` one."""
    if interval is None:
        return ""
    told = "" if nominal is None else level_text(interval, nominal)
    return f"{ends_text(interval.low, interval.high, _bound, unit)}{told}"


def level_text(interval: Interval, nominal: float) -> str:
    """Return ` (at 75 %)` where the interval's error rate is off by more than a tenth from the one that was asked for:
    with few values only few levels can be attained."""
    missed, asked = 1 - interval.confidence, 1 - nominal
    unbounded = math.isinf(interval.low) and math.isinf(interval.high)
    return "" if unbounded or abs(missed - asked) <= asked / 10 else f" (at {level(interval.confidence)})"


def ends_text(low: float, high: float, text: Callable[[float], str], unit: str = "") -> str:
    """Return `−2.1 … +3.4 ms`; of an interval that is open on one side the bound that is known."""
    if math.isinf(low) and math.isinf(high):
        return "no bound"
    if math.isinf(low):
        return f"at most {text(high)}{unit}"
    return f"at least {text(low)}{unit}" if math.isinf(high) else f"{text(low)} … {text(high)}{unit}"


def level(confidence: float) -> str:
    """Return `95 %`, `96.1 %`; never `100 %` for less than that."""
    rounded = round(100 * confidence, 1)
    return ">99.9 %" if rounded == 100 and confidence < 1 else f"{rounded:g} %"


def _bound(value: float) -> str:
    return percent(value).removesuffix(" %")


def p_text(p: float | None) -> str:
    """Return a p-value with two significant digits; "" where there is none."""
    if p is None:
        return ""
    if p < 0.0001:
        return "<.0001"
    return f"{p:.4f}".lstrip("0") if p < 0.01 else (f"{p:.3f}".lstrip("0") if p < 0.9995 else "1")


def p_sign(p: float) -> str:
    """Return a p-value as a sentence has it: `= .031`, `< .0001`."""
    told = p_text(p)
    return f"< {told[1:]}" if told.startswith("<") else f"= {told}"


def from_here(path: Path) -> str:
    """Return a path as a command that is typed here can have it: relative where it lies below the current folder."""
    here, whole = Path.cwd(), path.absolute()
    return shlex.quote(str(whole.relative_to(here) if whole.is_relative_to(here) and whole != here else whole))


def counted(number: int, thing: str) -> str:
    """Return a number and its noun: `1 pair`, `2 pairs`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def span(seconds: float) -> str:
    """Return a span of time for readers: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def listed(items: Sequence[str]) -> str:
    """Join the items as in a sentence: `a, b and c`."""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1] if items else ""
