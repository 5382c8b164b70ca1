# SPDX-License-Identifier: Apache-2.0
"""Content that a trial is to move, as the member `expected` of trial.json: objects, a page or a video."""

from __future__ import annotations

from typing import Annotated

import msgspec

from quiclab.model.link_account import Number


class ExpectedObject(msgspec.Struct, frozen=True):
    """An object that is to be moved."""

    name: str
    body_bytes: int | None = None
    """Length of the body; None for a foreign server's, of which nothing is known beforehand."""
    sha256: str | None = None


class PageResource(msgspec.Struct, frozen=True):
    """A file of a page."""

    url: str
    bytes: int | None = None


class ExpectedPage(msgspec.Struct, frozen=True):
    """A page that is to be loaded."""

    resources: Annotated[tuple[PageResource, ...], msgspec.Meta(min_length=1)]
    """Files of the page, the document first."""
    document: str | None = None
    main_image: str | None = None
    """URL of the image that counts as its largest, where the site names one."""


class RecordedDuration(msgspec.Struct, frozen=True):
    """A duration of the spec."""

    ns: int


class Representation(msgspec.Struct, frozen=True):
    """One quality of a video."""

    height: Number
    """Lines of the picture."""
    bit_per_s: Number


class ExpectedVideo(msgspec.Struct, frozen=True):
    """A video that is to be played."""

    name: str
    length: RecordedDuration | None = None
    segment: RecordedDuration | None = None
    """Length of a segment of a video in many files."""
    file_bytes: int | None = None
    """Size of a video in one file."""
    frame_rate: int = 30
    decode: bool = True
    """False of a player that loads and shows nothing."""
    representations: tuple[Representation, ...] = ()


class Expected(msgspec.Struct, frozen=True):
    """Everything that should arrive: one object, several, a page or a video."""

    direction: str | None = None
    """`download` or `upload`."""
    name: str | None = None
    """Name of a single object."""
    body_bytes: int | None = None
    """Bytes of all bodies."""
    sha256: str | None = None
    """Hash of a single object's body."""
    concurrency: int | None = None
    """Most objects that are asked for at once."""
    objects: tuple[ExpectedObject, ...] | None = None
    """Several objects; None where there is one."""
    page: ExpectedPage | None = None
    video: ExpectedVideo | None = None

    @property
    def upload(self) -> bool:
        """True if the client sends the bodies."""
        return self.direction == "upload"

    @property
    def listed(self) -> tuple[ExpectedObject, ...]:
        """The objects, be they several or one."""
        if self.objects is not None:
            return self.objects
        return (ExpectedObject(self.name or "", self.body_bytes, self.sha256),)
