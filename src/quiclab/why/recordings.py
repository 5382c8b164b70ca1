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
from quiclab.why.account.recorded import Tables

_BEFORE_ANSWER = (Part.SET_UP, Part.REQUEST)
_BODY_SHARE = 0.01
_BYTES_SHARE, _BYTES = 0.15, 3_000
"""Most by which the bytes of two answers may differ where no contents show: headers of packets and of records differ,
and two packets of tickets or settings may come with either."""


@dataclass(frozen=True, eq=False)
class Recording:
    """One transfer that somebody recorded."""

    name: str
    """`h2` or `h3`."""
    file: str
    tables: Tables
    account: OneEnd


@dataclass(frozen=True)
class RecordedStep:
    """One part of the time in both recordings, in ms; the ends of a span say what the recording leaves unsure."""

    part: Part | None
    """Part of the time; None where the step is the whole."""
    h2: Span
    h3: Span

    @property
    def difference(self) -> Span:
        """Time by which HTTP/3 takes longer."""
        a, b = self.h2, self.h3
        return Span(b.ms - a.ms, b.low_ms - a.high_ms, b.high_ms - a.low_ms)

    @property
    def has_clear_sign(self) -> bool:
        """True if the recordings are exact enough to tell the sign of the difference."""
        return not self.difference.low_ms <= 0 <= self.difference.high_ms


@dataclass(frozen=True)
class Recordings:
    """The explanation of two recorded transfers: the way from HTTP/2's time to HTTP/3's, part by part."""

    h2: OneEnd
    h3: OneEnd
    total: RecordedStep
    steps: tuple[RecordedStep, ...]

    @property
    def gross_ms(self) -> float:
        """Sum of the differences without their signs."""
        return sum(abs(step.difference.ms) for step in self.steps)


def compare_recordings(h2: OneEnd, h3: OneEnd) -> Recordings:
    """Set two accounts against each other. Raises SpecError where they are of different transfers."""
    _check_alike(h2, h3)
    steps = [
        RecordedStep(each.part, _sum(h2, each.of_first), _sum(h3, each.of_second))
        for each in shared(h2.level, h3.level)
        if {*each.of_first} <= {*h2.parts} and {*each.of_second} <= {*h3.parts}
    ]
    if Part.ANSWER in h2.parts or Part.ANSWER in h3.parts:
        steps = [step for step in steps if step.part in _BEFORE_ANSWER]
        steps.append(RecordedStep(Part.ANSWER, h2.answer, h3.answer))
    return Recordings(h2, h3, RecordedStep(None, h2.total, h3.total), tuple(steps))


def _sum(account: OneEnd, parts: Sequence[Part]) -> Span:
    spans = [account.parts[part] for part in parts]
    ms, low, high = (sum(getattr(span, name) for span in spans) for name in ("ms", "low_ms", "high_ms"))
    return Span(ms, low, high)


def _check_alike(h2: OneEnd, h3: OneEnd) -> None:
    """Raise SpecError where addresses, states or sizes show that the answers are not the same."""
    a, b = h2.seen, h3.seen
    hint = "record the same request over both protocols"
    for name, seen in (("h2", a), ("h3", b)):
        if seen.status is not None and not 200 <= seen.status < 300:
            raise SpecError(f"the answer in {name} has status {seen.status}", "record one that succeeds")
    if a.url is not None and b.url is not None and _host_and_path(a.url) != _host_and_path(b.url):
        raise SpecError(f"these are different transfers: h2 asks for {a.url}, h3 for {b.url}", hint)
    if a.body_bytes is not None and b.body_bytes is not None:
        sizes, most = (a.body_bytes, b.body_bytes), _BODY_SHARE * max(a.body_bytes, b.body_bytes)
    else:
        sizes = (a.answer_bytes, b.answer_bytes)
        most = _BYTES_SHARE * max(sizes) + _BYTES
    if abs(sizes[0] - sizes[1]) > most:
        raise SpecError(
            f"these are different transfers, or one of them is cut off: the answer has {sizes[0]:,} bytes in h2 and "
            f"{sizes[1]:,} in h3",
            hint,
        )


def _host_and_path(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path or '/'}?{parts.query}"
