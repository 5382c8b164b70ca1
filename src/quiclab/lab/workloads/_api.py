# SPDX-License-Identifier: Apache-2.0
"""Interface of workloads: files for the server and requests for the client, made from parameters and a seed; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from quiclab.model.study import Workload

if TYPE_CHECKING:
    from quiclab.lab.workloads.video import Film


@dataclass(frozen=True)
class PageHost:
    """A host name under which parts of a page are served."""

    name: str
    highest: Literal["h3", "h2", "h1"] = "h3"
    """Newest version of HTTP that the host speaks."""


@dataclass(frozen=True)
class Site:
    """Files and requests of one workload."""

    files: Mapping[str, bytes]
    """Content of each file, by its name below `/`."""
    requests: tuple[str, ...]
    """Names in the order in which they are requested. For a page only its document: the browser finds the rest."""
    hosts: tuple[PageHost, ...] = ()
    """Hosts of a page: that of its document, then the others. All of them serve all files."""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """Facts about a page for trial.json: `main_image` (its name, or null), and `resources`, each with url, host, type
    and bytes, as far as they are known beforehand."""
    waits: Mapping[str, int] = field(default_factory=dict)
    """Nanoseconds that a server thinks before it answers, by name of the file; files without a wait are not listed."""
    film: Film | None = None
    """Film that the files of a video are made of, in a folder named like the workload."""


class WorkloadKind(Protocol):
    """One kind of workload."""

    @property
    def kind(self) -> str:
        """Name of the kind in specs."""
        ...

    def build(self, workload: Workload, seed: int) -> Site:
        """Make files and requests; the same for the same parameters and seed."""
        ...
