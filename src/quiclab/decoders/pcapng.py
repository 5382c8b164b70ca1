# SPDX-License-Identifier: Apache-2.0
"""pcapng captures (draft-ietf-opsawg-pcapng): IPv4, IPv6, TCP and UDP headers."""

from __future__ import annotations

from pathlib import Path

from quiclab.decoders import _core
from quiclab.decoders._api import Context, FileTables, Take


class Pcapng:
    """Captures of one end, of any byte order, resolution and number of interfaces."""

    format = "pcapng"
    versions = ("1.0",)
    tables = ("ip_packets",)
    clock = "CLOCK_REALTIME; mapped to CLOCK_MONOTONIC where the link wrote the offset into the interface's comment."

    def sniff(self, head: bytes) -> bool:
        """The type of a section header block, which reads the same in both byte orders."""
        return head.startswith(b"\x0a\x0d\x0d\x0a")

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """One row per packet; the direction needs `context.end`."""
        return _core.decode("pcapng", path, context, take)
