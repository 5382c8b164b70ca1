# SPDX-License-Identifier: Apache-2.0
"""Trials that the laboratory disturbed and that were repeated: how many, and why, in one line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from quiclab import wording
from quiclab.study.progress import kind_of_reason

_MOST_REASONS = 4
_NS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_LATE = re.compile(r"left at least ([\d.]+)\s?(ns|us|µs|ms|s) late")
_WAITED = re.compile(r"^the ([\w-]+) waited .* for a processor")
_DISTURBED = re.compile(r"^disturbed: .* allowed: (?P<cause>.+)$")


@dataclass(frozen=True)
class _Cause:
    """What disturbed a trial."""

    words: str
    late_ns: int = 0
    """Lateness of the link, where that is what disturbed it."""


def _cause(reason: str) -> _Cause:
    """Say what disturbed a trial, from the reason in its verdict."""
    if found := _LATE.search(reason):
        return _Cause("other programs used the CPU", round(float(found[1]) * _NS[found[2]]))
    if found := _WAITED.search(reason):
        return _Cause(f"the {found[1]} waited for a processor")
    if found := _DISTURBED.search(reason):
        return _Cause(found["cause"])
    return _Cause(reason)


def told_causes(reasons: Iterable[str]) -> str:
    """Say how often each cause disturbed a trial, the most frequent first: `24 × other programs used the CPU (link up
    to 4 ms late), 7 × the client waited for a processor`. A cause that is the only one has no number."""
    causes = [_cause(reason) for reason in reasons]
    counts = Counter(kind_of_reason(cause.words) for cause in causes)
    latest = {kind_of_reason(cause.words): cause.words for cause in causes}
    late_ns = {kind: max(c.late_ns for c in causes if kind_of_reason(c.words) == kind) for kind in counts}
    told = []
    for kind, number in counts.most_common(_MOST_REASONS):
        such_as = "such as " if number > 1 and kind != latest[kind] else ""
        late = f" (link up to {_ms(late_ns[kind])} ms late)" if late_ns[kind] else ""
        told.append(("" if len(counts) == 1 else f"{number} × ") + such_as + latest[kind] + late)
    if others := counts.total() - sum(number for _, number in counts.most_common(_MOST_REASONS)):
        told.append(f"{others} × something else")
    return ", ".join(told)


def _ms(ns: int) -> str:
    return f"{ns / 1e6:.0f}" if ns >= 100_000_000 else f"{ns / 1e6:.3g}"


def told_repeats(reasons: list[str]) -> str:
    """Say how many trials were repeated, and why."""
    return f"{wording.counted(len(reasons), 'trial')} repeated: {told_causes(reasons)}"
