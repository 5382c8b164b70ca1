# SPDX-License-Identifier: Apache-2.0
"""Objects, pages and videos that a trial transfers: one kind of workload a file."""

from quiclab.lab.workloads._api import PageHost, Site
from quiclab.lab.workloads._registry import build_site
from quiclab.lab.workloads.video import Film

__all__ = ["Film", "PageHost", "Site", "build_site"]
