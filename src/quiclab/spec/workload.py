# SPDX-License-Identifier: Apache-2.0
"""What one trial is to do, as a frozen dataclass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from quiclab.spec.address_change import AddressChange
from quiclab.spec.competition import Competition
from quiclab.spec.page import Page
from quiclab.spec.video import Video
from quiclab.units import ByteCount

OCTETS = "application/octet-stream"
"""The media type of just any bytes."""


@dataclass(frozen=True)
class Workload:
    """What one trial transfers: one object or several, each once, all on one new connection; a page, or a video."""

    name: str
    """Name in cells, files and commands."""
    size: ByteCount | None = None
    """Bytes of the object, or of each of `count`; 0 is an empty body. Required of objects, unless `sizes` stands
    here."""
    kind: Literal["object", "page", "video"] = "object"
    """Objects over one new connection, a page that a browser loads in a fresh profile, or a video that it plays."""
    direction: Literal["download", "upload"] | None = None
    """Which way the objects go: asked for by GET, or sent by PUT to a server that keeps them, where they must arrive
    whole. None is a download."""
    content_type: str = OCTETS
    """What the server says the object is (RFC 9110 section 8.3): browsers and proxies may treat types differently. Of a
    video `video/mp4`."""
    content: Literal["random", "text"] = "random"
    """Random bytes, which nothing makes smaller, or words, which gzip brings to about a third where both ends have the
    knob `compression`."""
    count: int | None = None
    """Objects of `size` on the one connection; None is one."""
    sizes: tuple[ByteCount, ...] | None = None
    """Objects of these sizes, asked for in this order: instead of `size` and `count`."""
    concurrency: int | None = None
    """How many are under way at once: the next is asked for when one is complete. None is all of them, as far as the
    server lets a client have so many streams."""
    video: Video | None = None
    """Required for a video, and only there."""
    address_change: AddressChange | None = None
    """The client's address changes meanwhile; for one object. None is a stable address."""
    competition: Competition | None = None
    """Who else uses the link meanwhile, and when all is over. None: nobody, and the client ends by itself."""

    page: Page | None = None
    """Of a page: what it is made of. Required there."""
    only_for: Literal["competition"] | None = None
    """It makes no cells of its own: only competitors run it. None: every measured arm does."""

    @property
    def object_sizes(self) -> tuple[ByteCount, ...]:
        """Of all objects, in the order in which they are asked for."""
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
        """A single object is called as its workload; of several each has its number behind that, from 1. A video has
        a folder."""
        if self.video is not None:
            return (f"{self.name}/{self.video.entry}",)
        count = len(self.object_sizes)
        if count == 1:
            return (self.name,)
        return tuple(f"{self.name}~{number:0{len(str(count))}}" for number in range(1, count + 1))

    @property
    def upload(self) -> bool:
        """Whether the client is who sends the objects."""
        return self.direction == "upload"

    @property
    def at_once(self) -> int:
        """How many objects may be under way at once."""
        return self.concurrency or len(self.object_sizes)
