# SPDX-License-Identifier: Apache-2.0
"""What a trial transfers: one kind of workload a file."""

from quiclab.workloads._api import PageHost, Site
from quiclab.workloads._registry import build_site
from quiclab.workloads.video import Film

__all__ = ["Film", "PageHost", "Site", "build_site"]
