# SPDX-License-Identifier: Apache-2.0
"""What a trial transfers: one kind of workload a file."""

from quiclab.workloads._api import PageHost, Site
from quiclab.workloads._registry import build_site

__all__ = ["PageHost", "Site", "build_site"]
