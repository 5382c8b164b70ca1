# SPDX-License-Identifier: Apache-2.0
"""Writes small captures as the link does, so that tests can damage, drop and reorder the packets of real ones."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

CAPTURES = Path(__file__).parent / "captures"


def write_capture(
    path: Path, packets: Iterable[bytes], link_type: int = 101, order: str = "<", comment: str = ""
) -> Path:
    """Write IP packets one after the other; `comment` goes with each packet."""
    option = struct.pack(order + "HH", 1, len(comment)) + _padded(comment.encode()) + bytes(4) if comment else b""
    blocks = [
        _block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)),
        _block(order, 1, struct.pack(order + "HHI", link_type, 0, 0)),
    ]
    for time, packet in enumerate(packets):
        fields = struct.pack(order + "5I", 0, 0, time, len(packet), len(packet))
        blocks.append(_block(order, 6, fields + _padded(packet) + option))
    path.write_bytes(b"".join(blocks))
    return path


def _block(order: str, kind: int, body: bytes) -> bytes:
    length = 12 + len(body)
    return struct.pack(order + "II", kind, length) + body + struct.pack(order + "I", length)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
