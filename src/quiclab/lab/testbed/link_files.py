# SPDX-License-Identifier: Apache-2.0
"""Names of the files that the links write."""

from __future__ import annotations


def link_files(number: int) -> dict[str, str]:
    """Names of the files of a link, which counts from 0: those of the first have the plain names."""
    before = "" if number == 0 else f"link-{number + 1}-"
    return {
        "packet_log": f"{before[:-1] or 'link'}.qplog",
        "capture_client": f"{before}client.pcapng",
        "capture_server": f"{before}server.pcapng",
    }


SECOND_NETWORK_FILES = {**link_files(0), "packet_log": "link-next.qplog"}
"""Names of the files of a second network. The captures are those of the first link, with one more interface: an end is
captured on all its networks."""
LINK_SUMMARY = "link.json"
"""File with the link's own account."""
LINK_CONFIG = "link-config.json"
"""File with what the link was told."""
