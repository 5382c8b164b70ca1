# SPDX-License-Identifier: Apache-2.0
"""A page with everything on it: generated to the byte, or taken from a folder or a recorded load."""

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
from quiclab.lab.workloads._mixes import drawn, spread_over_hosts, third_parties
from quiclab.model.page import Page, Resources
from quiclab.model.page_parts import ResourceType
from quiclab.model.study import Workload
from quiclab.spec.har import read_har

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
