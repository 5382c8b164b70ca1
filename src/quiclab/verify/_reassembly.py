# SPDX-License-Identifier: Apache-2.0
"""The front of a byte stream whose pieces come late, twice or in the wrong order: TCP data, QUIC CRYPTO data."""

from __future__ import annotations

LIMIT_BYTES = 1 << 16
"""Both hellos are shorter by far; what lies beyond is not kept."""


class Reassembly:
    """Collects pieces by their offset; `front` is what can be read without a gap."""

    def __init__(self) -> None:
        self.front = bytearray()
        self._waiting: dict[int, bytes] = {}

    def add(self, offset: int, piece: bytes) -> None:
        """Take `piece`, which begins `offset` bytes into the stream. What is known already is not replaced."""
        piece = piece[: max(0, LIMIT_BYTES - offset)]
        if len(piece) > len(self._waiting.get(offset, b"")):
            self._waiting[offset] = piece
        for start in sorted(self._waiting):
            if start > len(self.front):
                break
            self.front += self._waiting.pop(start)[len(self.front) - start :]
