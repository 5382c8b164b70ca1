# SPDX-License-Identifier: Apache-2.0
"""The packet log of the emulated link (docs/reference/packet-log.md)."""

from __future__ import annotations

from pathlib import Path

from quiclab.logs.decoders import _core
from quiclab.logs.decoders._api import Context, FileTables, Take


class PacketLog:
    """Packet log of a link, such as `link.qplog`."""

    format = "packet_log"
    versions = ("1",)
    tables = ("link_packets",)
    clock = "CLOCK_MONOTONIC of the machine that ran the link."

    def sniff(self, head: bytes) -> bool:
        """True if the header has the magic number."""
        return head.startswith(b"QLPKTLOG")

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """One row per record."""
        return _core.decode("packet_log", path, context, take)
