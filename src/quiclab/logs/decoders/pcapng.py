# SPDX-License-Identifier: Apache-2.0
"""pcapng captures (draft-ietf-opsawg-pcapng): packets, connections, and what keys decrypt of them."""

from __future__ import annotations

from pathlib import Path

from quiclab.logs.decoders import _captures, _core
from quiclab.logs.decoders._api import Context, FileTables, Take


class Pcapng:
    """Captures of one end, of any byte order, resolution and number of interfaces, with or without keys inside."""

    format = "pcapng"
    versions = ("1.0",)
    tables = _captures.TABLES
    clock = "CLOCK_REALTIME; mapped to CLOCK_MONOTONIC where the link wrote the offset into the interface's comment."

    def sniff(self, head: bytes) -> bool:
        """True if the file starts with the type of a section header block, and the byte order magic after its
        length."""
        return head.startswith(b"\x0a\x0d\x0d\x0a") and head[8:12] in (b"\x1a\x2b\x3c\x4d", b"\x4d\x3c\x2b\x1a")

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """Decode a capture. The direction of IP packets needs `context.vantage`; decryption needs
        `context.key_logs`."""
        return _core.decode("pcapng", path, context, take)
