# SPDX-License-Identifier: Apache-2.0
"""Whether a page came whole, by the browser's account of its resources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def page_problem(requests: Sequence[Mapping[str, Any]], page: Mapping[str, Any]) -> str | None:
    """Return the first known resource that did not come whole; what a mirrored page lacks does not count."""
    came = {request["url"]: request for request in requests}
    for resource in page["resources"]:
        request = came.get(resource["url"])
        if request is None:
            return f"the browser did not load {resource['url']}"
        # The browser hides the status of answers from other hosts; the body tells.
        if request["status"] not in (200, None):
            return f"{resource['url']}: the server answered with status {request['status']}"
        if request["status"] is None and not request["decoded_bytes"]:
            return f"{resource['url']}: no answer"
        if request["decoded_bytes"] != resource["bytes"]:
            return f"{resource['url']} has {request['decoded_bytes']} bytes instead of {resource['bytes']}"
    return None
