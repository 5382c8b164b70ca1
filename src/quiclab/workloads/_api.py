# SPDX-License-Identifier: Apache-2.0
"""What a workload is: files for the server and requests for the client, made from parameters and a seed; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from quiclab.spec.model import Workload

if TYPE_CHECKING:
    from quiclab.workloads.video import Film


@dataclass(frozen=True)
class PageHost:
    """A name under which parts of a page are served."""

    name: str
    highest: Literal["h3", "h2", "h1"] = "h3"
    """The newest version of HTTP that it speaks."""


@dataclass(frozen=True)
class Site:
    """What one workload serves and asks for."""

    files: Mapping[str, bytes]
    """Name below `/` → content."""
    requests: tuple[str, ...]
    """Names in the order in which they are asked for. Of a page only its document: the rest is the browser's affair."""
    hosts: tuple[PageHost, ...] = ()
    """Of a page: the host of its document, then the others. All of them serve all files."""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """Of a page, for trial.json: `main_image` (its name, or null), and `resources`, each with url, host, type and
    bytes, as far as they are known beforehand."""
    waits: Mapping[str, int] = field(default_factory=dict)
    """Name → nanoseconds that a server thinks before it answers; those without a wait are not named."""
    film: Film | None = None
    """Of a video: how its files are made, in a folder named as the workload."""


class WorkloadKind(Protocol):
    """One kind of workload."""

    @property
    def kind(self) -> str:
        """Its name in specs."""
        ...

    def build(self, workload: Workload, seed: int) -> Site:
        """Files and requests; the same for the same parameters and seed."""
        ...
