# SPDX-License-Identifier: Apache-2.0
"""Recordings of delay and loss: lines of text with an instant and a value, or with a packet's fate.

The link reads them by the same rules (crates/link-core/src/recorded.rs); what it would refuse is refused here, when the
spec is read.
"""

from __future__ import annotations

import functools
import itertools
import pathlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from quiclab.model.bounds import DAY, MINUTE
from quiclab.model.study import LossTrace
from quiclab.model.units import Duration
from quiclab.store.own_files import read_named

MOST_LINES = 1_000_000
MOST_BYTES = 64 << 20
_MS = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,6}))?")
_PERCENT = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?")
_BLANK = " \t\r\f"
_BLANKS = re.compile(f"[{_BLANK}]+")
_SHOWN = 40


@dataclass(frozen=True)
class Recording:
    """Summary of a recording: all that a plan needs of it."""

    least: float
    """Least of its values: nanoseconds of delay, or a share of packets."""
    mean: float
    """Mean over the time up to the last line, or over all packets."""
    last: Duration
    """Instant of the last line; 0 of one by packet."""


def delays(path: pathlib.Path) -> Recording:
    """Read a recording of one-way delays. Raises ValueError with the line that makes the file none."""
    return _timed(path, "delays", _delay_ns)


def losses(trace: LossTrace) -> Recording:
    """Read a recording of losses. Raises ValueError as `delays`."""
    path = pathlib.Path(trace.trace)
    if trace.by == "time":
        return _timed(path, "losses", _share)
    lost = 0
    count = 0
    for number, line in _lines(path, "losses"):
        if line not in ("0", "1"):
            raise ValueError(f'"{path}" is no recording of losses by packet: line {number} is neither 0 nor 1')
        lost, count = lost + (line == "1"), count + 1
    return Recording(0, lost / count, Duration(0))


def _timed(path: pathlib.Path, what: str, read: Callable[[str], float | None]) -> Recording:
    steps: list[tuple[int, float]] = []
    for number, line in _lines(path, what):
        fields = _BLANKS.split(line)
        at = _ns(fields[0])
        value = read(fields[1]) if len(fields) == 2 else None
        if at is None or at >= DAY.ns or value is None:
            raise ValueError(
                f'"{path}" is no recording of {what}: line {number}, "{_beginning(line)}", is not an instant in '
                f"milliseconds and {_WANTED[what]}"
            )
        if (at <= steps[-1][0]) if steps else at != 0:
            order = "is not after the one above" if steps else "is not 0"
            raise ValueError(f'"{path}" is no recording of {what}: the instant in line {number} {order}')
        steps.append((at, value))
    last = steps[-1][0]
    spans = [(after - at) * value for (at, value), (after, _) in itertools.pairwise(steps)]
    mean = sum(spans) / last if last else steps[0][1]
    return Recording(min(value for _, value in steps), mean, Duration(last))


_WANTED = {"delays": "a delay in milliseconds, from 0 to 60000", "losses": "a share in per cent, from 0 to 100"}


def _lines(path: pathlib.Path, what: str) -> Iterator[tuple[int, str]]:
    """Lines that say something, with their numbers from 1."""
    count = 0
    for number, line in enumerate(_text(path, what).split("\n"), start=1):
        told = line.strip(_BLANK)
        if not told or told.startswith("#"):
            continue
        count += 1
        if count > MOST_LINES:
            raise ValueError(f'"{path}" is no recording of {what}: it has more than {MOST_LINES} lines')
        yield number, told
    if not count:
        raise ValueError(f'"{path}" is no recording of {what}: it has no line')


def _text(path: pathlib.Path, what: str) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f'"{path}" is no recording of {what}: it is larger than 64 MiB')
        return read_named(path).decode("ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f'"{path}" cannot be read as a recording of {what}: {error}') from error


def _ns(text: str) -> int | None:
    match = _MS.fullmatch(text)
    return None if match is None else int(match[1]) * 10**6 + int((match[2] or "0").ljust(6, "0"))


def _delay_ns(text: str) -> float | None:
    found = _ns(text)
    return None if found is None or found > MINUTE.ns else found


def _share(text: str) -> float | None:
    found = float(text) / 100 if _PERCENT.fullmatch(text) else 2
    return found if found <= 1 else None


def _beginning(line: str) -> str:
    return line[:_SHOWN].encode("unicode_escape").decode("ascii")


@functools.lru_cache(maxsize=64)
def _mean_loss(trace: LossTrace, _changed_ns: int) -> float:
    return losses(trace).mean


def mean_recorded_loss(trace: LossTrace) -> float:
    """Mean share of packets that a recording loses, read once for each version of its file."""
    return _mean_loss(trace, pathlib.Path(trace.trace).stat().st_mtime_ns)
