# SPDX-License-Identifier: Apache-2.0
"""What a workload is: files for the server and requests for the client, made from parameters and a seed; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from quiclab.spec.model import Workload

if TYPE_CHECKING:
    from quiclab.workloads.video import Film


@dataclass(frozen=True)
class Site:
    """What one workload serves and asks for."""

    files: Mapping[str, bytes]
    """Name below `/` → content."""
    requests: tuple[str, ...]
    """Names in the order in which they are asked for."""
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
