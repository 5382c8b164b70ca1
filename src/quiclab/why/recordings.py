# SPDX-License-Identifier: Apache-2.0
"""Two recordings from elsewhere against each other: where the time of each went, by what both can tell.

One transfer each tests nothing: the differences are between these two, with what each recording leaves unsure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from quiclab.model.errors import SpecError
from quiclab.why.account.chosen_request import path_of
from quiclab.why.account.levels import BEFORE_ANSWER, Part, shared
from quiclab.why.account.one_end import OneEnd, Span
from quiclab.why.account.recorded import Tables, is_cut_short

_BODY_SHARE = 0.01
_BYTES_SHARE, _BYTES = 0.15, 3_000
"""Most by which the bytes of two answers may differ where no contents show: headers of packets and of records differ,
and two packets of tickets or settings may come with either."""


@dataclass(frozen=True, eq=False)
class Recording:
    """One transfer that somebody recorded."""

    name: str
    """Short name in tables and figures: `h2`, `h3`, or what tells two of one protocol apart."""
    file: str
    tables: Tables
    account: OneEnd

    @property
    def is_cut_short(self) -> bool:
        """True if its file lacks its end."""
        return is_cut_short(self.tables)

    @property
    def unended(self) -> int:
        """Number of further requests whose answers it has not to their ends."""
        return self.account.seen.request.unended if self.account.seen.request else 0


@dataclass(frozen=True)
class RecordedStep:
    """One part of the time in both recordings, in ms; the ends of a span say what the recording leaves unsure."""

    part: Part | None
    """Part of the time; None where the step is the whole."""
    first: Span
    second: Span

    @property
    def difference(self) -> Span:
        """Time of the second less that of the first."""
        a, b = self.first, self.second
        return Span(b.ms - a.ms, b.low_ms - a.high_ms, b.high_ms - a.low_ms)

    @property
    def has_clear_sign(self) -> bool:
        """True if the recordings are exact enough to tell the sign of the difference."""
        return not self.difference.low_ms <= 0 <= self.difference.high_ms


@dataclass(frozen=True)
class Recordings:
    """The explanation of two recorded transfers: the way from the time of the first to that of the second, part by
    part."""

    names: tuple[str, str]
    """Names of both, such as `h2` and `h3`."""
    first: OneEnd
    second: OneEnd
    total: RecordedStep
    steps: tuple[RecordedStep, ...]

    @property
    def is_one_twice(self) -> bool:
        """True if both hold the same transfer, packet by packet: one file, or copies of it."""
        a, b = self.first.seen, self.second.seen
        first, second = a.arrivals, b.arrivals
        return (
            all(step.difference.ms == 0 for step in (*self.steps, self.total))
            and np.array_equal(first.at_ns - a.zero_ns, second.at_ns - b.zero_ns)
            and np.array_equal(first.size_bytes, second.size_bytes)
        )

    @property
    def gross_ms(self) -> float:
        """Sum of the differences without their signs."""
        return sum(abs(step.difference.ms) for step in self.steps)


def compare_recordings(one: Recording, other: Recording) -> Recordings:
    """Set two recordings against each other. Raises SpecError where they are of different transfers."""
    names, first, second = (one.name, other.name), one.account, other.account
    _check_alike(names, first, second)
    both = Part.CLIENT in first.parts and Part.CLIENT in second.parts
    parts = (first.parts, second.parts) if both else (first.undivided, second.undivided)
    steps = [
        RecordedStep(each.part, _sum(parts[0], each.of_first), _sum(parts[1], each.of_second))
        for each in shared(first.level, second.level)
        if {*each.of_first} <= {*parts[0]} and {*each.of_second} <= {*parts[1]}
    ]
    if both:
        steps.insert(1, RecordedStep(Part.CLIENT, *(each[Part.CLIENT] for each in parts)))
    if Part.ANSWER in first.parts or Part.ANSWER in second.parts:
        steps = [step for step in steps if step.part in BEFORE_ANSWER]
        steps.append(RecordedStep(Part.ANSWER, first.answer, second.answer))
    return Recordings(names, first, second, RecordedStep(None, first.total, second.total), tuple(steps))


def _sum(known: Mapping[Part, Span], parts: Sequence[Part]) -> Span:
    spans = [known[part] for part in parts]
    ms, low, high = (sum(getattr(span, name) for span in spans) for name in ("ms", "low_ms", "high_ms"))
    return Span(ms, low, high)


def _check_alike(names: tuple[str, str], first: OneEnd, second: OneEnd) -> None:
    """Raise SpecError where addresses, states or sizes show that the answers are not the same."""
    a, b = first.seen, second.seen
    if (a.between is None) != (b.between is None):
        between, end = names if a.between else names[::-1]
        raise SpecError(
            f"these recordings are unlike: {between} was taken between client and server, {end} at an end",
            "record both at the same place",
        )
    hint = "record the same request both times"
    for name, seen in zip(names, (a, b), strict=True):
        if seen.status is not None and not 200 <= seen.status < 300:
            raise SpecError(f"the answer in {name} has status {seen.status}", "record one that succeeds")
    if a.url is not None and b.url is not None and path_of(a.url) != path_of(b.url):
        raise SpecError(f"these are different transfers: {names[0]} asks for {a.url}, {names[1]} for {b.url}", hint)
    if a.body_bytes is not None and b.body_bytes is not None:
        sizes, most = (a.body_bytes, b.body_bytes), _BODY_SHARE * max(a.body_bytes, b.body_bytes)
    else:
        sizes = (a.answer_bytes, b.answer_bytes)
        most = _BYTES_SHARE * max(sizes) + _BYTES
    if abs(sizes[0] - sizes[1]) > most:
        raise SpecError(
            "these are different transfers, or one of them is cut off: "
            f"the answer has {sizes[0]:,} bytes in {names[0]} and {sizes[1]:,} in {names[1]}",
            hint,
        )
