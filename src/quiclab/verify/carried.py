# SPDX-License-Identifier: Apache-2.0
"""Whether the arm's own transport carried what the trial moved: payload is counted, for which no key is needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quiclab.metrics.moved import moved_bytes, protocol_of
from quiclab.verify.proof import UNPROVEN

_NAMES = {"tcp": "TCP", "udp": "QUIC"}


def carried_problem(document: Mapping[str, Any]) -> str | None:
    """Where the arm's transport carried fewer bytes than the body has: how many each transport carried."""
    carried, size_bytes = document["proof"]["payload_bytes"], moved_bytes(document)
    if carried == UNPROVEN or size_bytes is None:
        return None
    sender, way = ("client", "from") if document["expected"].get("direction") == "upload" else ("server", "to")
    own = protocol_of(document)
    other = "tcp" if own == "udp" else "udp"
    if carried[own][sender] >= size_bytes:
        return None
    return (
        f"asked for {size_bytes} bytes over {_NAMES[own]}, but it carried only {carried[own][sender]} bytes {way} the "
        f"client, and {_NAMES[other]} carried {carried[other][sender]}"
    )
