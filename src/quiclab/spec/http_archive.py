# SPDX-License-Identifier: Apache-2.0
"""Make-up of pages at a percentile of those that the HTTP Archive saw.

Quantiles of desktop pages of October 2024, each type by itself: Web Almanac 2024, chapter Page Weight, its figures on
requests and response sizes by device type. Taken together they are a page that is as light or heavy in every type.
Chosen, where the chapter does not tell: scripts at the 90th percentile (its figure is misprinted; from the mobile 69 at
the ratio of the 75th), and the size of the document, of a font and of what is left, at all percentiles
that of the median page.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from quiclab.model.page_parts import ResourceType
from quiclab.model.units import ByteCount

LEAST, MOST = 10, 90
"""Lowest and highest percentile that the chapter gives."""
HTML = ByteCount(18_000)
"""Size of the median document."""
_PERCENTILES = (10, 25, 50, 75, 90)
_ALL_REQUESTS = (24, 42, 71, 115, 176)
_REQUESTS: Mapping[ResourceType, Sequence[int]] = {
    "style": (2, 4, 8, 16, 26),
    "script": (5, 12, 24, 43, 72),
    "image": (5, 9, 18, 33, 60),
    "font": (0, 2, 4, 7, 11),
}
_KILOBYTES: Mapping[ResourceType, Sequence[int]] = {
    "style": (10, 36, 80, 152, 269),
    "script": (101, 270, 620, 1172, 1834),
    "image": (84, 322, 1054, 2822, 6526),
}
_BYTES_OF_EACH: Mapping[ResourceType, int] = {"font": 33_000, "data": 47_000}


def at(percentile: int) -> dict[ResourceType, tuple[int, int]]:
    """Requests and bytes of each type, without the document."""
    counts = {kind: round(_between(percentile, values)) for kind, values in _REQUESTS.items()}
    counts["data"] = round(_between(percentile, _ALL_REQUESTS)) - 1 - sum(counts.values())
    sizes = {kind: round(1000 * _between(percentile, values)) for kind, values in _KILOBYTES.items()}
    sizes |= {kind: each * counts[kind] for kind, each in _BYTES_OF_EACH.items()}
    return {kind: (count, sizes[kind]) for kind, count in counts.items()}


def _between(percentile: int, values: Sequence[int]) -> float:
    """Interpolate between two published values by equal ratios; from zero, by equal steps."""
    right = min(bisect_right(_PERCENTILES, percentile), len(values) - 1)
    low, high = values[right - 1], values[right]
    share = (percentile - _PERCENTILES[right - 1]) / (_PERCENTILES[right] - _PERCENTILES[right - 1])
    return low + (high - low) * share if not low else low * math.pow(high / low, share)
