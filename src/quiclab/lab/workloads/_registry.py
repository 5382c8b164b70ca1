# SPDX-License-Identifier: Apache-2.0
"""Every kind of workload, listed by hand."""

from __future__ import annotations

from quiclab.lab.workloads._api import Site, WorkloadKind
from quiclab.lab.workloads.object import Object
from quiclab.lab.workloads.page import PageLoad
from quiclab.lab.workloads.video import VideoWorkload
from quiclab.model.study import Workload

WORKLOADS: tuple[WorkloadKind, ...] = (Object(), PageLoad(), VideoWorkload())


def build_site(workload: Workload, seed: int) -> Site:
    """Files and requests of a workload of the spec."""
    kinds = {kind.kind: kind for kind in WORKLOADS}
    return kinds[workload.kind].build(workload, seed)
