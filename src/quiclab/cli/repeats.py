# SPDX-License-Identifier: Apache-2.0
"""Trials that the laboratory disturbed and that were repeated: how many, and why, in one line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from quiclab.model import number_text
from quiclab.study.progress import kind_of_reason

_MOST_REASONS = 4
_DISTURBED = re.compile(r"^disturbed: [^:]*: (?P<cause>.+)$")


def _cause(reason: str) -> str:
    """Say what disturbed a trial, from the reason in its verdict (`verify.disturbed`), without the numbers of one."""
    found = _DISTURBED.search(reason)
    return found["cause"] if found else reason


def told_causes(reasons: Iterable[str]) -> str:
    """Say how often each cause disturbed a trial, the most frequent first: `24 × other programs used the CPU, 7 × the
    client waited for a processor`. A cause that is the only one has no number."""
    causes = [_cause(reason) for reason in reasons]
    counts = Counter(kind_of_reason(cause) for cause in causes)
    latest = {kind_of_reason(cause): cause for cause in causes}
    told = []
    for kind, number in counts.most_common(_MOST_REASONS):
        such_as = "such as " if number > 1 and kind != latest[kind] else ""
        told.append(("" if len(counts) == 1 else f"{number} × ") + such_as + latest[kind])
    if others := counts.total() - sum(number for _, number in counts.most_common(_MOST_REASONS)):
        told.append(f"{others} × something else")
    return ", ".join(told)


def told_repeats(reasons: list[str]) -> str:
    """Say how many trials were repeated, and why."""
    return f"{number_text.counted(len(reasons), 'trial')} repeated: {told_causes(reasons)}"
