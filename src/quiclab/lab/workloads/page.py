# SPDX-License-Identifier: Apache-2.0
"""A page with everything on it: generated to the byte, or taken from a folder or a recorded load.

Division of the requests and bytes of a page among its resources; pure and seeded.

`http-archive` follows the median desktop home page of October 2024: 71 requests and 2,652 KB, of which images are 18
and 1,054 KB, scripts 24 and 613 KB, fonts 131 KB, stylesheets 78 KB and the document 18 KB (HTTP Archive, "Web Almanac
2024", chapter Page Weight; the counts of fonts and stylesheets are rounded from its figures). What is left is data.
"""

from __future__ import annotations

import pathlib
import random
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from quiclab.lab.testbed.certificates import HOST
from quiclab.lab.workloads._api import PageHost, Site
from quiclab.lab.workloads._images import make_image
from quiclab.lab.workloads._markup import document, filled
from quiclab.model.page import Mix, Page, Resources
from quiclab.model.page_parts import LEAST_BYTES, ResourceType
from quiclab.model.study import Workload
from quiclab.model.units import ByteCount, Share
from quiclab.spec import http_archive
from quiclab.spec.har import read_har

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


Highest = Literal["h3", "h2", "h1"]
_EXTENSIONS: Mapping[ResourceType, str] = {"style": "css", "script": "js", "font": "woff2", "data": "json"}


@dataclass(frozen=True)
class Part:
    """One resource of a generated page."""

    name: str
    type: ResourceType
    size: int
    host: str
    format: Literal["png", "jpeg", "webp"] = "png"
    main: bool = False
    fetch_priority: Literal["high", "low"] | None = None
    wait_ns: int = 0
    """Nanoseconds that a server thinks before it answers."""

    @property
    def url(self) -> str:
        """URL as the browser reports it."""
        return f"https://{self.host}/{self.name}"

    def link(self, host: str) -> str:
        """Link in a document of that host; to the same host it is relative, so that any port will do."""
        return self.name if self.host == host else self.url


class PageLoad:
    """A page that a browser loads."""

    kind = "page"

    def build(self, workload: Workload, seed: int) -> Site:
        """Make the page's files and hosts; the same for the same parameters and seed."""
        page = workload.page
        assert page is not None
        seeded = f"{seed}/{workload.name}"
        if page.folder is not None:
            return _mirrored(pathlib.Path(page.folder), page.document)
        if page.har is not None:
            return _recorded(page, seeded)
        highest: Highest = "h3" if page.others_protocol == "same" else page.others_protocol
        parts = _parts(page, seeded)
        others = dict.fromkeys(part.host for part in parts if part.host != HOST)
        return _made(
            parts,
            (PageHost(HOST), *(PageHost(name, highest) for name in others)),
            page.html.bytes,
            seeded,
            page.main_at,
        )


def _parts(page: Page, seed: str) -> list[Part]:
    groups: Sequence[Resources] = page.resources
    if page.mix is not None:
        groups = drawn(page, seed)
        thirds = third_parties(page, [group.type for group in groups])
    else:
        thirds = []
        for group in groups:
            thirds += spread_over_hosts(group.count, round(group.third_party.value * group.count), page.hosts)
    parts: list[Part] = []
    numbers: dict[str, int] = {}
    for group in groups:
        for first in (True, *(False,) * (group.count - 1)):
            number = numbers[group.type] = numbers.get(group.type, 0) + 1
            extension = _EXTENSIONS.get(group.type) or _ending(group.format)
            host = thirds[len(parts)]
            parts.append(
                Part(
                    f"{group.type}-{number}.{extension}",
                    group.type,
                    group.size.bytes,
                    f"third-{host}.test" if host else HOST,
                    group.format,
                    main=group.main and first,
                    fetch_priority=group.fetch_priority,
                )
            )
    return parts


def _recorded(page: Page, seed: str) -> Site:
    """The load of a HAR: its hosts, types and sizes; the document names everything in the order of the requests."""
    recorded = read_har(pathlib.Path(str(page.har)))
    own = recorded.document.host
    thinks = page.think == "wait"
    parts = [
        Part(
            f"{each.type}-{number}.{_EXTENSIONS.get(each.type) or _ending(each.format)}",
            each.type,
            each.size,
            each.host,
            each.format,
            wait_ns=each.wait_ns if thinks else 0,
        )
        for number, each in enumerate(recorded.resources, 1)
    ]
    others = dict.fromkeys(part.host for part in parts if part.host != own)
    hosts = (PageHost(own), *(PageHost(name, _lower(recorded.highest[name], page.others_protocol)) for name in others))
    # The document that names them may need more bytes than the recorded one had.
    size = max(recorded.document.size, len(document(parts, None, own)))
    return _made(parts, hosts, size, seed, html_wait_ns=recorded.document.wait_ns if thinks else 0)


def _lower(one: Highest, other: Literal["same", "h2", "h1"]) -> Highest:
    return one if other == "same" else min(one, other)


def _ending(image: str) -> str:
    return {"jpeg": "jpg"}.get(image, image)


def _made(
    parts: Sequence[Part],
    hosts: tuple[PageHost, ...],
    html_bytes: int,
    seed: str,
    main_at: int = 1,
    html_wait_ns: int = 0,
) -> Site:
    files = {part.name: _content(part, seed) for part in parts}
    host = hosts[0].name
    files["index.html"] = document(parts, html_bytes, host, main_at)
    own = {"url": f"https://{host}/index.html", "host": host, "type": "document", "bytes": html_bytes}
    resources = [{"url": each.url, "host": each.host, "type": each.type, "bytes": each.size} for each in parts]
    waits = {"index.html": html_wait_ns} | {each.name: each.wait_ns for each in parts}
    return Site(
        files=files,
        requests=("index.html",),
        hosts=hosts,
        manifest={"main_image": next((each.url for each in parts if each.main), None), "resources": [own, *resources]},
        waits={name: wait_ns for name, wait_ns in waits.items() if wait_ns},
    )


def _content(part: Part, seed: str) -> bytes:
    if part.type == "image":
        return make_image(part.format, part.size, f"{seed}/{part.name}")
    source = random.Random(f"{seed}/{part.name}")  # noqa: S311
    if part.type == "font":
        return source.randbytes(part.size)
    return filled(part.type, part.size, lambda size: "".join(source.choices(string.ascii_letters + "    ", k=size)))


def _mirrored(folder: pathlib.Path, name: str) -> Site:
    files = {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}
    # Only the browser can tell what the document requests.
    own = {"url": f"https://{HOST}/{name}", "host": HOST, "type": "document", "bytes": len(files[name])}
    return Site(files, (name,), (PageHost(HOST),), {"main_image": None, "resources": [own], "complete": False})
