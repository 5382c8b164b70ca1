# SPDX-License-Identifier: Apache-2.0
"""What a trial transfers: one kind of workload a file."""

from quiclab.workloads._api import Site
from quiclab.workloads._registry import build_site
from quiclab.workloads.video import Film

__all__ = ["Film", "Site", "build_site"]
