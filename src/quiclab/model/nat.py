# SPDX-License-Identifier: Apache-2.0
"""Translation of the client's ports by its network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from quiclab.model.bounds import DAY, Bounds, Instant
from quiclab.model.units import Duration


@dataclass(frozen=True)
class Nat:
    """Address translation of the client's network (NAT), at the client's end of a link: it gives the client's flows of
    UDP and TCP ports of its own, which are the client's at first, and forgets them at some time. Packets to a port that
    it has forgotten are lost; the flow's next packet from the client gets a new one, so that the server sees another
    address in the midst of a connection (NAT rebinding, RFC 9000 section 9.3). The client learns nothing, unlike with
    `address_change` of a workload, which gives it another address of its own."""

    rebind: Instant | None = None
    """Time at which it forgets all flows, counted from the first packet that reached the link. None: it never does."""
    timeout: Annotated[Duration, Bounds(Duration(1_000_000), DAY, "a time", "30 s")] | None = None
    """Silence in both directions after which it forgets a flow. None: it never does."""

    def __str__(self) -> str:
        at = "" if self.rebind is None else f" at {self.rebind}"
        after = "" if self.timeout is None else f" after {self.timeout} of silence"
        return f"NAT forgets flows{' and'.join(each for each in (at, after) if each)}"
