# SPDX-License-Identifier: Apache-2.0
"""Reads fields one after the other from bytes that may lie about their lengths."""

from __future__ import annotations


class MalformedError(ValueError):
    """Bytes that do not follow their format; says which."""


class Cursor:
    """A position in `data`. Numbers are in network byte order."""

    def __init__(self, data: bytes, what: str) -> None:
        self._data, self._what, self.at = data, what, 0

    def __bool__(self) -> bool:
        """Whether something is left."""
        return self.at < len(self._data)

    def take(self, length: int) -> bytes:
        """The next `length` bytes."""
        piece = self._data[self.at : self.at + length]
        if len(piece) < length:
            raise MalformedError(f"{self._what} ends inside a field")
        self.at += length
        return piece

    def number(self, length: int) -> int:
        """An unsigned integer of `length` bytes."""
        return int.from_bytes(self.take(length))

    def vector(self, length_bytes: int) -> bytes:
        """A vector after its own length (RFC 8446 section 3.4)."""
        return self.take(self.number(length_bytes))

    def varint(self) -> int:
        """A variable-length integer of QUIC (RFC 9000 section 16)."""
        first = self.number(1)
        rest = (1 << (first >> 6)) - 1
        return (first & 0x3F) << 8 * rest | self.number(rest)

    def skip_zeros(self) -> None:
        """Past a run of zero bytes."""
        self.at = len(self._data) - len(self._data[self.at :].lstrip(b"\0"))

    def rest(self) -> bytes:
        """Everything that is left."""
        return self.take(len(self._data) - self.at)
