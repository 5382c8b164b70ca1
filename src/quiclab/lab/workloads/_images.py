# SPDX-License-Identifier: Apache-2.0
"""Images of an exact size in bytes that any browser decodes; they are full of pixels, so that they appear as they
arrive."""

from __future__ import annotations

import io
import math
import random
import struct
import zlib

import numpy as np

_PNG_HEAD = b"\x89PNG\r\n\x1a\n"
_STORED_BLOCK = 65_535
_CHUNK = 12
"""Bytes of length, name and checksum of a PNG's chunk."""
_JPEG_SEGMENT = 65_533
"""Most bytes of a comment in a JPEG."""
_PAD_CHUNK = 8
"""Bytes of the head of a RIFF chunk."""


def make_image(kind: str, size: int, seed: str) -> bytes:
    """Make an image of that format and of `size` bytes; it is square, with as many pixels as these bytes hold."""
    source = random.Random(seed)  # noqa: S311
    return _png(size, source) if kind == "png" else _lossy(kind, size, source)


def _pixels(side: int, source: random.Random, grain: int) -> bytes:
    """Rows of RGB: one colour with noise, so that images differ and nothing on the way can compress them."""
    colour = np.array([source.randrange(32, 128) for _ in range(3)], dtype=np.uint8)
    noise = np.frombuffer(source.randbytes(3 * side * side), dtype=np.uint8).reshape(-1, 3)
    return (colour + (noise & grain)).tobytes()


def _png(size: int, source: random.Random) -> bytes:
    """PNG with stored, not compressed, pixels, so that its size is known; what is left over goes into a text chunk."""
    fixed = len(_PNG_HEAD) + 3 * _CHUNK + 13  # IHDR, IDAT, IEND
    side = math.isqrt(size // 3)
    while (left := size - fixed - _stored_bytes(side * (1 + 3 * side))) < 0 or 0 < left < _CHUNK + 2:
        side -= 1
    pixels, row = _pixels(side, source, 0x1F), 3 * side
    rows = b"".join(b"\0" + pixels[start : start + row] for start in range(0, len(pixels), row))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    text = _chunk(b"tEXt", b"x\0".ljust(left - _CHUNK, b" ")) if left else b""
    return _PNG_HEAD + _chunk(b"IHDR", head) + text + _chunk(b"IDAT", _stored(rows)) + _chunk(b"IEND", b"")


def _stored_bytes(content: int) -> int:
    """Length of what `_stored` makes of that many bytes."""
    return content + 5 * -(-content // _STORED_BLOCK) + 6


def _stored(content: bytes) -> bytes:
    """A zlib stream (RFC 1950) of stored blocks (RFC 1951 section 3.2.4)."""
    blocks = b""
    for start in range(0, len(content), _STORED_BLOCK):
        block = content[start : start + _STORED_BLOCK]
        last = start + len(block) == len(content)
        blocks += struct.pack("<BHH", last, len(block), len(block) ^ 0xFFFF) + block
    return b"\x78\x01" + blocks + struct.pack(">I", zlib.adler32(content))


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def _lossy(kind: str, size: int, source: random.Random) -> bytes:
    """JPEG or WebP with as many pixels as fit, extrapolated from smaller images; then padded."""
    side = 32
    encoded = _encode(kind, side, source)
    for _ in range(3):
        side = max(8, math.floor(side * math.sqrt(0.98 * size / len(encoded))))
        encoded = _encode(kind, side, source)
    while len(encoded) + _PAD_CHUNK > size:
        side -= max(1, side // 32)
        encoded = _encode(kind, side, source)
    return _pad_jpeg(encoded, size) if kind == "jpeg" else _pad_webp(encoded, size)


def _encode(kind: str, side: int, source: random.Random) -> bytes:
    # Imported late: only pages with such images need it.
    from PIL import Image

    file = io.BytesIO()
    Image.frombytes("RGB", (side, side), _pixels(side, source, 0x7F)).save(file, kind.upper(), quality=80)
    return file.getvalue()


def _pad_jpeg(image: bytes, size: int) -> bytes:
    """Add comments behind the first marker; a marker may have any number of 0xFF before it (ITU-T T.81, B.1.1.2)."""
    left, padding = size - len(image), b""
    while left >= 4:
        content = min(left - 4, _JPEG_SEGMENT)
        padding += b"\xff\xfe" + struct.pack(">H", content + 2) + b" " * content
        left -= content + 4
    return image[:2] + padding + b"\xff" * left + image[2:]


def _pad_webp(image: bytes, size: int) -> bytes:
    """Add a chunk that no reader knows; sizes in RIFF are even, so an odd byte goes to the very end."""
    content = (size - len(image) - _PAD_CHUNK) & ~1
    padded = image + b"PADD" + struct.pack("<I", content) + bytes(content)
    riff = padded[:4] + struct.pack("<I", len(padded) - 8) + padded[8:]
    return riff.ljust(size, b"\0")
