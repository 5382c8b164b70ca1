# SPDX-License-Identifier: Apache-2.0
"""Classic pcap captures (draft-ietf-opsawg-pcap): packets, connections, and what keys decrypt of them."""

from __future__ import annotations

from pathlib import Path

from quiclab.logs.decoders import _captures, _core
from quiclab.logs.decoders._api import Context, FileTables, Take

_BIG_ENDIAN = (b"\xa1\xb2\xc3\xd4\x00\x02\x00\x04", b"\xa1\xb2\x3c\x4d\x00\x02\x00\x04")
_LITTLE_ENDIAN = (b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00", b"\x4d\x3c\xb2\xa1\x02\x00\x04\x00")


class Pcap:
    """Captures as tcpdump writes them: micro- or nanoseconds, either byte order."""

    format = "pcap"
    versions = ("2.4 in microseconds", "2.4 in nanoseconds")
    tables = _captures.TABLES
    clock = "CLOCK_REALTIME."

    def sniff(self, head: bytes) -> bool:
        """True if the file starts with the magic number and the version."""
        return head.startswith(_BIG_ENDIAN + _LITTLE_ENDIAN)

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """Decode a capture. The direction of IP packets is not recorded; decryption needs `context.key_logs`."""
        return _core.decode("pcap", path, context, take)
