# SPDX-License-Identifier: Apache-2.0
"""Division of the requests and bytes of a page among its resources; pure and seeded.

`http-archive` follows the median desktop home page of October 2024: 71 requests and 2,652 KB, of which images are 18
and 1,054 KB, scripts 24 and 613 KB, fonts 131 KB, stylesheets 78 KB and the document 18 KB (HTTP Archive, "Web Almanac
2024", chapter Page Weight; the counts of fonts and stylesheets are rounded from its figures). What is left is data.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from quiclab.model.page import Mix, Page, Resources
from quiclab.model.page_parts import LEAST_BYTES, ResourceType
from quiclab.model.units import ByteCount, Share
from quiclab.spec import http_archive

# Type → (share of the requests, share of the bytes), without the document.
_SHARES: Mapping[Mix, Mapping[ResourceType, tuple[float, float]]] = {
    "many-small": {"style": (0.03, 0.04), "script": (0.12, 0.16), "image": (0.85, 0.80)},
    "few-large": {"style": (0.10, 0.03), "script": (0.20, 0.12), "image": (0.70, 0.85)},
    "mixed": {"style": (0.06, 0.05), "script": (0.22, 0.25), "image": (0.66, 0.64), "font": (0.06, 0.06)},
    "http-archive": {
        "style": (8 / 70, 78 / 2634),
        "script": (24 / 70, 613 / 2634),
        "image": (18 / 70, 1054 / 2634),
        "font": (4 / 70, 131 / 2634),
        "data": (16 / 70, 758 / 2634),
    },
}
_SPREAD: Mapping[Mix, float] = {"many-small": 0.8, "few-large": 0.1, "mixed": 1.3, "http-archive": 1.1}
"""Sigma of the log-normal distribution of sizes within a type."""
_FORMATS = ("jpeg", "jpeg", "jpeg", "png", "webp")


def drawn(page: Page, seed: str) -> tuple[Resources, ...]:
    """Resources of a mix, one by one, in the order of the document: `requests` and `total` hold to the byte."""
    assert page.mix is not None
    assert page.requests is not None
    assert page.total is not None
    source = random.Random(seed)  # noqa: S311
    spread = _SPREAD[page.mix]
    shares: Mapping[ResourceType, tuple[float, float]] = _SHARES[page.mix]
    if page.percentile is not None:
        # In addition to the least that each has anyway, so that every type has the bytes that it should have.
        whole = http_archive.at(page.percentile)
        shares = {kind: (count, size - LEAST_BYTES[kind] * count) for kind, (count, size) in whole.items()}
    counts = _apportioned(page.requests - 1, [share for share, _ in shares.values()])
    left = page.total.bytes - page.html.bytes
    kinds: list[ResourceType] = []
    weights: list[float] = []
    for (kind, (_, of_bytes)), count in zip(shares.items(), counts, strict=True):
        drawn_sizes = [source.lognormvariate(0, spread) for _ in range(count)]
        kinds += [kind] * count
        weights += [of_bytes * size / sum(drawn_sizes) for size in drawn_sizes]
    least = [LEAST_BYTES[kind] for kind in kinds]
    sizes = [low + more for low, more in zip(least, _apportioned(left - sum(least), weights), strict=True)]
    largest = max((size for size, kind in zip(sizes, kinds, strict=True) if kind == "image"), default=0)
    made = []
    for kind, size in zip(kinds, sizes, strict=True):
        image = source.choice(_FORMATS) if kind == "image" else "png"
        main, largest = (True, -1) if kind == "image" and size == largest else (False, largest)
        made.append(Resources(kind, ByteCount(size), format=image, main=main))  # type: ignore[arg-type]
    return tuple(made)


def _apportioned(whole: int, weights: Sequence[float]) -> list[int]:
    """Whole numbers in proportion to the weights that add up to `whole` (largest remainders first)."""
    total = sum(weights) or 1.0
    exact = [whole * weight / total for weight in weights]
    parts = [int(part) for part in exact]
    by_rest = sorted(range(len(parts)), key=lambda place: parts[place] - exact[place])
    for place in by_rest[: whole - sum(parts)]:
        parts[place] += 1
    return parts


def third_parties(page: Page, kinds: Sequence[ResourceType]) -> list[int]:
    """Host of each resource of a mix, numbered as by `spread_over_hosts`: each type by its own share."""
    hosts = [0] * len(kinds)
    for kind in dict.fromkeys(kinds):
        places = [place for place, each in enumerate(kinds) if each == kind]
        share: Share = getattr(page.third_party, kind)
        spread = spread_over_hosts(len(places), round(share.value * len(places)), page.hosts)
        for place, host in zip(places, spread, strict=True):
            hosts[place] = host
    return hosts


def spread_over_hosts(count: int, third_parties: int, hosts: int) -> list[int]:
    """Host of each of `count` resources: 0 is the page's own; those of the other hosts are spread evenly among them."""
    places = [0] * count
    for number in range(third_parties):
        places[number * count // third_parties] = 1 + number % hosts
    return places
