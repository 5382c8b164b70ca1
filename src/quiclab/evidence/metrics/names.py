# SPDX-License-Identifier: Apache-2.0
"""Names of metrics as people write them: with or without the unit at the end, checked before long work begins."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection

from quiclab.evidence.metrics._registry import METRICS, declared
from quiclab.evidence.metrics.page import PAGE
from quiclab.evidence.metrics.video import VIDEO
from quiclab.model.errors import SpecError

_LISTED = 20
_UNITS = ("ms", "us", "s", "bytes", "bit_per_s", "pct")


def comparable_metric(name: str) -> str:
    """Return the metric that `name` means, one with a better side. Raises SpecError with the closest one."""
    metric = declared(name)
    if metric is not None and not metric.comparable:
        raise SpecError(f"{name} only describes: neither side of it is the better", "name one that has a better side")
    return find_metric(name, {each.name for each in METRICS if each.comparable}, "there is no metric")


def kind_of(name: str) -> str | None:
    """Return the kind of workload without which there is no such metric; None where objects have it, too."""
    kinds = {"page": PAGE, "video": VIDEO}
    return next((kind for kind, of in kinds.items() if any(each.name == name for each in of)), None)


def find_metric(name: str, known: Collection[str], absent: str) -> str:
    """Return the one of `known` that `name` means. Raises SpecError, beginning with `absent`, with the closest one."""
    candidates = [name, *(f"{name}_{unit}" for unit in _UNITS)]
    found = next((each for each in candidates if each in known), None)
    if found is not None:
        return found
    short = {re.sub(rf"_({'|'.join(_UNITS)})$", "", each): each for each in known} | {each: each for each in known}
    close = difflib.get_close_matches(name, short, 1)
    listed = f"there are {', '.join(sorted(known))}" if len(known) <= _LISTED else "docs/reference/metrics.md lists all"
    hint = f"did you mean {close[0]}?" if close else listed
    raise SpecError(f"{absent} {name!r}", hint)
