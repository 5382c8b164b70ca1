# SPDX-License-Identifier: Apache-2.0
"""The work of one trial, as a frozen dataclass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from quiclab.model.address_change import AddressChange
from quiclab.model.competition import Competition
from quiclab.model.page import Page
from quiclab.model.units import ByteCount
from quiclab.model.video import Video

OCTETS = "application/octet-stream"
"""Media type of arbitrary bytes."""


@dataclass(frozen=True)
class Workload:
    """Transfer of one trial: one object or several, each once, all on one new connection; a page, or a video."""

    name: str
    """Name of the workload in cells, files and commands."""
    size: ByteCount | None = None
    """Bytes of the object, or of each of `count`; 0 is an empty body. Objects need it, unless they have `sizes`."""
    kind: Literal["object", "page", "video"] = "object"
    """Objects over one new connection, a page that a browser loads in a fresh profile, or a video that it plays."""
    direction: Literal["download", "upload"] | None = None
    """Direction of the objects: requested by GET, or sent by PUT to a server that keeps them, where they must arrive
    whole. None is a download."""
    content_type: str = OCTETS
    """Media type that the server declares (RFC 9110 section 8.3): browsers and proxies may treat types differently. For
    a video it is `video/mp4`."""
    content: Literal["random", "text"] = "random"
    """Content of the objects: random bytes, which cannot be compressed, or words, which gzip reduces to about a third
    where both ends have the knob `compression`."""
    count: int | None = None
    """Number of objects of `size` on the one connection; None is one."""
    sizes: tuple[ByteCount, ...] | None = None
    """Sizes of the objects in the order in which they are requested, instead of `size` and `count`."""
    concurrency: int | None = None
    """Number of objects that are under way at once: when one is complete, the next is requested. None is all of them,
    if the server allows a client that many streams."""
    video: Video | None = None
    """Video to be played; required for `kind = "video"`, and only there."""
    address_change: AddressChange | None = None
    """Change of the client's address during the transfer, which must be of one object. None is a stable address."""
    competition: Competition | None = None
    """Other flows that use the link meanwhile, and the end of it all. None: there are no other flows, and the client
    ends by itself."""

    page: Page | None = None
    """Make-up of the page; required for `kind = "page"`, and only there."""
    only_for: Literal["competition"] | None = None
    """Restricts the workload to competitors: it makes no cells of its own. None: every measured arm runs it."""

    @property
    def object_sizes(self) -> tuple[ByteCount, ...]:
        """Sizes of all objects, in the order in which they are requested."""
        if self.video is not None:
            return (self.video.size,)
        if self.sizes is not None:
            return self.sizes
        return () if self.size is None else (self.size,) * (self.count or 1)

    @property
    def total(self) -> ByteCount:
        """Bytes of all objects, or of the whole page."""
        if self.page is not None:
            return self.page.size
        return ByteCount(sum(size.bytes for size in self.object_sizes))

    @property
    def object_names(self) -> tuple[str, ...]:
        """Names of the objects. A single object is named like its workload; several have their number appended, from 1.
        A video has a folder."""
        if self.video is not None:
            return (f"{self.name}/{self.video.entry}",)
        count = len(self.object_sizes)
        if count == 1:
            return (self.name,)
        return tuple(f"{self.name}~{number:0{len(str(count))}}" for number in range(1, count + 1))

    @property
    def upload(self) -> bool:
        """True if the client sends the objects."""
        return self.direction == "upload"

    @property
    def at_once(self) -> int:
        """Number of objects that may be under way at once."""
        return self.concurrency or len(self.object_sizes)
