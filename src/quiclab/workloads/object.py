# SPDX-License-Identifier: Apache-2.0
"""One object, downloaded once on a new connection."""

from __future__ import annotations

import random

from quiclab.spec.model import Workload
from quiclab.workloads._api import Site


class Object:
    """The content is random bytes, which nothing on the way can compress."""

    kind = "object"

    def build(self, workload: Workload, seed: int) -> Site:
        """One file that carries the workload's name."""
        content = random.Random(f"{seed}/{workload.name}").randbytes(workload.size.bytes)  # noqa: S311
        return Site(files={workload.name: content}, requests=(workload.name,))
