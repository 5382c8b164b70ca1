# SPDX-License-Identifier: Apache-2.0
"""`slot`: what its keys must be to each other and to the path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from quiclab.model.study import Slot
from quiclab.model.units import ByteCount


def slot_problems(slot: Slot | Literal["none"] | None, mtu: int, *, bounded: bool) -> Iterator[str]:
    """Say what does not fit. `bounded` is true if a queue bounds what waits for slots."""
    if slot is None or slot == "none":
        return
    if slot.most is not None and slot.most < slot.least:
        yield f"the most, {slot.most}, is below the least, {slot.least}"
    if slot.bytes is not None and slot.bytes.bytes < mtu:
        yield f"a slot of {slot.bytes} has no room for one packet of {ByteCount(mtu)}"
    if (slot.packets is not None or slot.bytes is not None) and not bounded:
        yield 'a slot that lets out so much at most has packets wait; write a "queue" such as "99 packets", or a "rate"'
