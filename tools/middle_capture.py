# SPDX-License-Identifier: Apache-2.0
"""The capture of a trial at another place than the client, as one that went on would be.

A trial ends with its client, and the client's last packets are then on their way: no other capture has them. From the
client's own they are added, as much later as the others came.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from quiclab.store.packed_captures import is_packed_capture, read_capture

_PACKET = 6
"""Type of pcapng's blocks with a packet."""
_TIME = "<II"
_TRANSPORTS = (6, 17)
"""TCP and UDP."""
_IP = 28
"""Offset of the packet, without a link layer, in its block."""


def went_on(capture: Path, client: Path) -> bytes:
    """Content of a capture of IPv4 with what the client had sent last."""
    blocks = list(_blocks(_content(capture)))
    there = [(_time(each), each) for each in blocks if _is_packet(each)]
    own = [(_time(each), each) for each in _blocks(_content(client)) if _is_packet(each)]
    sender = _source(own[0][1])
    passed = {_payload(each): at for at, each in there if _source(each) == sender}
    ways = {_payload(each): at for at, each in own if _source(each) == sender}
    way = min(at - ways[payload] for payload, at in passed.items() if payload in ways)
    last = max(passed.values()) - way
    lacking = [(at + way, each) for at, each in own if at > last and _source(each) == sender]
    later = [
        (at, each[:12] + struct.pack(_TIME, at >> 32, at & 0xFFFFFFFF) + each[20:])
        for at, each in lacking
        if _payload(each) not in passed
    ]
    packets = sorted([*there, *later], key=lambda each: each[0])
    return b"".join([*(each for each in blocks if not _is_packet(each)), *(each for _, each in packets)])


def _content(capture: Path) -> bytes:
    return read_capture(capture) if is_packed_capture(capture) else capture.read_bytes()


def _blocks(content: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(content):
        (length,) = struct.unpack_from("<I", content, at + 4)
        yield content[at : at + length]
        at += length


def _is_packet(block: bytes) -> bool:
    if struct.unpack_from("<I", block)[0] != _PACKET:
        return False
    return block[_IP] >> 4 == 4 and block[_IP + 9] in _TRANSPORTS


def _time(block: bytes) -> int:
    high, low = struct.unpack_from(_TIME, block, 12)
    return int(high << 32 | low)


def _source(block: bytes) -> bytes:
    """Source address of a packet."""
    return block[_IP + 12 : _IP + 16]


def _payload(block: bytes) -> bytes:
    """Content of a packet behind the IP header, which changes on its way."""
    (captured,) = struct.unpack_from("<I", block, 20)
    return block[_IP + 20 : _IP + captured]
