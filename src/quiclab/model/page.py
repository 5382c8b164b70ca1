# SPDX-License-Identifier: Apache-2.0
"""The page of a workload: generated from its parts, a mirrored folder, or a recorded load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from quiclab.model.page_parts import ResourceType
from quiclab.model.units import ByteCount, Share

Mix = Literal["many-small", "few-large", "mixed", "http-archive"]


@dataclass(frozen=True)
class Resources:
    """A group of like resources of a generated page."""

    type: ResourceType
    """Use of the resources: stylesheets, scripts, images that the page shows, fonts, or data that a script requests
    once the page is parsed."""
    size: ByteCount
    """Size of each resource, to the byte."""
    count: int = 1
    """Number of these resources."""
    format: Literal["png", "jpeg", "webp"] = "png"
    """Format of the images: all are valid, and the browser decodes them."""
    third_party: Share = Share(0.0)
    """Share of these resources that other hosts serve."""
    main: bool = False
    """True if the first of these images is the page's main one: it stands on top, larger than the others."""
    fetch_priority: Literal["high", "low"] | None = None
    """Importance of the images as the document states it (attribute `fetchpriority`); the browser passes it on to the
    server in its Priority field. None: the browser decides for itself."""


@dataclass(frozen=True)
class ThirdParties:
    """Share of the resources of each type that other hosts serve."""

    style: Share = Share(0.0)
    """Share of the stylesheets."""
    script: Share = Share(0.0)
    """Share of the scripts."""
    image: Share = Share(0.0)
    """Share of the images."""
    font: Share = Share(0.0)
    """Share of the fonts."""
    data: Share = Share(0.0)
    """Share of the data that scripts request."""


@dataclass(frozen=True)
class Page:
    """One page that a browser loads: generated from `resources` or from a `mix`, or taken from a `folder` or a
    `har`."""

    html: ByteCount = ByteCount(10_000)
    """Size of the document of a generated page."""
    resources: tuple[Resources, ...] = ()
    """Resources of the page, in the order of the document."""
    mix: Mix | None = None
    """Instead of `resources`: how `requests` and `total` are divided, drawn from the study's seed and the workload's
    name. `many-small`: half of the bytes in the largest fifth; `few-large`: all equally large; `mixed`: log-normal
    sizes; `http-archive`: types, counts and sizes as on the median page that the HTTP Archive saw."""
    percentile: int | None = None
    """Percentile for the mix `http-archive`, instead of `requests` and `total`: the page has as many resources and
    bytes of each type as the HTTP Archive's pages at this percentile, and a document of 18 KB unless `html` gives
    another size."""
    requests: int | None = None
    """Number of requests of a mix, including the one for the document."""
    total: ByteCount | None = None
    """Bytes of the whole page, for a mix. For a folder or HAR they follow from its files or entries."""
    third_party: ThirdParties = ThirdParties()
    """Share of a mix's resources that other hosts serve: one share for all types, or one for each."""
    main_at: int = 1
    """Position of the main image among the images of the document; the first by default."""
    hosts: int = 1
    """Number of other hosts, if anything comes from them: `third-1.test`, …, each with its own address and
    certificate."""
    others_protocol: Literal["same", "h2", "h1"] = "same"
    """The highest version of HTTP that the other hosts speak."""
    folder: str | None = None
    """Folder with a mirrored site, relative to the spec: its files are served as they are."""
    document: str = "index.html"
    """File of the folder that is loaded."""
    har: str | None = None
    """File with a recorded page load, relative to the spec: its first page is replayed with its hosts, types and sizes,
    but not its bodies. Each host gets an address of its own; nothing outside is contacted."""
    think: Literal["wait", "none"] = "wait"
    """Pause of servers before they answer in the replay of a HAR. `wait`: they think for as long as the HAR's timing of
    that name says, which includes a round trip of the recording; `none`: they answer at once."""

    @property
    def size(self) -> ByteCount:
        """Size of all bodies together."""
        if self.total is not None:
            return self.total
        return ByteCount(self.html.bytes + sum(each.size.bytes * each.count for each in self.resources))

    @property
    def several_hosts(self) -> bool:
        """True if anything may come from a host other than that of the document."""
        shares = (*vars(self.third_party).values(), *(each.third_party for each in self.resources))
        return self.har is not None or any(share.value > 0 for share in shares)
