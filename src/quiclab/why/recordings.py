# SPDX-License-Identifier: Apache-2.0
"""Two recordings from elsewhere against each other: where the time of each went, by what both can tell.

One transfer each tests nothing: the differences are between these two, with what each recording leaves unsure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from quiclab.model.errors import SpecError
from quiclab.why.account.levels import Part, shared
from quiclab.why.account.one_end import OneEnd, Span

_BEFORE_ANSWER = (Part.SET_UP, Part.REQUEST)
_BODY_SHARE = 0.01
_BYTES_SHARE, _BYTES = 0.15, 3_000
"""Most by which the bytes of two answers may differ where no contents show: headers of packets and of records differ,
and two packets of tickets or settings may come with either."""


@dataclass(frozen=True)
class RecordedStep:
    """One part of the time in both recordings, in ms; the ends of a span say what the recording leaves unsure."""

    part: Part | None
    """Part of the time; None where the step is the whole."""
    first: Span
    second: Span

    @property
    def difference(self) -> Span:
        """Time by which the second takes longer."""
        a, b = self.first, self.second
        return Span(b.ms - a.ms, b.low_ms - a.high_ms, b.high_ms - a.low_ms)

    @property
    def has_clear_sign(self) -> bool:
        """True if the recordings are exact enough to tell the sign of the difference."""
        return not self.difference.low_ms <= 0 <= self.difference.high_ms


@dataclass(frozen=True)
class Recordings:
    """The way from the first recording's time to the second's, part by part."""

    names: tuple[str, str]
    first: OneEnd
    second: OneEnd
    total: RecordedStep
    steps: tuple[RecordedStep, ...]

    @property
    def gross_ms(self) -> float:
        """Sum of the differences without their signs."""
        return sum(abs(step.difference.ms) for step in self.steps)


def compare_recordings(names: tuple[str, str], first: OneEnd, second: OneEnd) -> Recordings:
    """Set two accounts against each other. Raises SpecError where they are of different transfers."""
    _check_alike(names, first, second)
    steps = [
        RecordedStep(each.part, _sum(first, each.of_first), _sum(second, each.of_second))
        for each in shared(first.level, second.level)
        if {*each.of_first} <= {*first.parts} and {*each.of_second} <= {*second.parts}
    ]
    if Part.ANSWER in first.parts or Part.ANSWER in second.parts:
        steps = [step for step in steps if step.part in _BEFORE_ANSWER]
        steps.append(RecordedStep(Part.ANSWER, first.answer, second.answer))
    return Recordings(names, first, second, RecordedStep(None, first.total, second.total), tuple(steps))


def _sum(account: OneEnd, parts: Sequence[Part]) -> Span:
    spans = [account.parts[part] for part in parts]
    ms, low, high = (sum(getattr(span, name) for span in spans) for name in ("ms", "low_ms", "high_ms"))
    return Span(ms, low, high)


def _check_alike(names: tuple[str, str], first: OneEnd, second: OneEnd) -> None:
    """Raise SpecError where addresses, states or sizes show that the answers are not the same."""
    a, b = first.seen, second.seen
    hint = "record the same request over both protocols"
    for name, seen in zip(names, (a, b), strict=True):
        if seen.status is not None and not 200 <= seen.status < 300:
            raise SpecError(f"the answer in {name} has status {seen.status}", "record one that succeeds")
    if a.url is not None and b.url is not None and _host_and_path(a.url) != _host_and_path(b.url):
        raise SpecError(f"these are different transfers: {names[0]} asks for {a.url}, {names[1]} for {b.url}", hint)
    if a.body_bytes is not None and b.body_bytes is not None:
        sizes, most = (a.body_bytes, b.body_bytes), _BODY_SHARE * max(a.body_bytes, b.body_bytes)
    else:
        sizes = (int(a.arrivals.size_bytes.sum()), int(b.arrivals.size_bytes.sum()))
        most = _BYTES_SHARE * max(sizes) + _BYTES
    if abs(sizes[0] - sizes[1]) > most:
        raise SpecError(
            f"these are different transfers, or one of them is cut off: the answer has {sizes[0]:,} bytes in "
            f"{names[0]} and {sizes[1]:,} in {names[1]}",
            hint,
        )


def _host_and_path(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path or '/'}?{parts.query}"
