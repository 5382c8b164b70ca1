# SPDX-License-Identifier: Apache-2.0
"""Captures of headers made from whole ones: the first packets whole, of others the first bytes, as the link does."""

from __future__ import annotations

import struct
from pathlib import Path

from plain_captures import capture_at

WHOLE_PACKETS, HEADER_BYTES = 128, 200
_PACKET, _FIXED = 6, 28
"""Type of pcapng's enhanced packet block, and its bytes in front of the packet."""


def cut(capture: bytes) -> bytes:
    """A pcapng file of whole packets as one of headers."""
    out, at, seen = [], 0, 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        block = capture[at : at + length]
        at += length
        if kind == _PACKET:
            block = _cut(block) if seen >= WHOLE_PACKETS else block
            seen += 1
        out.append(block)
    return b"".join(out)


def _cut(block: bytes) -> bytes:
    (kept,) = struct.unpack_from("<I", block, 20)
    if kept <= HEADER_BYTES:
        return block
    options = block[_FIXED + (kept + 3) // 4 * 4 : -4]
    body = block[8:20] + struct.pack("<I", HEADER_BYTES) + block[24:_FIXED] + block[_FIXED : _FIXED + HEADER_BYTES]
    length = struct.pack("<I", len(body) + len(options) + 12)
    return struct.pack("<I", _PACKET) + length + body + options + length


def cut_trial(raw: Path) -> None:
    """Cut both captures of a trial."""
    for file in [capture_at(raw, end) for end in ("client", "server")]:
        file.write_bytes(cut(file.read_bytes()))
