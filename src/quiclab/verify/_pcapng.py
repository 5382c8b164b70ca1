# SPDX-License-Identifier: Apache-2.0
"""The IP packets at the front of a pcapng file, for readers that stop early.

Reads what the link writes (draft-ietf-opsawg-pcapng: whole packets in Enhanced Packet Blocks, link type LINKTYPE_RAW)
and leaves block options alone: a packet with the comment `dropped: …` was sent all the same.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import BinaryIO

LINKTYPE_RAW = 101
_SECTION_HEADER, _INTERFACE_DESCRIPTION, _ENHANCED_PACKET = 0x0A0D0D0A, 1, 6
_BYTE_ORDER = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_LONGEST_BLOCK_BYTES = 1 << 20


class CaptureError(ValueError):
    """The file is not such a pcapng, or ends too early; says why."""


def read_packets(file: BinaryIO, wanted: Callable[[bytes], bool] = lambda _: True) -> Iterator[bytes]:
    """Yield those IP packets that are wanted, in the order of the file, each whole, as they are asked for.

    Raises `CaptureError`, also where one of them was cut.
    """
    for packet, original in read_captured(file):
        if not wanted(packet):
            continue
        if len(packet) < original:
            raise CaptureError(f"a packet of {original} bytes was cut to {len(packet)}")
        yield packet


def read_captured(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Yield what was kept of each IP packet, and how long it was. Raises `CaptureError`."""
    order = ""
    link_types: list[int] = []
    while head := file.read(8):
        if head[:4] == b"\n\r\r\n":
            magic = file.read(4)
            if magic not in _BYTE_ORDER:
                raise CaptureError("not a pcapng file: the section header has no byte-order magic")
            order = _BYTE_ORDER[magic]
            _body(file, _length(head, order) - 4)
            link_types = []
            continue
        if not order:
            raise CaptureError("not a pcapng file: it does not begin with a section header")
        length = _length(head, order)
        body = _body(file, length)
        kind = struct.unpack(order + "I", head[:4])[0]
        if kind == _INTERFACE_DESCRIPTION:
            link_types.append(_unpack(order + "H", body)[0])
        elif kind == _ENHANCED_PACKET:
            yield _packet(order, body, link_types)


def _packet(order: str, body: bytes, link_types: list[int]) -> tuple[bytes, int]:
    interface, _high, _low, captured, original = _unpack(order + "5I", body)
    if interface >= len(link_types):
        raise CaptureError(f"a packet names interface {interface}, which is not described")
    if link_types[interface] != LINKTYPE_RAW:
        raise CaptureError(f"link type {link_types[interface]} instead of {LINKTYPE_RAW} (LINKTYPE_RAW)")
    packet = body[20 : 20 + captured]
    if len(packet) < captured:
        raise CaptureError(f"a packet of {captured} bytes stands in a block of {len(packet)}")
    return packet, original


def _length(head: bytes, order: str) -> int:
    """Bytes of the block after its first 8: the body and the repeated length."""
    if len(head) < 8:
        raise CaptureError("the file ends inside a block")
    length: int = struct.unpack(order + "I", head[4:])[0]
    if not 16 <= length + 4 <= _LONGEST_BLOCK_BYTES or length % 4:
        raise CaptureError(f"a block claims to have {length} bytes")
    return length - 8


def _body(file: BinaryIO, length: int) -> bytes:
    block = file.read(length)
    if len(block) < length:
        raise CaptureError("the file ends inside a block")
    return block[:-4]


def _unpack(form: str, body: bytes) -> tuple[int, ...]:
    if len(body) < struct.calcsize(form):
        raise CaptureError("a block is too short for its kind")
    return struct.unpack_from(form, body)
