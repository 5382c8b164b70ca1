# SPDX-License-Identifier: Apache-2.0
"""TCP segments that one end sent, as offsets without wrap-around, with their places in the link's log."""

from __future__ import annotations

from collections.abc import Iterator

from quiclab.evidence.metrics import Evidence
from quiclab.evidence.metrics.evidence import Direction, End


def segments(evidence: Evidence, end: End, direction: Direction) -> Iterator[tuple[int, int, int, int, int, int]]:
    """(index, time, client's port, offset of the first byte, length, flags) of each segment an end sent, in order."""
    packets = evidence.packets(end, direction, ("tcp",)).drop_nulls(("packet_index", "tcp_seq"))
    port = "src_port" if direction == "up" else "dst_port"
    columns = ("packet_index", "time_ns", port, "tcp_seq", "payload_bytes", "tcp_flags")
    origins: dict[int, tuple[int, int]] = {}
    for index, time_ns, number, seq, length, flags in packets.select(columns).iter_rows():
        last, offset = origins.get(number, (seq, 1 << 33))
        offset += (seq - last + (1 << 31)) % (1 << 32) - (1 << 31)
        origins[number] = (seq, offset)
        yield index, time_ns, number, offset, length or 0, flags or 0
